package project

import (
	"context"
	"errors"
	"fmt"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
)

// The bounds of a batch (API.md §5), which keep its transaction within DynamoDB's 100 actions and 4 MB.
const (
	maxOperations   = 20
	maxBatchContent = 3 << 20
	// maxFolders is how many folders the paths that a batch creates may run through: each is looked up.
	maxFolders = 500
)

type changeFilesInput struct {
	InProject
	Body struct {
		Operations []batchOperation `json:"operations" minItems:"1" maxItems:"20" nullable:"false" doc:"What to do, all or nothing"`
	}
}

type batchOperation struct {
	Action   fileAction `json:"op" enum:"create,update,delete,rename" doc:"create refuses a path that exists, the others one that doesn't" example:"update"`
	Path     string     `json:"path" doc:"The file's path; of a rename, the old one" example:"/src/app.ts"`
	Content  *string    `json:"content,omitempty" nul:"allow" doc:"Of create and update: the content, at most 1 MiB decoded" example:"export {}\n"`
	Encoding Encoding   `json:"encoding,omitempty" enum:"utf-8,base64" doc:"base64 for bytes that are no text; utf-8 if not given" example:"utf-8"`
	To       string     `json:"to,omitempty" doc:"Of rename: the new path" example:"/src/main.ts"`
	ETag     string     `json:"etag,omitempty" doc:"Of update, delete and rename: the version that the file must be in, as in If-Match" example:"\"01K9ZQ3V7M8T5XW2ABCDEFGHJK\""`

	data      []byte
	condition httpapi.Preconditions
}

// needsContent reports whether the operation brings a content.
func (op *batchOperation) needsContent() bool {
	return op.Action == actCreate || op.Action == actUpdate
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

// checkBatch is what is wrong with operations, each by itself and all together, and makes them ready to be done.
func checkBatch(batch []batchOperation) []fault.Problem {
	var errs []fault.Problem
	named, count, total := map[string]bool{}, 0, 0
	for i := range batch {
		op := &batch[i]
		at := fmt.Sprintf("operations[%d].", i)
		errs = append(errs, op.check(at)...)
		count++
		total += len(op.data)
		if named[op.Path] {
			errs = append(errs, fault.Field(at+"path", "is named twice in the batch"))
		}
		named[op.Path] = true
		if op.Action != actRename {
			continue
		}
		count++
		if named[op.To] && op.To != op.Path {
			errs = append(errs, fault.Field(at+"to", "is named twice in the batch"))
		}
		named[op.To] = true
	}
	if count > maxOperations {
		errs = append(errs, fault.Field("operations", "must be at most 20, a rename counting as two"))
	}
	if foldersOf(batch) > maxFolders {
		errs = append(errs, fault.Field("operations", fmt.Sprintf("must create paths in at most %d folders", maxFolders)))
	}
	if total > maxBatchContent {
		errs = append(errs, fault.Field("operations", "must have at most 3 MiB of content, decoded"))
	}
	return errs
}

// foldersOf counts those that the paths to be created run through.
func foldersOf(batch []batchOperation) int {
	seen := map[string]bool{}
	for _, op := range batch {
		for _, folder := range path.Ancestors(fileOperation{action: op.Action, path: op.Path, to: op.To}.mayCreate()) {
			seen[folder] = true
		}
	}
	return len(seen)
}

// check is what is wrong with one operation by itself.
func (op *batchOperation) check(at string) []fault.Problem {
	var contentRule, toRule, etagRule string
	switch {
	case op.needsContent() && op.Content == nil:
		contentRule = "is required to " + string(op.Action) + " a file"
	case op.needsContent():
		op.data, contentRule = decodeContent(*op.Content, op.Encoding)
	case op.Content != nil && *op.Content != "":
		contentRule = "is only for create and update"
	}
	switch {
	case op.Action != actRename && op.To != "":
		toRule = "is only for rename"
	case op.Action == actRename && op.To == "":
		toRule = "is required to rename a file"
	case op.Action == actRename && op.To == op.Path:
		toRule = "must be another path"
	case op.Action == actRename:
		toRule = path.Check(op.To)
	}
	if op.ETag != "" {
		var err error
		if op.condition, err = httpapi.ParsePreconditions(op.ETag, ""); err != nil {
			etagRule = "must be an entity tag"
		}
		if op.Action == actCreate {
			etagRule = "is not for create"
		}
	}
	return brokenRules(checked{at + "path", path.Check(op.Path)}, checked{at + "content", contentRule}, checked{at + "to", toRule}, checked{at + "etag", etagRule})
}

// batchErrors are those of a file, with the number of the operation that they are about, and those of the batch.
func batchErrors() []*fault.Error {
	return []*fault.Error{
		fault.Invalid(fault.Field("operations[1].to", "is required to rename a file")), atOperation(1, errNoFile),
		atOperation(0, errFileExists), atOperation(0, errIsFolder), atOperation(0, errInsideFile), atOperation(1, httpapi.ErrNotMatched),
		errManyFiles(DefaultQuotas()), errMuchStorage(DefaultQuotas()), ErrNotFound, ErrDenied, errBusy,
	}
}

type changeFilesOutput struct {
	Body struct {
		Files []fileItem `json:"files" nullable:"false" doc:"The files created, updated and renamed, in the order of the operations"`
	}
}

// changeBatch does operations that checkBatch has let through. Its errors say which operation failed.
func (s *Service) changeBatch(ctx context.Context, projectID string, batch []batchOperation) (filePlan, error) {
	ops, err := s.operations(batch)
	if err != nil {
		return filePlan{}, inBatch(err)
	}
	plan, err := s.changeFiles(ctx, projectID, ops...)
	return plan, inBatch(err)
}

func (s *Service) handleChangeFiles(ctx context.Context, _ httpapi.Caller, in *changeFilesInput) (*changeFilesOutput, error) {
	plan, err := s.changeBatch(ctx, in.ProjectID, in.Body.Operations)
	if err != nil {
		return nil, err
	}
	out := &changeFilesOutput{}
	out.Body.Files = []fileItem{}
	for _, f := range plan.left() {
		out.Body.Files = append(out.Body.Files, f.item())
	}
	return out, nil
}

// operations makes the batch ready to be done.
func (s *Service) operations(batch []batchOperation) ([]fileOperation, error) {
	ops := make([]fileOperation, len(batch))
	for i, op := range batch {
		ops[i] = fileOperation{action: op.Action, path: op.Path, to: op.To, condition: op.condition}
		if !op.needsContent() {
			continue
		}
		packed, err := packContent(op.data, op.Encoding)
		if err != nil {
			return nil, &operationError{i, err}
		}
		ops[i].content, ops[i].contentID = packed, s.newVersion()
	}
	return ops, nil
}

// inBatch says in the message which operation failed, if it was one.
func inBatch(err error) error {
	var told *fault.Error
	i, failed := failedOperation(err)
	if !failed || !errors.As(err, &told) {
		return err
	}
	return atOperation(i, told).WithCause(err)
}

func atOperation(i int, told *fault.Error) *fault.Error {
	return fault.New(told.Code, fmt.Sprintf("operations[%d]: %s", i, told.Message))
}
