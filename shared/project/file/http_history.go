package file

import (
	"context"
	"net/http"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

func (s *Service) registerHistory(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "fileHistory", Method: http.MethodGet, Path: filesPath + "/history", Tag: tag,
		Summary: "List the versions of a file",
		Description: "Returns the versions newest first, including the current version. The list is always paged; the " +
			"default limit is 50. " +
			"A version is kept for 30 days after it was replaced or its file was deleted. A rename starts a new history at " +
			"the new path. " +
			"To restore a version, read the file with the ID of that version, then save the content that you read. If the " +
			"version is larger than 1 MiB, download it from its url and upload it. Requires membership in the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("path", "is required")), workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied,
		},
	}, s.FileHistory)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteFileVersion", Method: http.MethodDelete, Path: filesPath + "/history", Tag: tag,
		Summary: "Delete an old version of a file",
		Description: "Deletes a version that was replaced, or the version of a deleted file. It then no longer counts " +
			"against the project's limit of old versions. " +
			"Its content can no longer be read at this path, and is removed in the background. Operators can restore it " +
			"for 35 days after that. " +
			"The current version cannot be deleted. No event is sent.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("version", "is required")), workspace.ErrProjectNotFound, errVersionNotFound,
			workspace.ErrDenied, errCurrentVersion, fault.ErrConflict,
		},
	}, s.DeleteFileVersion)
}

// FileHistoryInput is the input of FileHistory.
type FileHistoryInput struct {
	InProject
	httpapi.PageInput
	Path string `query:"path" required:"true" doc:"The path of the file. The file may have been deleted in the last 30 days" example:"/src/app.ts"`
}

// Validate checks the path.
func (in *FileHistoryInput) Validate(v *httpapi.Validation) { v.Field("path", path.Check(in.Path)) }

// FileHistoryOutput is the output of FileHistory.
type FileHistoryOutput struct {
	Body struct {
		Versions   []VersionItem `json:"versions" nullable:"false" doc:"The versions, newest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

// FileHistory returns a page of the versions of the file at a path: the current version, then the replaced versions,
// newest first. The history of a deleted file is available until its versions expire.
func (s *Service) FileHistory(
	ctx context.Context, caller httpapi.Caller, in *FileHistoryInput,
) (out *FileHistoryOutput, err error) {
	out = &FileHistoryOutput{}
	scope := httpapi.ListScope(caller, "versions", in.ProjectID, in.Path)
	current := db.FileKey(in.ProjectID, in.Path)
	read := func(ctx context.Context, after string, n int) ([]VersionItem, error) {
		versions := func(ctx context.Context, located workspace.ProjectAccess) ([]VersionItem, error) {
			return s.versionsAfter(ctx, in.ProjectID, in.Path, located.Items[current], after, n)
		}
		_, items, err := workspace.ReadWith(
			ctx, s.store.Access, caller.UserID, in.ProjectID, workspace.Read, versions, current)
		if err == nil && len(items) == 0 && after == "" {
			err = errNotFound
		}
		return items, err
	}
	out.Body.Versions, out.Body.NextCursor, err = httpapi.ReadPage(
		ctx, s.cursors, scope, in.PageInput, read, VersionItem.position)
	return out, err
}

// DeleteVersionInput is the input of DeleteFileVersion.
type DeleteVersionInput struct {
	InProject
	Path    string `query:"path" required:"true" doc:"The path of the file. The file may have been deleted in the last 30 days" example:"/src/app.ts"`
	Version string `query:"version" required:"true" doc:"The ID of the version" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Validate checks the path.
func (in *DeleteVersionInput) Validate(v *httpapi.Validation) { v.Field("path", path.Check(in.Path)) }

// DeleteFileVersion deletes an old version of the file at a path. Its content can no longer be read, unless another
// version or file has the same content.
func (s *Service) DeleteFileVersion(
	ctx context.Context, caller httpapi.Caller, in *DeleteVersionInput,
) (*httpapi.DoneOutput, error) {
	current, replaced := db.FileKey(in.ProjectID, in.Path), db.VersionKey(in.ProjectID, pathHash(in.Path), in.Version)
	return httpapi.ReplyDone("Version deleted.", db.Retry(ctx, "delete a version", func(ctx context.Context) error {
		access, err := s.store.Project(ctx, caller.UserID, in.ProjectID, workspace.Write, current, replaced)
		if err != nil {
			return err
		}
		tree, err := db.Decode[Tree](access.Items[db.TreeKey(in.ProjectID)])
		if err != nil {
			return err
		}
		file, err := db.Decode[File](access.Items[current])
		if err != nil {
			return err
		}
		old, err := db.Decode[File](access.Items[replaced])
		switch {
		case err != nil:
			return err
		case access.Items[current] != nil && file.Version == in.Version:
			return errCurrentVersion
		case access.Items[replaced] == nil:
			return errVersionNotFound
		}
		return s.store.deleteVersion(ctx, in.ProjectID, replaced, old, tree)
	}))
}
