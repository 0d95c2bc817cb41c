package project

import (
	"context"

	"devplatform/shared/db"
)

// listFiles reads the records of a part of a project's files, by path, and reports whether there are more than the request's
// limit, which the answer keeps to.
func (s store) listFiles(ctx context.Context, projectID string, r fileListRequest) (files []file, more bool, err error) {
	all, q := db.FilesOf(projectID, ""), db.Query{Prefix: db.FilesOf(projectID, r.prefix)}
	if r.position != "" {
		q.After = db.FileKey(projectID, r.position)
	}
	if r.limit > 0 {
		q.Limit = r.limit + 1
	}
	for {
		page, err := s.projects.Query(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, item := range page.Items {
			f := file{Path: all.Rest(db.KeyOf(item))}
			if f.fileRecord, err = db.Decode[fileRecord](item); err != nil {
				return nil, false, err
			}
			files = append(files, f)
		}
		switch {
		case r.limit > 0 && len(files) > r.limit:
			return files[:r.limit], true, nil
		case page.Next.IsZero():
			return files, false, nil
		}
		q.After = page.Next
	}
}

// listVersions reads at most limit of the versions that a path's file had before the one named position, newest first.
func (s store) listVersions(ctx context.Context, projectID, path, position string, limit int) ([]fileRecord, error) {
	prefix := db.VersionsOf(projectID, pathHash(path))
	page, err := s.projects.Query(ctx, db.Query{Prefix: prefix, After: prefix.After(position), Limit: limit, Descending: true})
	if err != nil {
		return nil, err
	}
	versions := make([]fileRecord, len(page.Items))
	for i, item := range page.Items {
		if versions[i], err = db.Decode[fileRecord](item); err != nil {
			return nil, err
		}
	}
	return versions, nil
}

// readContents reads the chunks of the files' contents, by content. One of which a chunk is missing is absent.
func (s store) readContents(ctx context.Context, projectID string, files ...file) (map[string][][]byte, error) {
	var keys []db.Key
	for _, f := range files {
		keys = append(keys, f.chunkKeys(projectID)...)
	}
	found, err := s.contents.BatchGet(ctx, keys...)
	if err != nil {
		return nil, err
	}
	contents := make(map[string][][]byte, len(files))
	for _, f := range files {
		chunks, err := chunksOf(projectID, f, found)
		if err != nil {
			return nil, err
		}
		contents[f.Content] = chunks
	}
	return contents, nil
}

// chunksOf are a file's chunks in their order, fewer than it has if some were not found.
func chunksOf(projectID string, f file, found map[db.Key]db.Item) ([][]byte, error) {
	var chunks [][]byte
	for _, key := range f.chunkKeys(projectID) {
		item := found[key]
		if item == nil {
			return nil, nil
		}
		chunk, err := db.Decode[chunkRecord](item)
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk.Data)
	}
	return chunks, nil
}

// chunkKeys address the chunks of a file's content.
func (f file) chunkKeys(projectID string) []db.Key {
	return chunkKeys(projectID, contentRef{f.Content, f.Chunks})
}
