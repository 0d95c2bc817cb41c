package project

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"devplatform/shared/httpapi"
	"devplatform/shared/project/path"
)

// readFilesOutput answers both a listing and a reading.
type readFilesOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The version of the file that was read"`
	Body   *filesBody
}

// fileList is a page of a project's files.
type fileList struct {
	Files      []fileItem `json:"files" nullable:"false" doc:"By path"`
	NextCursor string     `json:"nextCursor,omitempty" doc:"Where the list goes on; absent on the last page"`
}

// filesBody is a list of files or one file.
type filesBody struct {
	list *fileList `oneOf:"FileList"`
	file *fileItem `oneOf:"FileItem"`
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

type fileHistoryInput struct {
	InProject
	httpapi.PageInput
	Path string `query:"path" required:"true" doc:"The file's path" example:"/src/app.ts"`
}

// Validate checks the path.
func (in *fileHistoryInput) Validate(v *httpapi.Validation) { v.Field("path", path.Check(in.Path)) }

type fileHistoryOutput struct {
	Body struct {
		Versions   []versionItem `json:"versions" nullable:"false" doc:"Newest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Where the list goes on; absent on the last page"`
	}
}

func (s *Service) handleFileHistory(ctx context.Context, _ httpapi.Caller, in *fileHistoryInput) (*fileHistoryOutput, error) {
	out := &fileHistoryOutput{}
	var err error
	out.Body.Versions, out.Body.NextCursor, err = s.fileHistory(ctx, in.ProjectID, in.Path, logPage(in.PageInput))
	return out, err
}
