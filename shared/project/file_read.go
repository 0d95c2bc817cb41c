package project

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/content"
)

// readAttempts is how often a file is read whose content turns out not to be there.
const readAttempts = 4

// errTorn says that a content stayed away, however often its file was read.
var errTorn = fmt.Errorf("%w: chunks of a content are missing", db.ErrUnavailable)

// untilWhole repeats a read for as long as it meets a change, some times at most: a record read before a change, the chunks
// after it. So nobody is shown parts of two versions, nor half of one.
func untilWhole(ctx context.Context, read func() error) error {
	for attempt := 1; ; attempt++ {
		err := read()
		if !errors.Is(err, errMet) {
			return err
		}
		if attempt == readAttempts || !pause(ctx, attempt) {
			return errTorn
		}
	}
}

// fileRequest asks for one file.
type fileRequest struct {
	path string
	// version is a version's name, "" for the file as it is now.
	version string
	// has reports whether the client has what an entity tag stands for, and so needs no content.
	has func(etag string) bool
}

// readFile reads one file and its content; the answer's data is nil where the client has it already.
// Errors: PROJECT_NOT_FOUND; FILE_NOT_FOUND; ACCESS_DENIED to an outsider who asks for a version; storage's classes.
func (s *Service) readFile(ctx context.Context, projectID string, r fileRequest) (f file, data []byte, err error) {
	err = untilWhole(ctx, func() error {
		if f, err = s.findFile(ctx, projectID, r.path, r.version); err != nil || r.has(etag(f.Version)) {
			return err
		}
		contents, err := s.store.readContents(ctx, projectID, f)
		if err != nil {
			return err
		}
		data, err = f.join(contents)
		return err
	})
	return f, data, err
}

// findFile reads a file's record, as it is now or as it was.
func (s *Service) findFile(ctx context.Context, projectID, path, version string) (file, error) {
	f := file{Path: path}
	current, replaced := db.FileKey(projectID, path), db.VersionKey(projectID, pathHash(path), version)
	o, err := s.openPublic(ctx, projectID, current, replaced)
	if err != nil {
		return f, err
	}
	if version != "" && !o.isMember() {
		return f, ErrDenied
	}
	for _, key := range []db.Key{current, replaced} {
		item := o.found[key]
		if item == nil {
			continue
		}
		if f.fileRecord, err = db.Decode[fileRecord](item); err != nil {
			return f, err
		}
		if version == "" || f.Version == version {
			return f, nil
		}
	}
	return f, errNoFile
}

// join is the file's content, made of the chunks that were read. Errors: errMet, if some are missing. That the bytes are not
// those that were saved is a fault.
func (f file) join(contents map[string][][]byte) ([]byte, error) {
	chunks := contents[f.Content]
	if len(chunks) != f.Chunks {
		return nil, errMet
	}
	data, err := content.Join(chunks)
	if err != nil {
		return nil, fmt.Errorf("project: content %s: %w", f.Content, err)
	}
	if sum := sha256.Sum256(data); len(data) != f.Size || !bytes.Equal(sum[:], f.SHA256) {
		return nil, fmt.Errorf("project: content %s is not what was saved: %d bytes, SHA-256 %x", f.Content, len(data), sum)
	}
	return data, nil
}

// fileListRequest asks for a part of a project's files.
type fileListRequest struct {
	prefix   string // of their paths
	content  bool   // with their contents
	limit    int    // 0: as many as fit
	cursor   string
	position string // what the cursor says
}

const (
	// contentPage is the largest number of files of a page with contents.
	contentPage = 100
	// contentPageBytes is how much content such a page has at most, a single larger file apart.
	contentPageBytes = 4 << 20
)

// listFiles lists files by path. Errors: PROJECT_NOT_FOUND; VALIDATION_FAILED for a cursor that is not this list's.
func (s *Service) listFiles(ctx context.Context, projectID string, r fileListRequest) (items []fileItem, next string, err error) {
	if r.position, err = s.cursors.Open(ctx, r.scope(ctx, projectID), r.cursor); err != nil {
		return nil, "", err
	}
	if r.content && r.limit == 0 {
		r.limit = contentPage
	}
	var more bool
	err = untilWhole(ctx, func() error {
		if _, err := s.openPublic(ctx, projectID); err != nil {
			return err
		}
		items, more, err = s.readList(ctx, projectID, r)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return s.filePage(ctx, projectID, r, items, more)
}

// listFileRecords is the first page of a list that nothing narrows, of a project that the caller has been found to see.
func (s *Service) listFileRecords(ctx context.Context, projectID string) ([]fileItem, string, error) {
	items, more, err := s.readList(ctx, projectID, fileListRequest{})
	if err != nil {
		return nil, "", err
	}
	return s.filePage(ctx, projectID, fileListRequest{}, items, more)
}

// scope names the list for its cursors. With or without contents, it goes on at the same place.
func (r fileListRequest) scope(ctx context.Context, projectID string) string {
	return httpapi.ListScope(httpapi.CallerFrom(ctx), "files", projectID, r.prefix)
}

// filePage cuts a list down to what an answer holds, and seals where it goes on.
func (s *Service) filePage(ctx context.Context, projectID string, r fileListRequest, items []fileItem, more bool) ([]fileItem, string, error) {
	fitting := httpapi.Fit(items, r.limit)
	if fitting == len(items) && !more {
		return items, "", nil
	}
	items = items[:fitting]
	next, err := s.cursors.Seal(ctx, r.scope(ctx, projectID), items[fitting-1].Path)
	return items, next, err
}

// readList reads the files that a page has at most. Error: errMet, if a content is missing.
func (s *Service) readList(ctx context.Context, projectID string, r fileListRequest) (items []fileItem, more bool, err error) {
	files, more, err := s.store.listFiles(ctx, projectID, r)
	if err != nil {
		return nil, false, err
	}
	items = make([]fileItem, 0, len(files))
	if !r.content {
		for _, f := range files {
			items = append(items, f.item())
		}
		return items, more, nil
	}
	if n := withinBytes(files, contentPageBytes); n < len(files) {
		files, more = files[:n], true
	}
	contents, err := s.store.readContents(ctx, projectID, files...)
	if err != nil {
		return nil, false, err
	}
	for _, f := range files {
		data, err := f.join(contents)
		if err != nil {
			return nil, false, err
		}
		items = append(items, f.itemWith(data))
	}
	return items, more, nil
}

// withinBytes is how many of the files, one at least, have no more content than limit in all.
func withinBytes(files []file, limit int) int {
	sum := 0
	for i, f := range files {
		if sum += f.Size; sum > limit && i > 0 {
			return i
		}
	}
	return len(files)
}
