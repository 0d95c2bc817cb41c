package file

import (
	"context"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

func (s *Service) registerFiles(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readFiles", Method: http.MethodGet, Path: filesPath, Tag: tag,
		Summary: "List files, or read a file",
		Description: "Without path: lists the files in path order. With include=content the list is always paged, and a " +
			"page contains at most about 4 MiB of content. " +
			"With path: returns the file with its content. A file of more than 1 MiB has a url instead of its content. " +
			"With path and version: returns that version of the file, for members of the workspace only.",
		Errors:        []*fault.Error{errInvalidPath, workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
		OtherStatuses: []int{http.StatusNotModified},
	}, s.readFiles)
	httpapi.Private(r, httpapi.Operation{
		ID: "saveFile", Method: http.MethodPost, Path: filesPath, Tag: tag,
		Summary: "Create or update a file",
		Description: "Without a precondition the last writer wins. If the file already has this content, nothing is " +
			"written and no event is sent. " +
			"The error is CONFLICT if the path is a folder, or if a parent folder of the path is a file.",
		Status: http.StatusOK, OtherStatuses: []int{http.StatusCreated},
		Errors: append([]*fault.Error{errInvalidPath, errIsFolder, errInsideFile}, saveErrors...),
	}, s.saveFile)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteFile", Method: http.MethodDelete, Path: filesPath, Tag: tag,
		Summary: "Delete a file",
		Description: "Send the path in the query or in the body. The versions of the file are kept for 30 days. " +
			"The content counts as an old version of the project for that time. If this exceeds the project's limit, the " +
			"error is QUOTA_EXCEEDED.",
		Errors: append([]*fault.Error{errInvalidPath, errNotFound, errOldQuota(defaultQuotas)}, writeErrors...),
	}, s.deleteFile)
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
	}, s.changeFiles)
}

type readFilesInput struct {
	InProject
	httpapi.PageInput
	Path        string `query:"path" doc:"Read this file instead of listing files" example:"/src/app.ts"`
	Version     string `query:"version" doc:"Read this version of the file. Requires path" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Prefix      string `query:"prefix" doc:"List only the files whose paths begin with this prefix" example:"/src/"`
	Include     string `query:"include" enum:"content" doc:"Include the contents of the files in the list" example:"content"`
	IfNoneMatch string `header:"If-None-Match" doc:"The entity tags of the versions that the client has cached" example:"\"01K9ZQ3V7M8T5XW2ABCDEFGHJK\""`
}

// Validate checks the path. A request with a version must have a path.
func (in *readFilesInput) Validate(v *httpapi.Validation) {
	switch {
	case v.HasQuery("path"):
		v.Field("path", path.Check(in.Path))
	case in.Version != "":
		v.Field("path", "is required with a version")
	}
}

// readFilesOutput is the response of both a list and a read.
type readFilesOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The entity tag of the file"`
	Body   *filesBody
}

// fileList is a page of a project's files.
type fileList struct {
	Files      []FileItem `json:"files" nullable:"false" doc:"The files, in path order"`
	NextCursor string     `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page"`
}

// filesBody is a list of files or one file.
type filesBody struct {
	list *fileList `oneOf:"FileList"`
	file *FileItem `oneOf:"FileItem"`
}

// MarshalJSONTo implements json.MarshalerTo.
func (b *filesBody) MarshalJSONTo(out *jsontext.Encoder) error {
	if b.file != nil {
		return json.MarshalEncode(out, b.file)
	}
	return json.MarshalEncode(out, b.list)
}

func (s *Service) readFiles(
	ctx context.Context, caller httpapi.Caller, in *readFilesInput,
) (*readFilesOutput, error) {
	if in.Path != "" {
		return s.readFile(ctx, caller, in)
	}
	items, next, err := s.List(ctx, caller, in.ProjectID, Listing{
		Prefix: in.Prefix, WithContent: in.Include != "", PageInput: in.PageInput,
	})
	if err != nil {
		return nil, err
	}
	return &readFilesOutput{Status: http.StatusOK, Body: &filesBody{list: &fileList{Files: items, NextCursor: next}}}, nil
}

type saveFileInput struct {
	InProject
	httpapi.ConditionInput
	Body struct {
		Path     string   `json:"path" doc:"The path of the file: at most 512 bytes, and 255 bytes between two slashes, starts with a slash, has no empty, . or .. segments, no control characters, no invisible or direction-changing characters (but U+200C and U+200D are allowed) and no backslashes, and is in Unicode normal form C (NFC)" example:"/src/app.ts"`
		Content  string   `json:"content" nul:"allow" doc:"The content, at most 1 MiB after decoding" example:"export {}\n"`
		Encoding Encoding `json:"encoding,omitempty" enum:"utf-8,base64" doc:"The encoding of content. Use base64 for binary data. The default is utf-8" example:"utf-8"`

		decoded []byte // the content, which Validate decodes
	}
}

// Validate checks the path and decodes the content.
func (in *saveFileInput) Validate(v *httpapi.Validation) {
	var rule string
	in.Body.decoded, rule = decodeContent(in.Body.Content, in.Body.Encoding)
	v.Field("path", path.CheckNew(in.Body.Path))
	v.Field("content", rule)
}

// SaveFileOutput is the output of the endpoints that save a file.
type SaveFileOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The entity tag of the saved file"`
	Body   FileItem
}

func (s *Service) saveFile(
	ctx context.Context, caller httpapi.Caller, in *saveFileInput,
) (*SaveFileOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	p, err := s.apply(ctx, caller, in.ProjectID, Operation{
		Action: Save, Path: in.Body.Path, Encoding: in.Body.Encoding, data: in.Body.decoded, condition: condition,
	})
	if err != nil {
		return nil, err
	}
	return newSaveFileOutput(p.results()[0], p.creates()), nil
}

func newSaveFileOutput(f File, isNew bool) *SaveFileOutput {
	out := &SaveFileOutput{Status: http.StatusOK, ETag: f.ETag(), Body: f.Item()}
	if isNew {
		out.Status = http.StatusCreated
	}
	return out
}

type deleteFileInput struct {
	InProject
	httpapi.ConditionInput
	Path string `query:"path" doc:"The path of the file. Required if the body has no path" example:"/src/app.ts"`
	Body *struct {
		Path string `json:"path,omitempty" doc:"The path of the file. Required if the query has no path" example:"/src/app.ts"`
	}
}

// Validate checks the path. If the path is in the body only, Validate copies it to Path.
func (in *deleteFileInput) Validate(v *httpapi.Validation) {
	inQuery, inBody := v.HasQuery("path"), in.Body != nil && in.Body.Path != ""
	switch {
	case !inQuery && !inBody:
		v.Field("path", "is required, in the query or in the body")
		return
	case !inQuery:
		in.Path = in.Body.Path
	case inBody && in.Body.Path != in.Path:
		v.Field("path", "must be the same in the query and in the body")
	}
	v.Field("path", path.Check(in.Path))
}

func (s *Service) deleteFile(
	ctx context.Context, caller httpapi.Caller, in *deleteFileInput,
) (*httpapi.DoneOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	_, err = s.apply(ctx, caller, in.ProjectID, Operation{Action: Delete, Path: in.Path, condition: condition})
	return httpapi.ReplyDone("File deleted.", err)
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

func (s *Service) changeFiles(
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
