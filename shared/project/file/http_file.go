package file

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

var tag = httpapi.Tag{
	Name: "Files",
	Description: "A project's files by path, with their versions of the last 30 days. Whoever writes can say, with If-Match or an etag, which version they have seen; " +
		"several changes that belong together are made as one batch.",
}

const filesPath = "/api/projects/{id}/files"

// InProject is the part of inputs that names a project.
type InProject struct {
	ProjectID string `path:"id" doc:"The project's id" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Register adds the endpoints of files.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerFiles(r)
	s.registerBatch(r)
	s.registerHistory(r)
}

func (s *Service) registerFiles(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readFiles", Method: http.MethodGet, Path: filesPath, Tag: tag,
		Summary: "List the files, or read one",
		Description: "Without path: the files by path, those only whose paths begin with prefix; with include=content always in pages, " +
			"which then are as large as an answer may be. With path: that file and its content, now or in the version named, which takes a member of the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("path", path.Check("src/app.ts"))),
			workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied,
		},
		Also: []int{http.StatusNotModified},
	}, s.handleReadFiles)
	httpapi.Private(r, httpapi.Operation{
		ID: "saveFile", Method: http.MethodPost, Path: filesPath, Tag: tag,
		Summary: "Create or update a file",
		Description: "Without a precondition the last writer wins. Content that the file has already is not written again, and is no event. " +
			"CONFLICT: the path is a folder, or runs through a file.",
		Status: http.StatusOK, Also: []int{http.StatusCreated},
		Errors: append([]*fault.Error{errBadPath, errIsFolder, errInsideFile}, growErrors...),
	}, s.handleSaveFile)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteFile", Method: http.MethodDelete, Path: filesPath, Tag: tag,
		Summary: "Delete a file", Description: "The path is given in the query or in the body. Its versions are kept for 30 days.",
		Errors: append([]*fault.Error{errBadPath, errNotFound}, writeErrors...),
	}, s.handleDeleteFile)
}

// writeErrors are the errors of every change of files, growErrors those of changes that may add files or bytes.
var (
	writeErrors = []*fault.Error{
		workspace.ErrProjectNotFound, workspace.ErrDenied, httpapi.ErrIfMatch, httpapi.ErrIfNoneMatch, fault.ErrConflict,
	}
	growErrors = append([]*fault.Error{errFileQuota(DefaultQuotas()), errStorageQuota(DefaultQuotas())}, writeErrors...)
	errBadPath = fault.Invalid(fault.Field("path", path.Check("src/app.ts")))
)

type readFilesInput struct {
	InProject
	httpapi.PageInput
	Path        string `query:"path" doc:"Reads this file instead of listing" example:"/src/app.ts"`
	Version     string `query:"version" doc:"Reads the file as it was in this version of its history" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Prefix      string `query:"prefix" doc:"Lists only the files whose paths begin so" example:"/src/"`
	Include     string `query:"include" enum:"content" doc:"Lists the files with their contents" example:"content"`
	IfNoneMatch string `header:"If-None-Match" doc:"Entity tags that the client has the content of" example:"\"01K9ZQ3V7M8T5XW2ABCDEFGHJK\""`
}

// Validate checks the path, which a version requires.
func (in *readFilesInput) Validate(v *httpapi.Validation) {
	switch {
	case v.HasQuery("path"):
		v.Field("path", path.Check(in.Path))
	case in.Version != "":
		v.Field("path", "is required with a version")
	}
}

// readFilesOutput answers both a listing and a reading.
type readFilesOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The version of the file that was read"`
	Body   *filesBody
}

// fileList is a page of a project's files.
type fileList struct {
	Files      []FileItem `json:"files" nullable:"false" doc:"By path"`
	NextCursor string     `json:"nextCursor,omitempty" doc:"Where the list goes on; absent on the last page"`
}

// filesBody is a list of files or one file.
type filesBody struct {
	list *fileList `oneOf:"FileList"`
	file *FileItem `oneOf:"FileItem"`
}

