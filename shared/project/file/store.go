package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

// store stores the records of files in the projects table, and their contents in the contents table or in the bucket.
type store struct {
	workspace.Access
	client   *db.Client
	contents db.Table
	bucket   objectstore.Bucket
	quotas   Quotas
	counters *limit.Counters
	outbox   event.Outbox
}

// pathHash returns the hash of a path for the key of a version. The path itself can be too long for a key.
func pathHash(filePath string) string {
	sum := sha256.Sum256([]byte(filePath))
	return hex.EncodeToString(sum[:])
}

// fileOf decodes the record of a file.
func fileOf(projectID string, item db.Item) (File, error) {
	f, err := db.Decode[File](item)
	f.Path = db.FilesOf(projectID, "").Rest(db.KeyOf(item))
	return f, err
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
// stops when it has limit files or more, or returns all of them if limit is 0.
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
