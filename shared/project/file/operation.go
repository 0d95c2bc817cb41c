package file

import (
	"fmt"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
)

// Action is the action of an operation.
type Action string

// The actions. Save creates or updates a file. It is not available in a batch.
const (
	Save   Action = "save"
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
	Rename Action = "rename"
)

// Operation is a change of one file: one operation of a batch, or the operation of a request for a single file.
// Clients send the exported fields. checkBatch validates them and decodes the content.
type Operation struct {
	Action   Action   `json:"op" enum:"create,update,delete,rename" doc:"What to do. create requires that the path does not exist; the other operations require that it exists" example:"update"`
	Path     string   `json:"path" doc:"The path of the file. For rename: the old path" example:"/src/app.ts"`
	Content  *string  `json:"content,omitempty" nul:"allow" doc:"For create and update: the content, at most 1 MiB after decoding" example:"export {}\n"`
	Encoding Encoding `json:"encoding,omitempty" enum:"utf-8,base64" doc:"The encoding of content. Use base64 for binary data. The default is utf-8" example:"utf-8"`
	To       string   `json:"to,omitempty" doc:"For rename: the new path" example:"/src/main.ts"`
	ETag     *string  `json:"etag,omitempty" doc:"For update, delete and rename: the entity tag that the file must have, as in If-Match" example:"\"01K9ZQ3V7M8T5XW2ABCDEFGHJK\""`

	data      []byte         // the content, decoded
	packed    *packedContent // set by Service.apply, or by Service.CompleteUpload
	uploadID  string         // the upload that the operation completes, or ""
	condition httpapi.Preconditions
}

// hasContent reports whether the operation writes content.
func (op *Operation) hasContent() bool {
	return op.Action == Save || op.Action == Create || op.Action == Update
}

// createdPath returns the path at which the operation may create a file, or "".
func (op *Operation) createdPath() string {
	switch op.Action {
	case Save, Create:
		return op.Path
	case Rename:
		return op.To
	default:
		return ""
	}
}

// checkBatch validates each operation and the batch as a whole, and decodes the contents. It returns the broken rules.
func checkBatch(ops []Operation) []fault.Problem {
	var problems []fault.Problem
	paths := map[string]bool{}
	for i := range ops {
		op := &ops[i]
		at := fmt.Sprintf("operations[%d].", i)
		problems = append(problems, op.check(at)...)
		if paths[op.Path] {
			problems = append(problems, fault.Field(at+"path", "must not occur more than once in the batch"))
		}
		paths[op.Path] = true
		if op.Action != Rename {
			continue
		}
		if paths[op.To] && op.To != op.Path {
			problems = append(problems, fault.Field(at+"to", "must not occur more than once in the batch"))
		}
		paths[op.To] = true
	}
	for _, rule := range CheckLimits(ops) {
		problems = append(problems, fault.Field("operations", rule))
	}
	return problems
}

// CheckLimits returns the limits that a batch exceeds, as rules for the field operations.
func CheckLimits(ops []Operation) (rules []string) {
	folders := map[string]bool{}
	count, size := 0, 0 // number of operations (a rename counts as two), and total size of their contents
	for i := range ops {
		op := &ops[i]
		count++
		if op.Action == Rename {
			count++
		}
		data := op.data
		if data == nil && op.hasContent() && op.Content != nil {
			data, _ = decodeContent(*op.Content, op.Encoding) // another rule covers contents that are not valid
		}
		size += len(data)
		for _, folder := range path.Ancestors(op.createdPath()) {
			folders[folder] = true
		}
	}
	if count > maxOperations {
		rules = append(rules, fmt.Sprintf("must have at most %d operations; a rename counts as two", maxOperations))
	}
	if len(folders) > maxFolders {
		rules = append(rules, fmt.Sprintf("must create paths in at most %d folders", maxFolders))
	}
	if size > maxBatchContent {
		rules = append(rules, "must have at most 3 MiB of content after decoding")
	}
	return rules
}

// check returns the rules that the operation breaks, regardless of the other operations. at is the prefix of the field
// names.
func (op *Operation) check(at string) (problems []fault.Problem) {
	var contentRule, toRule, etagRule string
	pathRule := path.Check(op.Path)
	if op.Action == Create {
		pathRule = path.CheckNew(op.Path)
	}
	switch {
	case op.hasContent() && op.Content == nil:
		contentRule = "is required to " + string(op.Action) + " a file"
	case op.hasContent():
		op.data, contentRule = decodeContent(*op.Content, op.Encoding)
	case op.Content != nil && *op.Content != "":
		contentRule = "is allowed only for create and update"
	}
	switch {
	case op.Action != Rename && op.To != "":
		toRule = "is allowed only for rename"
	case op.Action == Rename && op.To == "":
		toRule = "is required to rename a file"
	case op.Action == Rename && op.To == op.Path:
		toRule = "must be different from path"
	case op.Action == Rename:
		toRule = path.CheckNew(op.To)
	}
	if op.ETag != nil {
		var err error
		if op.condition, err = httpapi.ParsePreconditions(*op.ETag, ""); err != nil || *op.ETag == "" {
			etagRule = "must be an entity tag"
		}
		if op.Action == Create {
			etagRule = "is not allowed for create"
		}
	}
	for _, problem := range []fault.Problem{
		fault.Field(at+"path", pathRule), fault.Field(at+"content", contentRule),
		fault.Field(at+"to", toRule), fault.Field(at+"etag", etagRule),
	} {
		if problem.Rule != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}