// MarshalJSON implements json.Marshaler.
func (b *filesBody) MarshalJSON() ([]byte, error) {
	var body any = b.list
	if b.file != nil {
		body = b.file
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("project: files: %w", err)
	}
	return data, nil
}

func (s *Service) handleReadFiles(
	ctx context.Context, caller httpapi.Caller, in *readFilesInput,
) (*readFilesOutput, error) {
	if in.Path != "" {
		return s.handleReadFile(ctx, caller, in)
	}
	items, next, err := s.List(ctx, caller, in.ProjectID, Listing{
		Prefix: in.Prefix, Content: in.Include != "", PageInput: in.PageInput,
	})
	if err != nil {
		return nil, err
	}
	return &readFilesOutput{Status: http.StatusOK, Body: &filesBody{list: &fileList{Files: items, NextCursor: next}}}, nil
}

func (s *Service) handleReadFile(
	ctx context.Context, caller httpapi.Caller, in *readFilesInput,
) (*readFilesOutput, error) {
	known, err := httpapi.ParsePreconditions("", in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	f, data, err := s.Read(ctx, caller, in.ProjectID, Selection{Path: in.Path, Version: in.Version, Known: known})
	if err != nil {
		return nil, err
	}
	out := &readFilesOutput{Status: http.StatusOK, ETag: f.ETag()}
	if known.NotModified(out.ETag) {
		out.Status = http.StatusNotModified
		return out, nil
	}
	item := f.itemWith(data)
	out.Body = &filesBody{file: &item}
	return out, nil
}

type saveFileInput struct {
	InProject
	httpapi.ConditionInput
	Body struct {
		Path     string   `json:"path" doc:"At most 512 bytes: a leading slash, no empty, . or .. segment, no control character or backslash, NFC" example:"/src/app.ts"`
		Content  string   `json:"content" nul:"allow" doc:"At most 1 MiB, decoded" example:"export {}\n"`
		Encoding Encoding `json:"encoding,omitempty" enum:"utf-8,base64" doc:"base64 for bytes that are no text; utf-8 if not given" example:"utf-8"`

		data []byte
	}
}

// Validate checks the path, and decodes the content.
func (in *saveFileInput) Validate(v *httpapi.Validation) {
	var rule string
	in.Body.data, rule = decodeContent(in.Body.Content, in.Body.Encoding)
	v.Field("path", path.Check(in.Body.Path))
	v.Field("content", rule)
}

type saveFileOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The version that the file is in now"`
	Body   FileItem
}

func (s *Service) handleSaveFile(
	ctx context.Context, caller httpapi.Caller, in *saveFileInput,
) (*saveFileOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	f, created, err := s.Save(ctx, caller, in.ProjectID, BatchOperation{
		Action: Save, Path: in.Body.Path, Encoding: in.Body.Encoding, data: in.Body.data, condition: condition,
	})
	if err != nil {
		return nil, err
	}
	out := &saveFileOutput{Status: http.StatusOK, ETag: f.ETag(), Body: f.Item()}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

var fileDeleted = httpapi.Done{Success: true, Message: "File deleted."}

type deleteFileInput struct {
	InProject
	httpapi.ConditionInput
	Path string `query:"path" doc:"The file's path, unless the body has it" example:"/src/app.ts"`
	Body *struct {
		Path string `json:"path,omitempty" doc:"The file's path, unless the query has it" example:"/src/app.ts"`
	}
}

// Validate checks the path, and moves it from the body to Path if the query has none.
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

type doneOutput struct{ Body httpapi.Done }

func (s *Service) handleDeleteFile(
	ctx context.Context, caller httpapi.Caller, in *deleteFileInput,
) (*doneOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	if err := s.Delete(ctx, caller, in.ProjectID, in.Path, condition); err != nil {
		return nil, err
	}
	return &doneOutput{fileDeleted}, nil
}
