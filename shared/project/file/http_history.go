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
		Description: "Returns the versions newest first, including the current version. The list is always paged; the default limit is 50. " +
			"A version is kept for 30 days after it was replaced or its file was deleted. A rename starts a new history at the new path. " +
			"To restore a version, read the file with the ID of that version, then save the content that you read. Requires membership in the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("path", "is required")), workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied,
		},
	}, s.handleFileHistory)
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

func (s *Service) handleFileHistory(
	ctx context.Context, caller httpapi.Caller, in *fileHistoryInput,
) (*fileHistoryOutput, error) {
	out := &fileHistoryOutput{}
	var err error
	out.Body.Versions, out.Body.NextCursor, err = s.History(ctx, caller, in.ProjectID, in.Path, in.PageInput)
	return out, err
}
