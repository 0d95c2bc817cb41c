package file

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

// InProject is the part of inputs that names a project. (Exported for huma's sake, as every embedded struct.)
type InProject struct {
	ProjectID string `path:"id" doc:"The project's id" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

var tagFiles = httpapi.Tag{
	Name: "Files",
	Description: "A project's files by path, with their versions of the last 30 days. Whoever writes can say, with If-Match or an etag, which version they have seen; " +
		"several changes that belong together are made as one batch.",
}

// filesPath is where files are answered.
const filesPath = "/api/projects/{id}/files"

// Register adds the endpoints of files.
func (s *Service) Register(h huma.API) {
	httpapi.Register(h, httpapi.Operation{
		ID: "readFiles", Method: http.MethodGet, Path: filesPath, Tag: tagFiles, Session: true,
		Summary: "List the files, or read one",
		Description: "Without path: the files by path, those only whose paths begin with prefix; with include=content always in pages, " +
			"which then are as large as an answer may be. With path: that file and its content, now or in the version named, which takes a member of the workspace.",
		Errors:   []*fault.Error{fault.Invalid(fault.Field("path", path.Check("src/app.ts"))), workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
		Also:     []int{http.StatusNotModified},
		Examples: readExamples,
	}, s.handleReadFiles)
	httpapi.Register(h, httpapi.Operation{
		ID: "saveFile", Method: http.MethodPost, Path: filesPath, Tag: tagFiles, Session: true,
		Summary: "Create or update a file",
		Description: "Without a precondition the last writer wins. Content that the file has already is not written again, and is no event. " +
			"CONFLICT: the path is a folder, or runs through a file.",
		Status: http.StatusOK, Also: []int{http.StatusCreated},
		Errors: append([]*fault.Error{errBadPath, errIsFolder, errInsideFile}, changeErrors...), Text: []string{"content"}, Examples: func() httpapi.Examples { return httpapi.Examples{Response: shownFile().Item()} },
	}, s.handleSaveFile)
	httpapi.Register(h, httpapi.Operation{
		ID: "deleteFile", Method: http.MethodDelete, Path: filesPath, Tag: tagFiles, Session: true,
		Summary: "Delete a file", Description: "The path is given in the query or in the body. Its versions are kept for 30 days.",
		Errors:   append([]*fault.Error{errBadPath, errNotFound}, meetErrors...),
		Examples: func() httpapi.Examples { return httpapi.Examples{Response: fileDeleted} },
	}, s.handleDeleteFile)
	httpapi.Register(h, httpapi.Operation{
		ID: "changeFiles", Method: http.MethodPost, Path: filesPath + "/batch", Tag: tagFiles, Session: true,
		Summary: "Create, update, delete and rename files, all or nothing",
		Description: "At most 20 operations, of which a rename counts as two, and 3 MiB of content. No path may be named twice. " +
			"Whether a path is a file or a folder is judged by how things stand in the end. The error is that of the first operation that can't be done; its index is in the message.",
		Errors: batchErrors(), Text: []string{"operations.*.content"}, Examples: batchExamples,
	}, s.handleChangeFiles)
	httpapi.Register(h, httpapi.Operation{
		ID: "fileHistory", Method: http.MethodGet, Path: filesPath + "/history", Tag: tagFiles, Session: true,
		Summary: "The versions of a file",
		Description: "Newest first, the current one included; kept for 30 days after they were replaced, also when the file is gone. " +
			"A rename begins a new history at the new path. To restore a version, read it and save it.",
		Errors: []*fault.Error{fault.Invalid(fault.Field("path", "is required")), workspace.ErrProjectNotFound, errNotFound, workspace.ErrDenied},
	}, s.handleFileHistory)
}

// meetErrors are what every change of files may be answered with, changeErrors those of a change that may add to them.
var (
	meetErrors   = []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied, httpapi.ErrNotMatched, httpapi.ErrRuledOut, fault.ErrConflict}
	changeErrors = append([]*fault.Error{errFileQuota(DefaultQuotas()), errStorageQuota(DefaultQuotas())}, meetErrors...)
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

// Resolve implements huma.Resolver.
func (in *readFilesInput) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	query := u.Query()
	if !query.Has("path") {
		if in.Version != "" {
			return []error{fault.Field("path", "is required with a version")}
		}
		return nil
	}
	if rule := path.Check(in.Path); rule != "" {
		return []error{fault.Field("path", rule)}
	}
	return nil
}

func (s *Service) handleReadFiles(ctx context.Context, in *readFilesInput) (*readFilesOutput, error) {
	if in.Path != "" {
		return s.handleReadFile(ctx, in)
	}
	items, next, err := s.List(ctx, httpapi.CallerFrom(ctx), in.ProjectID, Listing{
		Prefix: in.Prefix, Content: in.Include != "", PageInput: in.PageInput,
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
	f, data, err := s.Read(ctx, httpapi.CallerFrom(ctx), in.ProjectID, Selection{Path: in.Path, Version: in.Version, Known: known})
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
		Content  string   `json:"content" doc:"At most 1 MiB, decoded" example:"export {}\n"`
		Encoding Encoding `json:"encoding,omitempty" enum:"utf-8,base64" doc:"base64 for bytes that are no text; utf-8 if not given" example:"utf-8"`

		data []byte
	}
}

// Resolve implements huma.Resolver.
func (in *saveFileInput) Resolve(huma.Context) []error {
	var rule string
	in.Body.data, rule = decodeContent(in.Body.Content, in.Body.Encoding)
	return brokenRules(checked{"path", path.Check(in.Body.Path)}, checked{"content", rule})
}

// checked is a field with the rule that it breaks, "" for none.
type checked struct{ field, rule string }

// brokenRules makes errors of those fields that break a rule.
func brokenRules(fields ...checked) []error {
	var errs []error
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
	Body   Item
}

func (s *Service) handleSaveFile(ctx context.Context, in *saveFileInput) (*saveFileOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	f, created, err := s.Save(ctx, httpapi.CallerFrom(ctx), in.ProjectID, Operation{
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

// Resolve implements huma.Resolver. Afterwards Path is the path, wherever it stood.
func (in *deleteFileInput) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	if !u.Query().Has("path") {
		if in.Body != nil {
			in.Path = in.Body.Path
		}
		if in.Path == "" {
			return brokenRules(checked{"path", "is required, in the query or in the body"})
		}
		return brokenRules(checked{"path", path.Check(in.Path)})
	}
	if in.Body != nil && in.Body.Path != "" && in.Body.Path != in.Path {
		return brokenRules(checked{"path", "must be the same in the query and in the body"})
	}
	if rule := path.Check(in.Path); rule != "" {
		return []error{fault.Field("path", rule)}
	}
	return nil
}

type doneOutput struct{ Body httpapi.Done }

func (s *Service) handleDeleteFile(ctx context.Context, in *deleteFileInput) (*doneOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	if err := s.Delete(ctx, httpapi.CallerFrom(ctx), in.ProjectID, in.Path, condition); err != nil {
		return nil, err
	}
	return &doneOutput{fileDeleted}, nil
}
