package project

import (
	"context"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
)

// filesPath is where files are answered.
const filesPath = projectPath + "/files"

// registerFiles adds the endpoints of API.md §5.
func (s *Service) registerFiles(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readFiles", Method: http.MethodGet, Path: filesPath, Tag: tagFiles,
		Summary: "List the files, or read one",
		Description: "Without path: the files by path, those only whose paths begin with prefix; with include=content always in pages, " +
			"which then are as large as an answer may be. With path: that file and its content, now or in the version named, which takes a member of the workspace.",
		Errors: []*fault.Error{fault.Invalid(fault.Field("path", path.Check("src/app.ts"))), ErrNotFound, errNoFile, ErrDenied},
		Also:   []int{http.StatusNotModified},
	}, s.handleReadFiles)
	httpapi.Private(r, httpapi.Operation{
		ID: "saveFile", Method: http.MethodPost, Path: filesPath, Tag: tagFiles,
		Summary: "Create or update a file",
		Description: "Without a precondition the last writer wins. Content that the file has already is not written again, and is no event. " +
			"CONFLICT: the path is a folder, or runs through a file.",
		Status: http.StatusOK, Also: []int{http.StatusCreated},
		Errors: append([]*fault.Error{errBadPath, errIsFolder, errInsideFile}, changeErrors...),
	}, s.handleSaveFile)
	httpapi.Private(r, httpapi.Operation{
		ID: "deleteFile", Method: http.MethodDelete, Path: filesPath, Tag: tagFiles,
		Summary: "Delete a file", Description: "The path is given in the query or in the body. Its versions are kept for 30 days.",
		Errors: append([]*fault.Error{errBadPath, errNoFile}, meetErrors...),
	}, s.handleDeleteFile)
	httpapi.Private(r, httpapi.Operation{
		ID: "changeFiles", Method: http.MethodPost, Path: filesPath + "/batch", Tag: tagFiles,
		Summary: "Create, update, delete and rename files, all or nothing",
		Description: "At most 20 operations, of which a rename counts as two, and 3 MiB of content. No path may be named twice. " +
			"Whether a path is a file or a folder is judged by how things stand in the end. The error is that of the first operation that can't be done; its index is in the message.",
		Errors: batchErrors(),
	}, s.handleChangeFiles)
	httpapi.Private(r, httpapi.Operation{
		ID: "fileHistory", Method: http.MethodGet, Path: filesPath + "/history", Tag: tagFiles,
		Summary: "The versions of a file",
		Description: "Newest first, the current one included; kept for 30 days after they were replaced, also when the file is gone. " +
			"A rename begins a new history at the new path. To restore a version, read it and save it.",
		Errors: []*fault.Error{fault.Invalid(fault.Field("path", "is required")), ErrNotFound, errNoFile, ErrDenied},
	}, s.handleFileHistory)
}

// meetErrors are what every change of files may be answered with, changeErrors those of a change that may add to them.
var (
	meetErrors   = []*fault.Error{ErrNotFound, ErrDenied, httpapi.ErrNotMatched, httpapi.ErrRuledOut, errBusy}
	changeErrors = append([]*fault.Error{errManyFiles(DefaultQuotas()), errMuchStorage(DefaultQuotas())}, meetErrors...)
	errBadPath   = fault.Invalid(fault.Field("path", path.Check("src/app.ts")))
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

func (s *Service) handleReadFiles(ctx context.Context, _ httpapi.Caller, in *readFilesInput) (*readFilesOutput, error) {
	if in.Path != "" {
		return s.handleReadFile(ctx, in)
	}
	items, next, err := s.listFiles(ctx, in.ProjectID, fileListRequest{
		prefix: in.Prefix, content: in.Include != "", limit: in.Limit, cursor: in.Cursor,
	})
	if err != nil {
		return nil, err
	}
	return &readFilesOutput{Status: http.StatusOK, Body: &filesBody{list: &fileList{Files: items, NextCursor: next}}}, nil
}

func (s *Service) handleReadFile(ctx context.Context, in *readFilesInput) (*readFilesOutput, error) {
	known, err := httpapi.ParsePreconditions("", in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	f, data, err := s.readFile(ctx, in.ProjectID, fileRequest{path: in.Path, version: in.Version, has: known.NotModified})
	if err != nil {
		return nil, err
	}
	out := &readFilesOutput{Status: http.StatusOK, ETag: etag(f.Version)}
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

// checked is a field with the rule that it breaks, "" for none.
type checked struct{ field, rule string }

// brokenRules makes errors of those fields that break a rule.
func brokenRules(fields ...checked) []fault.Problem {
	var errs []fault.Problem
	for _, c := range fields {
		if c.rule != "" {
			errs = append(errs, fault.Field(c.field, c.rule))
		}
	}
	return errs
}

type saveFileOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The version that the file is in now"`
	Body   fileItem
}

func (s *Service) handleSaveFile(ctx context.Context, _ httpapi.Caller, in *saveFileInput) (*saveFileOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	packed, err := packContent(in.Body.data, in.Body.Encoding)
	if err != nil {
		return nil, err
	}
	plan, err := s.changeFiles(ctx, in.ProjectID, fileOperation{
		action: actSave, path: in.Body.Path, content: packed, contentID: s.newVersion(), condition: condition,
	})
	if err != nil {
		return nil, err
	}
	saved := plan.left()[0].item()
	out := &saveFileOutput{Status: http.StatusOK, ETag: saved.ETag, Body: saved}
	if plan.creates {
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

func (s *Service) handleDeleteFile(ctx context.Context, _ httpapi.Caller, in *deleteFileInput) (*doneOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	if _, err := s.changeFiles(ctx, in.ProjectID, fileOperation{action: actDelete, path: in.Path, condition: condition}); err != nil {
		return nil, err
	}
	return &doneOutput{fileDeleted}, nil
}
