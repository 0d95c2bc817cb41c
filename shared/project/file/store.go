package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"sync"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

// store stores the records of files in the projects table, and their contents in the contents table or in the bucket.
// This file has the reads of files, store_version.go the replaced versions, store_content.go the contents,
// store_write.go the transactions that change files, and store_upload.go the other transactions of uploads.
type store struct {
	workspace.Access
	client   *db.Client
	contents db.Table
	bucket   objectstore.Bucket
	quotas   Quotas
	counters *limit.Counters
}

// pathHash returns the hash of a path for the key of a version. The path itself can be too long for a key.
func pathHash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

// fileOf decodes the record of a file.
func fileOf(projectID string, item db.Item) (File, error) {
	f, err := db.Decode[File](item)
	f.Path = db.FilesOf(projectID, "").Rest(db.KeyOf(item))
	return f, err
}

// readState checks that a user may write to a project, and reads the stored state that planFiles needs. Files that can
// collide with a new file are read after the tree. These are files at the paths of its parent folders, and files inside
// its path. If another request changes them at the same time, the stored tree no longer satisfies plan.noCollision, and
// commit fails. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s store) readState(
	ctx context.Context, userID, projectID string, ops []Operation,
) (access workspace.ProjectAccess, stored state, err error) {
	var paths []string
	for _, op := range ops {
		paths = append(paths, op.Path, op.To)
	}
	written := s.counters.Counter(s.writtenRule(), userID)
	keys := append(fileKeys(projectID, paths), written.Key())
	uploadID := ""
	if len(ops) == 1 { // an operation that completes an upload is the only one
		uploadID = ops[0].uploadID
	}
	if uploadID != "" {
		keys = append(keys, db.UploadKey(projectID, uploadID))
	}
	if access, err = s.Locate(ctx, projectID, keys...); err != nil {
		return access, stored, err
	}
	if uploadID != "" {
		stored.upload, err = decodeUpload(uploadID, access.Items[db.UploadKey(projectID, uploadID)])
		if err != nil {
			return access, stored, err
		}
	}
	if err := written.Load(access.Items[written.Key()]); err != nil {
		return access, stored, err
	}
	stored.writable = written.Remaining()
	if stored.tree, err = db.Decode[Tree](access.Items[db.TreeKey(projectID)]); err != nil {
		return access, stored, err
	}
	var created, folders []string
	for _, op := range ops {
		if p := op.createdPath(); p != "" && access.Items[db.FileKey(projectID, p)] == nil {
			created, folders = append(created, p), append(folders, path.Ancestors(p)...)
		}
	}
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() error {
		return s.Load(readCtx, userID, &access, s.Projects.Refs(fileKeys(projectID, folders)...)...)
	})
	if len(created) > 0 {
		reads.Go(func() error { return s.readCollisions(readCtx, projectID, created, len(ops)+1, &stored) })
	}
	if err = reads.Wait(); err == nil {
		err = access.Check(workspace.Write)
	}
	if err != nil {
		return access, stored, err
	}
	stored.files, err = filesAt(projectID, append(paths, folders...), access.Items)
	return access, stored, err
}

// readCollisions reads which files can collide with the files at the created paths: for each path, at most limit files
// inside it, and whether its folder has a file. It sets stored.inside and stored.folders.
func (s store) readCollisions(ctx context.Context, projectID string, created []string, limit int, stored *state) error {
	stored.inside, stored.folders = map[string][]string{}, map[string]bool{}
	for _, p := range created {
		stored.folders[path.Parent(p)] = false
	}
	delete(stored.folders, "")
	var mu sync.Mutex                    // for the maps
	reads, ctx := async.WithContext(ctx) // at most two for each operation
	for _, p := range created {
		reads.Go(func() error {
			files, err := s.pathsInside(ctx, projectID, p, limit)
			mu.Lock()
			defer mu.Unlock()
			stored.inside[p] = files
			return err
		})
	}
	for folder := range maps.Clone(stored.folders) {
		reads.Go(func() error {
			files, err := s.pathsInside(ctx, projectID, folder, 1)
			mu.Lock()
			defer mu.Unlock()
			stored.folders[folder] = len(files) > 0
			return err
		})
	}
	return reads.Wait()
}

// fileKeys returns the keys of the files at paths.
func fileKeys(projectID string, paths []string) []db.Key {
	keys := make([]db.Key, len(paths))
	for i, p := range paths {
		keys[i] = db.FileKey(projectID, p)
	}
	return keys
}

// filesAt decodes the files at paths from items, and returns them keyed by path.
func filesAt(projectID string, paths []string, items map[db.Key]db.Item) (map[string]File, error) {
	files := map[string]File{}
	for _, p := range paths {
		if item := items[db.FileKey(projectID, p)]; item != nil {
			var err error
			if files[p], err = fileOf(projectID, item); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// pathsInside returns the paths of at most limit files inside a folder.
func (s store) pathsInside(ctx context.Context, projectID, folder string, limit int) ([]string, error) {
	inside := db.FilesOf(projectID, path.Inside(folder))
	page, err := s.Projects.Query(ctx, db.Query{Prefix: inside, Limit: limit, KeysOnly: true})
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

// list returns the files whose paths begin with prefix, in path order. It skips paths up to and including lastPath. It
// returns at most limit files, or all of them if limit is 0.
func (s store) list(ctx context.Context, projectID, prefix, lastPath string, limit int) ([]File, error) {
	q := db.Query{Prefix: db.FilesOf(projectID, prefix), After: db.FilesOf(projectID, "").After(lastPath), Limit: limit}
	decode := func(item db.Item) (File, error) { return fileOf(projectID, item) }
	var files []File
	for page, err := range s.Projects.Pages(ctx, q) {
		if err != nil {
			return nil, err
		}
		if files = append(files, db.DecodeAll(ctx, page.Items, decode)...); limit > 0 && len(files) >= limit {
			break
		}
	}
	return files, nil
}
