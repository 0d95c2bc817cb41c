// Package file reads, saves and deletes the files of a project, applies batches of changes, and lists the versions of a
// file.
//
// Every change of files takes the same path. A handler (http_*.go) calls apply (change.go), which reads the state of
// the project (store_change.go), makes a plan with a pure function (change.go), and commits it (store_change.go).
// Package workspace decides whether the user may change the project. The steps in other files matter only for some
// requests: collision.go for new files, content.go for large contents, limits.go for projects without room, upload.go
// for uploads.
package file

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"

	"devplatform/shared/clock"
	"devplatform/shared/contenttype"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/content"
)

// Encoding is the representation of content as a JSON string.
type Encoding string

// Encodings of content.
const (
	UTF8   Encoding = "utf-8"
	Base64 Encoding = "base64"
)

// File is the stored record of a file, without the content. It is the current version or a replaced version. The
// attribute names are part of the data format.
type File struct {
	Path     string   `dynamodbav:"-"` // stored in the key
	Size     int      `dynamodbav:"size"`
	SHA256   []byte   `dynamodbav:"sha256"`
	Encoding Encoding `dynamodbav:"encoding"`
	Version  string   `dynamodbav:"version"` // a ULID, new with every change
	// ContentType is the media type that the client set when it uploaded the file. It is empty for other files.
	ContentType string `dynamodbav:"contentType,omitempty"`
	content.Ref
	CreatedAt clock.Timestamp `dynamodbav:"createdAt"`
	UpdatedAt clock.Timestamp `dynamodbav:"updatedAt"`
	UpdatedBy string          `dynamodbav:"updatedBy"`
	// ExpiresAt is when a replaced version is removed, in seconds since 1970. It is 0 for the current version.
	ExpiresAt int64 `dynamodbav:"expiresAt,omitempty"`
}

// Tree is the record that maps a project's ID to its workspace and counts the project's files. Each transaction that
// changes a project also checks or updates the tree of the project. The attribute names are part of the data format.
type Tree struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
	// Version is incremented by every transaction that creates files, Folders by every transaction that may create a
	// folder, and Removed by every transaction that removes a path. A rename increments Version and Removed. See
	// plan.noCollision.
	Version int `dynamodbav:"version"`
	Folders int `dynamodbav:"folders,omitempty"`
	Removed int `dynamodbav:"removed,omitempty"`
	Files   int `dynamodbav:"files"`
	Bytes   int `dynamodbav:"bytes"` // of the current contents, decoded, and of the open uploads
	// Uploads is the number of open uploads.
	Uploads int `dynamodbav:"uploads,omitempty"`
	// Revision is incremented by every transaction that changes a file or deletes an old version, so it identifies a
	// state of the files and their old versions.
	Revision int `dynamodbav:"changes"`
	// OldBytes is the total size of the old versions, decoded. Versions that have expired since the last recount are
	// still included. A version that expires before OldRecountAt may be included or not.
	OldBytes int `dynamodbav:"oldBytes"`
	// OldRecountAt is the time from which OldBytes may be counted again, in seconds since 1970. It is 0 for a new project.
	OldRecountAt int64 `dynamodbav:"oldRecountAt"`
}

// FileItem is a file as clients see it.
type FileItem struct {
	Path        string          `json:"path" doc:"The path of the file in the project" example:"/src/app.ts"`
	Size        int             `json:"size" doc:"The size of the decoded content, in bytes" example:"10"`
	ContentType string          `json:"contentType" doc:"The media type that was set when the file was uploaded. If none was set, it is derived from the extension of the path and the encoding" example:"text/typescript; charset=utf-8"`
	Encoding    Encoding        `json:"encoding" enum:"utf-8,base64" doc:"The encoding of the content field. If the content field is absent, the encoding with which the content was saved" example:"utf-8"`
	SHA256      string          `json:"sha256" doc:"The SHA-256 hash of the decoded content, in hexadecimal" example:"7992a39d6cde5e050eb78461a8bf9ad986175a94826e835c110b3967290bd249"`
	ETag        string          `json:"etag" doc:"The entity tag for If-Match: the version in double quotes" example:"\"01K9ZQ3V7M8T5XW2ABCDEFGHJK\""`
	Version     string          `json:"version" doc:"The ID of this version. Every change creates a new version, and so does a rename" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	CreatedAt   clock.Timestamp `json:"createdAt" doc:"When the file was created. A rename does not change it" example:"2026-01-31T08:15:30.123Z"`
	UpdatedAt   clock.Timestamp `json:"updatedAt" doc:"When this version was created" example:"2026-01-31T08:15:30.123Z"`
	UpdatedBy   string          `json:"updatedBy" doc:"The ID of the user who created this version" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	URL         string          `json:"url,omitzero" doc:"A URL from which the content can be downloaded without a session, for 5 minutes. Present instead of content if the content was requested and is larger than 1 MiB. The response has the headers Content-Type and Content-Disposition: attachment. For a new URL, read the file again without If-None-Match" example:"https://bucket.s3.eu-central-1.amazonaws.com/contents/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK/01K9ZQ3V7M8T5XW2ABCDEFGHJK?X-Amz-Expires=300"`
	Content     *string         `json:"content,omitzero" nullable:"false" doc:"The content, if it was requested and has at most 1 MiB. It is base64 if encoding is base64. Text is returned as base64 if escaping it in JSON would double its length" example:"export {}\n"`
}

// MaxJSON implements httpapi.Bounded.
func (i FileItem) MaxJSON() int {
	const others = 700 // the names and the other values, with their quotes escaped
	text := len(i.Path) + len(i.ContentType) + len(i.URL) + len(i.UpdatedBy) + len(i.ETag)
	if i.Content != nil {
		text += len(*i.Content)
	}
	return others + httpapi.MaxJSONByte*text
}

// IsLarge reports whether the content of the file is too large to be loaded into memory. It was uploaded, and can only
// be downloaded.
func (f File) IsLarge() bool { return f.Size > content.MaxBytes }

// ETag returns the file's entity tag. It is a strong tag, because every change creates a new version.
func (f File) ETag() string { return `"` + f.Version + `"` }

// Item returns the file as clients see it, without its content.
func (f File) Item() FileItem {
	return FileItem{
		Path: f.Path, Size: f.Size, Encoding: f.Encoding,
		ContentType: cmp.Or(f.ContentType, contenttype.Of(f.Path, f.Encoding == UTF8)),
		SHA256:      hex.EncodeToString(f.SHA256), ETag: f.ETag(), Version: f.Version,
		CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt, UpdatedBy: f.UpdatedBy,
	}
}

// itemWith returns the file as clients see it, with its content.
func (f File) itemWith(data []byte) FileItem {
	item := f.Item()
	text := string(data)
	if f.Encoding != UTF8 || !content.FitsJSON(data) {
		item.Encoding, text = Base64, base64.StdEncoding.EncodeToString(data)
	}
	item.Content = &text
	return item
}

// event returns the file as it appears in events.
func (f File) event() *event.File {
	return &event.File{Path: f.Path, Size: f.Size, SHA256: hex.EncodeToString(f.SHA256), Version: f.Version}
}
