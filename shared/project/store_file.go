package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/db"
	"devplatform/shared/project/path"
)

// parallelReads is how many independent reads of one request run together.
const parallelReads = 8

// pathHash is what a path's versions are stored under: a path is too long for the middle of a key.
func pathHash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

// openFiles reads a project like open, and beside it what operations on its files meet. What tells of collisions (folders
// above, files inside) is read after the tree: whatever collides and was not seen has then raised the tree's version.
// Error: db.ErrNotFound, when there is no such project.
func (s store) openFiles(ctx context.Context, projectID, userID string, ops []fileOperation) (opened, filesBefore, error) {
	before := filesBefore{files: map[string]fileRecord{}, inside: map[string][]string{}}
	named := fileKeys{}
	for _, op := range ops {
		named.add(projectID, op.path, op.to)
	}
	o, err := s.readTree(ctx, projectID, named.keys())
	if err != nil {
		return o, before, err
	}
	before.tree = o.tree
	if err := named.decode(o.found, before.files); err != nil {
		return o, before, err
	}
	err = s.openAround(ctx, projectID, userID, ops, &o, &before)
	return o, before, err
}

// openAround reads what openFiles knows the keys of once it has read the tree and the files.
func (s store) openAround(ctx context.Context, projectID, userID string, ops []fileOperation, o *opened, before *filesBefore) error {
	folders := fileKeys{}
	var created []string
	for _, op := range ops {
		if p := op.mayCreate(); p != "" && before.file(p) == nil {
			created = append(created, p)
			folders.add(projectID, path.Ancestors(p)...)
		}
	}
	inside := make([][]string, len(created))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(parallelReads)
	for i, p := range created {
		reads.Go(func() (err error) {
			inside[i], err = s.pathsInside(ctx, projectID, p, len(ops)+1)
			return err
		})
	}
	reads.Go(func() error {
		found, err := s.readPlace(ctx, projectID, userID, o, folders.keys())
		if err != nil {
			return err
		}
		return folders.decode(found, before.files)
	})
	if err := reads.Wait(); err != nil {
		return err //nolint:wrapcheck // one of the reads' own
	}
	for i, p := range created {
		before.inside[p] = inside[i]
	}
	return nil
}

// pathsInside are the paths of files that need path to be a folder, as many as tell: limit at most.
func (s store) pathsInside(ctx context.Context, projectID, folder string, limit int) ([]string, error) {
	page, err := s.projects.Query(ctx, db.Query{Prefix: db.FilesOf(projectID, path.Inside(folder)), Limit: limit, KeysOnly: true})
	if err != nil {
		return nil, err
	}
	all := db.FilesOf(projectID, "")
	paths := make([]string, len(page.Items))
	for i, item := range page.Items {
		paths[i] = all.Rest(db.KeyOf(item))
	}
	return paths, nil
}

// fileKeys are the keys of files, by path.
type fileKeys map[string]db.Key

func (k fileKeys) add(projectID string, paths ...string) {
	for _, p := range paths {
		if p != "" {
			k[p] = db.FileKey(projectID, p)
		}
	}
}

func (k fileKeys) keys() []db.Key {
	keys := make([]db.Key, 0, len(k)+1)
	for _, key := range k {
		keys = append(keys, key)
	}
	return keys
}

// decode puts those that were found into files.
func (k fileKeys) decode(found map[db.Key]db.Item, files map[string]fileRecord) error {
	for p, key := range k {
		if found[key] == nil {
			continue
		}
		f, err := db.Decode[fileRecord](found[key])
		if err != nil {
			return err
		}
		files[p] = f
	}
	return nil
}

// commitFiles makes the writes of a plan, the tree's being the first.
// Errors: db.ErrNotFound, when the project is gone; errMet, when the plan does not hold any more.
func (s store) commitFiles(ctx context.Context, writes []db.Write) error {
	err := s.client.Transact(ctx, writes...)
	switch {
	case !errors.Is(err, db.ErrConditionFailed):
		return err
	case db.FailedAt(err, 0) && db.OldItem(err, 0) == nil:
		return db.ErrNotFound
	default:
		return errMet
	}
}
