package deployment

import (
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

func (s *Service) registerFiles(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listDeploymentFiles", Method: http.MethodGet, Path: deploymentPath + "/files", Tag: tag,
		Summary:     "List the files of the output",
		Description: "In path order. A deployment that is not ready has no files. Requires membership in the workspace.",
		Errors:      []*fault.Error{workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleListFiles)
}

// DeploymentFile is a file of the output of a deployment as clients see it.
type DeploymentFile struct {
	Path        string `json:"path" doc:"The path of the file" example:"/index.html"`
	Size        int    `json:"size" doc:"The size in bytes" example:"482"`
	SHA256      string `json:"sha256" doc:"The SHA-256 of the content in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	ContentType string `json:"contentType" doc:"The content type" example:"text/html; charset=utf-8"`
}

type filesOutput struct {
	Body struct {
		Files      []DeploymentFile `json:"files" nullable:"false" doc:"The files, in path order"`
		NextCursor string           `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
	}
}

func (s *Service) handleListFiles(
	ctx context.Context, caller httpapi.Caller, in *deploymentPageInput,
) (out *filesOutput, err error) {
	out = &filesOutput{}
	out.Body.Files, out.Body.NextCursor, err = s.ListFiles(ctx, caller, in.ProjectID, in.DeploymentID, in.PageInput)
	return out, err
}
