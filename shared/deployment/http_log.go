package deployment

import (
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

func (s *Service) registerLog(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readDeploymentLog", Method: http.MethodGet, Path: deploymentPath + "/log", Tag: tag,
		Summary: "Read the log of a deployment",
		Description: "Oldest line first. A log has at most 500 lines and 100 KiB: of a longer one, the first lines are " +
			"left out. If a build is interrupted and repeated, the new lines replace the old ones. Requires membership in " +
			"the workspace.",
		Errors: []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleReadLog)
}

type logOutput struct {
	Body struct {
		Lines      []LogLine `json:"lines" nullable:"false" doc:"The lines, oldest first"`
		NextCursor string    `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

func (s *Service) handleReadLog(
	ctx context.Context, caller httpapi.Caller, in *deploymentPageInput,
) (out *logOutput, err error) {
	out = &logOutput{}
	out.Body.Lines, out.Body.NextCursor, err = s.ReadLog(ctx, caller, in.ProjectID, in.DeploymentID, in.PageInput)
	return out, err
}
