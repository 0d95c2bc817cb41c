package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/objectstore"
	"devplatform/shared/workspace"
)

// readFile returns a file, with its content unless the client has cached this version, or the content has more than
// 1 MiB. The content is read while the caller's access is checked. Only members of the workspace may read a version.
func (s *Service) readFile(
	ctx context.Context, caller httpapi.Caller, in *readFilesInput,
) (*readFilesOutput, error) {
	known, err := httpapi.ParsePreconditions("", in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	action, selected := workspace.View, selection{in.Path, in.Version}
	if in.Version != "" {
		action = workspace.Read
	}
	var f File
	var data []byte
	err = retryRead(ctx, "read a file", func(ctx context.Context) error {
		keys := s.store.Projects.Refs(selected.keys(in.ProjectID)...)
		access, err := s.store.Locate(ctx, in.ProjectID, keys...)
		if err != nil {
			return err
		}
		var missing error
		f, missing = selected.choose(in.ProjectID, access.Items)
		var wanted File // the file, if its content is returned
		if missing == nil && !known.NotModified(f.ETag()) && !f.IsLarge() {
			wanted = f
		}
		objectCtx, stop := context.WithCancel(ctx)
		defer stop()
		waitForObject := s.store.startObject(objectCtx, in.ProjectID, wanted)
		chunk := s.store.contents.Ref(wanted.ChunkKey(in.ProjectID))
		if access, err = s.store.Load(ctx, caller.UserID, access, action, chunk); err != nil {
			stop() // without access, the response time must not show that there is an object
		}
		object, objectErr := waitForObject()
		if err = cmp.Or(err, missing, objectErr); err != nil || wanted.ContentID == "" {
			return err //nolint:wrapcheck // an error of this package or of package workspace
		}
		data, err = wanted.content(in.ProjectID, access.Items, object)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &readFilesOutput{Status: http.StatusOK, ETag: f.ETag()}
	if known.NotModified(out.ETag) {
		out.Status = http.StatusNotModified
		return out, nil
	}
	item, err := s.fullItem(ctx, in.ProjectID, f, data)
	out.Body = &filesBody{file: &item}
	return out, err
}

// selection is a version of the file at a path. version is its ID, "" for the current version.
type selection struct{ path, version string }

// keys returns the keys of the records that can be the selected version.
func (in selection) keys(projectID string) []db.Key {
	return []db.Key{
		db.FileKey(projectID, in.path), db.VersionKey(projectID, pathHash(in.path), in.version),
	}
}

// retryRead repeats a read that returned errMissingContent. The next attempt reads the file's record again. If the
// content is still missing after the last attempt, retryRead returns db.ErrUnavailable.
func retryRead(ctx context.Context, operation string, read func(context.Context) error) error {
	err := db.Retry(ctx, operation, read)
	if errors.Is(err, errMissingContent) {
		return fmt.Errorf("%w: %v", db.ErrUnavailable, err) //nolint:errorlint // no longer a conflict
	}
	return err
}

// choose returns the selected version. Errors: FILE_NOT_FOUND.
func (in selection) choose(projectID string, items map[db.Key]db.Item) (File, error) {
	for _, key := range in.keys(projectID) {
		item := items[key]
		if item == nil {
			continue
		}
		f, err := db.Decode[File](item)
		if err != nil {
			return f, err
		}
		if in.version == "" || f.Version == in.version {
			f.Path = in.path
			return f, nil
		}
	}
	if in.version != "" {
		return File{}, errVersionNotFound
	}
	return File{}, errNotFound
}

// Listing selects files of a project.
type Listing struct {
	Prefix      string // of the paths
	WithContent bool
	httpapi.PageInput
}

const (
	// contentPage is the default number of files on a page with contents.
	contentPage = 100
	// contentPageBytes limits the total size of the contents on a page. A page always has at least one file. Large files
	// have a URL instead of their content, so they do not count.
	contentPageBytes = 4 << 20
)

// List returns a page of a project's files in path order, and the cursor of the next page.
// Errors: PROJECT_NOT_FOUND; VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) List(
	ctx context.Context, caller httpapi.Caller, projectID string, in Listing,
) (items []FileItem, next string, err error) {
	scope := listScope(caller, projectID, in)
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, "", err
	}
	if in.WithContent && in.Limit == 0 {
		in.Limit = contentPage
	}
	limit := 0
	read := func(ctx context.Context, _ workspace.ProjectAccess) (items []FileItem, err error) {
		items, limit, err = s.items(ctx, projectID, in, after)
		return items, err
	}
	err = retryRead(ctx, "list files", func(ctx context.Context) error {
		_, items, err = workspace.ReadWith(ctx, s.store.Access, caller.UserID, projectID, workspace.View, read)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return httpapi.CutPage(ctx, s.cursors, scope, items, limit, FileItem.position)
}

// FirstPage returns the first page of List, without contents. It does not check access. Show the result only to a
// caller who can see the project.
func (s *Service) FirstPage(ctx context.Context, caller httpapi.Caller, projectID string) ([]FileItem, string, error) {
	items, _, err := s.items(ctx, projectID, Listing{}, "")
	if err != nil {
		return nil, "", err
	}
	return httpapi.CutPage(ctx, s.cursors, listScope(caller, projectID, Listing{}), items, 0, FileItem.position)
}

// listScope returns the scope of a listing's cursors. Listings with and without contents share their cursors.
func listScope(caller httpapi.Caller, projectID string, in Listing) string {
	return httpapi.ListScope(caller, "files", projectID, in.Prefix)
}

func (i FileItem) position() string { return i.Path }

// items reads the files of a page that begins after a path, and one more file if there is another page. limit is the
// maximum number of items on the page, or 0 if the page has all items. Error: errMissingContent.
func (s *Service) items(
	ctx context.Context, projectID string, in Listing, after string,
) (items []FileItem, limit int, err error) {
	n := in.Limit
	if n > 0 {
		n++
	}
	files, err := s.store.list(ctx, projectID, in.Prefix, after, n)
	if err != nil {
		return nil, 0, err
	}
	items = make([]FileItem, len(files))
	for i, f := range files {
		items[i] = f.Item()
	}
	if !in.WithContent {
		return items, in.Limit, nil
	}
	limit = min(in.Limit, countWithin(files, contentPageBytes))
	contents, err := s.store.contentsOf(ctx, projectID, withoutLarge(files[:limit])...)
	if err != nil {
		return nil, 0, err
	}
	for i, f := range files[:limit] {
		data, found := contents[f.ContentID]
		if !found && !f.IsLarge() {
			return nil, 0, errMissingContent
		}
		if items[i], err = s.fullItem(ctx, projectID, f, data); err != nil {
			return nil, 0, err
		}
	}
	return items, limit, nil
}

// withoutLarge returns the files whose content may be loaded into memory.
func withoutLarge(files []File) []File { return slices.DeleteFunc(slices.Clone(files), File.IsLarge) }

// downloadTime is the time for which the URL of a large file is valid.
const downloadTime = 5 * time.Minute

// fullItem returns the file as clients see it, with its content, or with a URL if it is large.
func (s *Service) fullItem(ctx context.Context, projectID string, f File, data []byte) (FileItem, error) {
	if !f.IsLarge() {
		return f.itemWith(data), nil
	}
	item := f.Item()
	url, err := s.store.bucket.PresignGet(ctx, objectstore.Download{
		Key: f.ObjectKey(projectID), Filename: path.Base(f.Path), ContentType: item.ContentType,
	}, downloadTime)
	item.URL = url
	return item, err
}

// countWithin returns how many files from the start of the list have at most maxBytes in total. Large files do not
// count. The result is at least one, unless there are no files.
func countWithin(files []File, maxBytes int) int {
	sum := 0
	for i, f := range files {
		if f.IsLarge() {
			continue
		}
		if sum += f.Size; sum > maxBytes && i > 0 {
			return i
		}
	}
	return len(files)
}
