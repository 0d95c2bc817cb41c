package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/workspace"
)

// Snapshot is all files of a project at one moment, in path order. The contents of the files remain readable for
// content.Retention after the files change. They become unreadable earlier only if a user deletes the project, or
// deletes the old version of a file.
type Snapshot struct {
	Files []File

	projectID string
	revision  int // Tree.Revision at this moment
	store     store
}

// maxReadings is the maximum number of times that Snapshot lists the files.
const maxReadings = 5

// Snapshot reads a snapshot for a background job. It does not check access. It makes about one call to storage for
// every thousand files, and reads again if a file changes in the meantime, at most five times in all.
// Errors: PROJECT_NOT_FOUND; db.ErrConflict if the files keep changing.
func (s *Service) Snapshot(ctx context.Context, projectID string) (*Snapshot, error) {
	snapshot := &Snapshot{projectID: projectID, store: s.store}
	err := db.RetryUpTo(ctx, maxReadings, "snapshot", func(ctx context.Context) error {
		before, err := s.store.tree(ctx, projectID, "")
		if err != nil {
			return err
		}
		snapshot.Files = nil
		err = s.store.Projects.Each(ctx, db.FilesOf(projectID, ""), func(item db.Item) error {
			f, err := fileOf(projectID, item) // no file may be missing in a snapshot
			snapshot.Files = append(snapshot.Files, f)
			return err
		})
		if err != nil {
			return err
		}
		after, err := s.store.tree(ctx, projectID, before.WorkspaceID)
		snapshot.revision = after.Revision
		if err == nil && after.Revision != before.Revision {
			return fmt.Errorf("%w: files changed while they were listed", db.ErrStale)
		}
		return err
	})
	return snapshot, err
}

// tree reads the tree of a project. If workspaceID is not "", it also checks that the workspace has not ended. It makes
// one call to storage. Error: PROJECT_NOT_FOUND.
func (s store) tree(ctx context.Context, projectID, workspaceID string) (Tree, error) {
	key := db.WorkspaceKey(workspaceID)
	access, err := s.Locate(ctx, projectID, s.Projects.Ref(key))
	if err != nil {
		return Tree{}, err
	}
	if workspaceID != "" && access.Items[key] == nil {
		return Tree{}, workspace.ErrProjectNotFound
	}
	return db.Decode[Tree](access.Items[db.TreeKey(projectID)])
}

const (
	// snapshotBatch is the maximum number of contents that Each reads with one call to DynamoDB.
	snapshotBatch = 100
	// snapshotBytes limits the total size of these contents.
	snapshotBytes = 4 << 20
)

// Each calls visit for each file with its content, in path order. It needs constant memory: it reads small contents in
// batches, and large ones while visit reads them. If the content of a file does not match its record, the reader
// returns an error instead of io.EOF. Errors: the errors of visit; PROJECT_NOT_FOUND; db.ErrUnavailable;
// db.ErrConflict if a content was deleted after its file had changed. Any other error means that a content is corrupt
// or missing.
func (s *Snapshot) Each(ctx context.Context, visit func(f File, data io.Reader) error) error {
	for files := s.Files; len(files) > 0; {
		n := 1 // the number of files that are visited
		var err error
		if files[0].IsLarge() {
			err = s.visitLarge(ctx, files[0], visit)
		} else {
			n = batchSize(files)
			err = s.visitBatch(ctx, files[:n], visit)
		}
		if err != nil {
			return err
		}
		files = files[n:]
	}
	return nil
}

// batchSize returns the number of files at the beginning of a list whose contents are read together. It is at least 1.
func batchSize(files []File) int {
	sum := 0
	for i, f := range files {
		if sum += f.Size; i > 0 && (f.IsLarge() || i == snapshotBatch || sum > snapshotBytes) {
			return i
		}
	}
	return len(files)
}

func (s *Snapshot) visitBatch(ctx context.Context, files []File, visit func(f File, data io.Reader) error) error {
	contents, err := s.store.contentsOf(ctx, s.projectID, files...)
	if err != nil {
		return err
	}
	for _, f := range files {
		data, found := contents[f.ContentID]
		if !found {
			return s.errMissing(ctx, f)
		}
		if err := visit(f, bytes.NewReader(data)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Snapshot) visitLarge(ctx context.Context, f File, visit func(f File, data io.Reader) error) error {
	body, _, err := s.store.bucket.Open(ctx, f.ObjectKey(s.projectID))
	if errors.Is(err, objectstore.ErrNotFound) {
		return s.errMissing(ctx, f)
	}
	if err != nil {
		return storageError(err)
	}
	defer func() { _ = body.Close() }()
	return storageError(visit(f, &checkedReader{body: body, file: f, sum: sha256.New()}))
}

// errMissing returns the error for a content that does not exist: PROJECT_NOT_FOUND if the project was deleted,
// db.ErrConflict if files have changed.
func (s *Snapshot) errMissing(ctx context.Context, f File) error {
	tree, err := s.store.tree(ctx, s.projectID, "")
	if err == nil && tree.Revision != s.revision {
		err = db.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("%w: content %s is missing", err, f.ContentID)
	}
	return fmt.Errorf("file: content %s is missing", f.ContentID)
}

// checkedReader compares the bytes that it reads with the record of the file.
type checkedReader struct {
	body io.Reader
	file File
	sum  hash.Hash
	n    int
}

// Read implements io.Reader.
func (r *checkedReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	_, _ = r.sum.Write(p[:n]) // never fails
	r.n += n
	if r.n > r.file.Size || (errors.Is(err, io.EOF) && !bytes.Equal(r.sum.Sum(nil), r.file.SHA256)) {
		return n, fmt.Errorf("file: content %s does not match its record: %d bytes, SHA-256 %x",
			r.file.ContentID, r.n, r.sum.Sum(nil))
	}
	return n, err
}
