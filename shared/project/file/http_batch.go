package file

import (
	"context"
	"net/http"
	"slices"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

func (s *Service) registerBatch(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "changeFiles", Method: http.MethodPost, Path: filesPath + "/batch", Tag: tag,
		Summary: "Change several files in one transaction",
		Description: "Creates, updates, deletes and renames files: either all operations succeed, or nothing changes. " +
			"A batch has at most 20 operations and 3 MiB of content; a rename counts as two operations. A path may occur only once. " +
			"Conflicts between files and folders are checked against the state after all operations. " +
			"If several operations fail, only the first error is returned. Its message contains the operation's index.",
		Errors: slices.Concat([]*fault.Error{
			fault.Invalid(fault.Field("operations[1].to", "is required to rename a file")), atOperation(1, errNotFound),
			atOperation(0, errFileExists), atOperation(0, errIsFolder), atOperation(0, errInsideFile),
			atOperation(1, httpapi.ErrIfMatch),
		}, quotaErrors, []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict}),
	}, s.handleChangeFiles)
}

type changeFilesInput struct {
	InProject
	Body struct {
		Operations []Operation `json:"operations" minItems:"1" maxItems:"20" nullable:"false" doc:"The operations. Either all of them succeed, or nothing changes."`
	}
}

// Validate checks the rules that tags cannot express.
func (in *changeFilesInput) Validate(v *httpapi.Validation) {
	for _, problem := range checkBatch(in.Body.Operations) {
		v.Field(problem.Name, problem.Rule)
	}
	if v.HasHeader("If-Match") || v.HasHeader("If-None-Match") {
		v.Field("operations", "must not be sent with If-Match or If-None-Match; set etag in each operation instead")
	}
}

type changeFilesOutput struct {
	Body struct {
		Files []FileItem `json:"files" nullable:"false" doc:"The files that were created, updated or renamed, in the order of the operations"`
	}
}

func (s *Service) handleChangeFiles(
	ctx context.Context, caller httpapi.Caller, in *changeFilesInput,
) (*changeFilesOutput, error) {
	p, err := s.apply(ctx, caller, in.ProjectID, in.Body.Operations...)
	if err != nil {
		return nil, withOperationIndex(err)
	}
	out := &changeFilesOutput{}
	out.Body.Files = []FileItem{}
	for _, f := range p.results() {
		out.Body.Files = append(out.Body.Files, f.Item())
	}
	return out, nil
}
