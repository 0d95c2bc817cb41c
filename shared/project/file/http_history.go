package file

import (
	"context"
	"net/http"

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
	}, s.fileHistory)
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
	}, s.deleteFileVersion)
}

type fileHistoryInput struct {
	InProject
	httpapi.PageInput
	Path string `query:"path" required:"true" doc:"The path of the file. The file may have been deleted in the last 30 days" example:"/src/app.ts"`
}

// Validate checks the path.
func (in *fileHistoryInput) Validate(v *httpapi.Validation) { v.Field("path", path.Check(in.Path)) }

type fileHistoryOutput struct {
	Body struct {
		Versions   []VersionItem `json:"versions" nullable:"false" doc:"The versions, newest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

func (s *Service) fileHistory(
	ctx context.Context, caller httpapi.Caller, in *fileHistoryInput,
) (*fileHistoryOutput, error) {
	out := &fileHistoryOutput{}
	var err error
	out.Body.Versions, out.Body.NextCursor, err = s.History(ctx, caller, in.ProjectID, in.Path, in.PageInput)
	return out, err
}

type deleteVersionInput struct {
	InProject
	Path    string `query:"path" required:"true" doc:"The path of the file. The file may have been deleted in the last 30 days" example:"/src/app.ts"`
	Version string `query:"version" required:"true" doc:"The ID of the version" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Validate checks the path.
func (in *deleteVersionInput) Validate(v *httpapi.Validation) { v.Field("path", path.Check(in.Path)) }

func (s *Service) deleteFileVersion(
	ctx context.Context, caller httpapi.Caller, in *deleteVersionInput,
) (*httpapi.DoneOutput, error) {
	return httpapi.ReplyDone("Version deleted.", s.DeleteVersion(ctx, caller, in.ProjectID, in.Path, in.Version))
}
