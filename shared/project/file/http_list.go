package file

import (
	"context"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"devplatform/shared/fault"
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
	Files      []Item `json:"files" nullable:"false" doc:"By path"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Where the list goes on; absent on the last page"`
}

// filesBody is a list of files or one file: the one path answers with either.
type filesBody struct {
	list *fileList
	file *Item
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

// Schema implements huma.SchemaProvider.
func (*filesBody) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[fileList](), true, "FileList"), r.Schema(reflect.TypeFor[Item](), true, "FileItem"),
	}}
}

type fileHistoryInput struct {
	InProject
	httpapi.PageInput
	Path string `query:"path" required:"true" doc:"The file's path" example:"/src/app.ts"`
}

// Resolve implements huma.Resolver.
func (in *fileHistoryInput) Resolve(huma.Context) []error {
	if rule := path.Check(in.Path); rule != "" {
		return []error{fault.Field("path", rule)}
	}
	return nil
}

type fileHistoryOutput struct {
	Body struct {
		Versions   []VersionItem `json:"versions" nullable:"false" doc:"Newest first"`
		NextCursor string        `json:"nextCursor,omitempty" doc:"Where the list goes on; absent on the last page"`
	}
}

func (s *Service) handleFileHistory(ctx context.Context, in *fileHistoryInput) (*fileHistoryOutput, error) {
	out := &fileHistoryOutput{}
	var err error
	out.Body.Versions, out.Body.NextCursor, err = s.History(ctx, httpapi.CallerFrom(ctx), in.ProjectID, in.Path, in.PageInput)
	return out, err
}
