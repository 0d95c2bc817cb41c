package file

import (
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

func (s *Service) registerBatch(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "changeFiles", Method: http.MethodPost, Path: filesPath + "/batch", Tag: tag,
		Summary: "Create, update, delete and rename files, all or nothing",
		Description: "At most 20 operations, of which a rename counts as two, and 3 MiB of content. No path may be named twice. " +
			"Whether a path is a file or a folder is judged by how things stand in the end. The error is that of the first operation that can't be done; its index is in the message.",
		Errors: batchErrors(),
	}, s.handleChangeFiles)
}

// batchErrors returns the errors of a batch. Those of one operation have its index in the message.
func batchErrors() []*fault.Error {
	return []*fault.Error{
		fault.Invalid(fault.Field("operations[1].to", "is required to rename a file")), atOperation(1, errNotFound),
		atOperation(0, errFileExists), atOperation(0, errIsFolder), atOperation(0, errInsideFile),
		atOperation(1, httpapi.ErrIfMatch),
		errFileQuota(DefaultQuotas()), errStorageQuota(DefaultQuotas()), workspace.ErrProjectNotFound, workspace.ErrDenied,
		fault.ErrConflict,
	}
}

type changeFilesInput struct {
	InProject
	Body struct {
		Operations []BatchOperation `json:"operations" minItems:"1" maxItems:"20" nullable:"false" doc:"What to do, all or nothing"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *changeFilesInput) Validate(v *httpapi.Validation) {
	for _, problem := range checkBatch(in.Body.Operations) {
		v.Field(problem.Name, problem.Rule)
	}
	if v.HasHeader("If-Match") || v.HasHeader("If-None-Match") {
		v.Field("operations", "take their preconditions one by one, as etag; If-Match and If-None-Match are for a single file")
	}
}

type changeFilesOutput struct {
	Body struct {
		Files []FileItem `json:"files" nullable:"false" doc:"The files created, updated and renamed, in the order of the operations"`
	}
}

func (s *Service) handleChangeFiles(
	ctx context.Context, caller httpapi.Caller, in *changeFilesInput,
) (*changeFilesOutput, error) {
	files, err := s.Batch(ctx, caller, in.ProjectID, in.Body.Operations)
	if err != nil {
		return nil, err
	}
	out := &changeFilesOutput{}
	out.Body.Files = make([]FileItem, len(files))
	for i, f := range files {
		out.Body.Files[i] = f.Item()
	}
	return out, nil
}
