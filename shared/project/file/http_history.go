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
		Summary: "The versions of a file",
		Description: "Newest first, the current one included; kept for 30 days after they were replaced, also when the file is gone. " +
			"A rename begins a new history at the new path. To restore a version, read it and save it.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("path", "is required")), workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied,
		},
	}, s.handleFileHistory)
}

type fileHistoryInput struct {
	InProject
	httpapi.PageInput
	Path string `query:"path" required:"true" doc:"The file's path" example:"/src/app.ts"`
}

// Validate checks the path.
func (in *fileHistoryInput) Validate(v *httpapi.Validation) { v.Field("path", path.Check(in.Path)) }

type fileHistoryOutput struct {
	Body struct {
		Versions   []VersionItem `json:"versions" nullable:"false" doc:"Newest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Where the list goes on; absent on the last page"`
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
