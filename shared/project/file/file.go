// Package file is the files of a project: reading, saving and deleting them, batches, and the versions of a file.
//
// Calls go one way: handlers (http*.go) call the Service (change.go, read.go, history.go, view.go), which asks pure
// functions to decide (operation.go, plan.go) and the store to read and write. Whether a user may see or change a
// project is decided by package workspace.
package file

import (
	"encoding/hex"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/project/content"
	"devplatform/shared/project/path"
)

var errNotFound = fault.New(fault.CodeFileNotFound, "There is no such file.")

// Encoding says how JSON carries a content.
type Encoding string

// The encodings.
const (
	UTF8   Encoding = "utf-8"
	Base64 Encoding = "base64"
)

// File is a file without its content, as it is stored. It is the current version of a file, or a version that was
// replaced. The attribute names are part of the data format.
type File struct {
	Path     string   `dynamodbav:"-"` // the record's key has it
	Size     int      `dynamodbav:"size"`
	SHA256   []byte   `dynamodbav:"sha256"`
	Encoding Encoding `dynamodbav:"encoding"`
	Version  string   `dynamodbav:"version"` // a ULID, new with every change
	content.Ref
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
	UpdatedAt clock.Timestamp `dynamodbav:"updatedAt"`
	UpdatedBy string          `dynamodbav:"updatedBy"`
	// ExpiresAt is when a replaced version is removed, in seconds since 1970. It is 0 for the current version.
	ExpiresAt int64 `dynamodbav:"expiresAt,omitempty"`
}

// Tree is the record that finds a project by its ID and counts its files. Every write to a project requires it. The
// attribute names are part of the data format.
type Tree struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
	Version     int    `dynamodbav:"version"` // incremented by every creation and rename: they can make paths collide
	Files       int    `dynamodbav:"files"`
	Bytes       int    `dynamodbav:"bytes"` // of the current contents, decoded
}

// FileItem is a file as clients see it.
type FileItem struct {
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

// ETag returns the file's entity tag: strong, because the version is new with every change.
func (f File) ETag() string { return `"` + f.Version + `"` }

// Item returns the file as clients see it, without its content.
func (f File) Item() FileItem {
	return FileItem{
		Path: f.Path, Size: f.Size, ContentType: path.ContentType(f.Path, f.Encoding == UTF8), Encoding: f.Encoding,
		SHA256: hex.EncodeToString(f.SHA256), ETag: f.ETag(), Version: f.Version,
		CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt, UpdatedBy: f.UpdatedBy,
	}
}

// itemWith returns the file as clients see it, with its content.
func (f File) itemWith(data []byte) FileItem {
	item := f.Item()
	text := string(data)
	if f.Encoding != UTF8 || !content.FitsJSON(data) {
		item.Encoding, text = Base64, toBase64(data)
	}
	item.Content = &text
	return item
}

// event returns the file as events show it.
func (f File) event() *event.File {
	return &event.File{Path: f.Path, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256), Version: f.Version}
}
