package file

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

type changeFilesInput struct {
	InProject
	Body struct {
		Operations []Operation `json:"operations" minItems:"1" maxItems:"20" nullable:"false" doc:"What to do, all or nothing"`
	}
}

// Resolve implements huma.Resolver.
func (in *changeFilesInput) Resolve(ctx huma.Context) []error {
	errs := checkBatch(in.Body.Operations)
	if ctx.Header("If-Match") != "" || ctx.Header("If-None-Match") != "" {
		errs = append(errs, fault.Field("operations", "take their preconditions one by one, as etag; If-Match and If-None-Match are for a single file"))
	}
	return errs
}

// batchErrors are those of a file, with the number of the operation that they are about, and those of the batch.
func batchErrors() []*fault.Error {
	return []*fault.Error{
		fault.Invalid(fault.Field("operations[1].to", "is required to rename a file")), atOperation(1, errNotFound),
		atOperation(0, errFileExists), atOperation(0, errIsFolder), atOperation(0, errInsideFile), atOperation(1, httpapi.ErrNotMatched),
		errFileQuota(DefaultQuotas()), errStorageQuota(DefaultQuotas()), workspace.ErrProjectNotFound, workspace.ErrDenied, fault.ErrConflict,
	}
}

type changeFilesOutput struct {
	Body struct {
		Files []Item `json:"files" nullable:"false" doc:"The files created, updated and renamed, in the order of the operations"`
	}
}

func (s *Service) handleChangeFiles(ctx context.Context, in *changeFilesInput) (*changeFilesOutput, error) {
	files, err := s.Batch(ctx, httpapi.CallerFrom(ctx), in.ProjectID, in.Body.Operations)
	if err != nil {
		return nil, err
	}
	out := &changeFilesOutput{}
	out.Body.Files = make([]Item, len(files))
	for i, f := range files {
		out.Body.Files[i] = f.Item()
	}
	return out, nil
}
