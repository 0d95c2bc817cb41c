package project

import (
	"encoding/hex"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
	"devplatform/shared/project/path"
)

var errNoFile = fault.New(fault.CodeFileNotFound, "There is no such file.")

// file is a file's record with the path that it is stored under.
type file struct {
	Path string
	fileRecord
}

// fileItem is a file as clients see it (API.md §5). Its etag is the version in quotes, as the ETag header has it.
type fileItem struct {
	Path        string          `json:"path" doc:"Its path in the project" example:"/src/app.ts"`
	Size        int             `json:"size" doc:"Bytes of the content, decoded" example:"10"`
	ContentType string          `json:"contentType" doc:"The media type that the path's extension promises" example:"text/typescript; charset=utf-8"`
	Encoding    Encoding        `json:"encoding" enum:"utf-8,base64" doc:"How the content was saved; beside a content: how that is to be read" example:"utf-8"`
	SHA256      string          `json:"sha256" doc:"SHA-256 of the content's bytes, in hex" example:"7992a39d6cde5e050eb78461a8bf9ad986175a94826e835c110b3967290bd249"`
	ETag        string          `json:"etag" doc:"What If-Match takes: the version in quotes" example:"\"01K9ZQ3V7M8T5XW2ABCDEFGHJK\""`
	Version     string          `json:"version" doc:"New with every change, by a rename too" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	CreatedAt   clock.Timestamp `json:"createdAt" doc:"When the file was created; a rename keeps it" example:"2026-01-31T08:15:30.123Z"`
	UpdatedAt   clock.Timestamp `json:"updatedAt" doc:"When this version was made" example:"2026-01-31T08:15:30.123Z"`
	UpdatedBy   string          `json:"updatedBy" doc:"The id of the user who made this version" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Content     *string         `json:"content,omitzero" nullable:"false" doc:"The content, where it was asked for; base64 if encoding says so, as it does of text that JSON would make twice as long" example:"export {}\n"`
}

// etag is the entity tag of a version (RFC 9110 §8.8.3): strong, for it is new with every change.
func etag(version string) string { return `"` + version + `"` }

// item is the file as clients see it, without its content.
func (f file) item() fileItem {
	return fileItem{
		Path: f.Path, Size: f.Size, ContentType: path.ContentType(f.Path, f.Encoding == UTF8), Encoding: f.Encoding,
		SHA256: hex.EncodeToString(f.SHA256), ETag: etag(f.Version), Version: f.Version,
		CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt, UpdatedBy: f.UpdatedBy,
	}
}

// itemWith is the file as clients see it, with its content.
func (f file) itemWith(data []byte) fileItem {
	item := f.item()
	text := string(data)
	if f.Encoding != UTF8 || !content.FitsJSON(data) {
		item.Encoding, text = Base64, toBase64(data)
	}
	item.Content = &text
	return item
}

// event is the file as events tell of it.
func (f file) event() *event.File {
	return &event.File{Path: f.Path, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256), Version: f.Version}
}
