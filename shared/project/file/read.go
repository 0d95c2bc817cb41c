package file

import (
	"context"
	"errors"
	"fmt"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// Selection names one version of a file to read.
type Selection struct {
	Path string
	// Version is the version's name. "" is the current version.
	Version string
	// Known are the versions that the client has already: their content is not read.
	Known httpapi.Preconditions
}

// Read returns a file with its content. The content is nil if the client has it already.
// Errors: PROJECT_NOT_FOUND; FILE_NOT_FOUND; ACCESS_DENIED for a Version if the caller is not a member of the workspace.
func (s *Service) Read(
	ctx context.Context, caller httpapi.Caller, projectID string, in Selection,
) (f File, data []byte, err error) {
	err = retryRead(ctx, "read a file", func() error {
		f, err = s.find(ctx, caller, projectID, in)
		if err != nil || in.Known.NotModified(f.ETag()) {
			return err
		}
		chunks, err := s.store.chunksOf(ctx, projectID, f)
		if err != nil {
			return err
		}
		data, err = f.join(chunks[f.ContentID])
		return err
	})
	return f, data, err
}

// retryRead repeats a read that found a file's record but not its content, because the file was replaced in between. So no
// client sees a mix of two versions. If the content stays missing, it returns db.ErrUnavailable.
func retryRead(ctx context.Context, operation string, read func() error) error {
	err := db.Retry(ctx, operation, read)
	if errors.Is(err, errMissingChunks) {
		return fmt.Errorf("%w: %v", db.ErrUnavailable, err) //nolint:errorlint // no longer a conflict
	}
	return err
}

// find reads a file's record, of the current version or of a replaced one.
func (s *Service) find(ctx context.Context, caller httpapi.Caller, projectID string, in Selection) (File, error) {
	current, replaced := db.FileKey(projectID, in.Path), db.VersionKey(projectID, pathHash(in.Path), in.Version)
	access, err := s.store.Project(ctx, caller.UserID, projectID, current, replaced)
	if err != nil {
		return File{}, err
	}
	action := workspace.View
	if in.Version != "" {
		action = workspace.Read
	}
	if err := access.Check(action); err != nil {
		return File{}, err
	}
	for _, key := range []db.Key{current, replaced} {
		item := access.Items[key]
		if item == nil {
			continue
		}
		f, err := db.Decode[File](item)
		if err != nil {
			return f, err
		}
		if in.Version == "" || f.Version == in.Version {
			f.Path = in.Path
			return f, nil
		}
	}
	return File{}, errNotFound
}

// Listing selects files of a project.
type Listing struct {
	Prefix  string // of their paths
	Content bool   // with their contents
	httpapi.PageInput
}

const (
	// contentPage is the largest number of files of a page with contents.
	contentPage = 100
	// contentPageBytes is more content than a page has room for: no more is read for one page.
	contentPageBytes = 4 << 20
)

// List returns a page of a project's files in the order of their paths, and the cursor of the next page.
// Errors: PROJECT_NOT_FOUND; VALIDATION_FAILED for a cursor of another list.
func (s *Service) List(ctx context.Context, caller httpapi.Caller, projectID string, in Listing) ([]Item, string, error) {
	if in.Content && in.Limit == 0 {
		in.Limit = contentPage
	}
	return s.page(ctx, caller, projectID, in, func(ctx context.Context, after string, n int) (items []Item, err error) {
		err = retryRead(ctx, "list files", func() error {
			access, err := s.store.Project(ctx, caller.UserID, projectID)
			if err == nil {
				err = access.Check(workspace.View)
			}
			if err == nil {
				items, err = s.items(ctx, projectID, in, after, n)
			}
			return err
		})
		return items, err
	})
}

// FirstPage returns the first page of List for a caller who is known to see the project.
func (s *Service) FirstPage(ctx context.Context, caller httpapi.Caller, projectID string) ([]Item, string, error) {
	return s.page(ctx, caller, projectID, Listing{}, func(ctx context.Context, after string, n int) ([]Item, error) {
		return s.items(ctx, projectID, Listing{}, after, n)
	})
}

// page returns a page of a listing. Pages with and without contents have the same cursors.
func (s *Service) page(
	ctx context.Context, caller httpapi.Caller, projectID string, in Listing,
	read func(ctx context.Context, after string, n int) ([]Item, error),
) ([]Item, string, error) {
	scope := httpapi.ListScope(httpapi.WithCaller(ctx, caller), "files", projectID, in.Prefix)
	return workspace.ReadPage(ctx, s.cursors, scope, in.PageInput, read, func(i Item) string { return i.Path })
}

// items reads up to n files of a listing that come after a path, or all if n is 0. Error: errMissingChunks.
func (s *Service) items(ctx context.Context, projectID string, in Listing, after string, n int) ([]Item, error) {
	files, err := s.store.list(ctx, projectID, in.Prefix, after, n)
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(files))
	if !in.Content {
		for i, f := range files {
			items[i] = f.Item()
		}
		return items, nil
	}
	files = files[:moreThan(files, contentPageBytes)]
	chunks, err := s.store.chunksOf(ctx, projectID, files...)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		data, err := f.join(chunks[f.ContentID])
		if err != nil {
			return nil, err
		}
		items[i] = f.itemWith(data)
	}
	return items[:len(files)], nil
}

// moreThan returns how many of the files, from the first one on, have more content than limit in total, or len(files).
func moreThan(files []File, limit int) int {
	sum := 0
	for i, f := range files {
		if sum += f.Size; sum > limit {
			return i + 1
		}
	}
	return len(files)
}
