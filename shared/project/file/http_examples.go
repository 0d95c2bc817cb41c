package file

import (
	"crypto/sha256"
	"encoding/hex"

	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
)

// What the document shows is made up of these.
const (
	shownULID    = "01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	shownContent = "export {}\n"
)

// shownFile is the file of the examples.
func shownFile() File {
	sum, at := sha256.Sum256([]byte(shownContent)), clock.Stamp(httpapi.ExampleTime)
	return File{
		Path: "/src/app.ts", Size: len(shownContent), SHA256: sum[:], Encoding: UTF8, Version: shownULID,
		CreatedAt: at, UpdatedAt: at, UpdatedBy: "usr_" + shownULID,
	}
}

// readExamples show both answers that the one path has, and the list with contents.
func readExamples() httpapi.Examples {
	read := shownFile().itemWith([]byte(shownContent))
	return httpapi.Examples{Response: httpapi.Named{
		"list":             &filesBody{list: &fileList{Files: []Item{shownFile().Item()}}},
		"listWithContents": &filesBody{list: &fileList{Files: []Item{read}}},
		"file":             &filesBody{file: &read},
	}}
}

// batchExamples show every kind of operation.
func batchExamples() httpapi.Examples {
	created, updated := shownContent, "export const a = 1\n"
	sum := sha256.Sum256([]byte(updated))
	var in changeFilesInput
	in.Body.Operations = []Operation{
		{Action: Create, Path: "/src/app.ts", Content: &created},
		{Action: Update, Path: "/src/a.ts", Content: &updated, ETag: shownFile().ETag()},
		{Action: Rename, Path: "/notes.md", To: "/README.md"},
		{Action: Delete, Path: "/src/old.ts"},
	}
	var out changeFilesOutput
	second, renamed := shownFile().Item(), shownFile().Item()
	second.Path, second.Size, second.SHA256 = "/src/a.ts", len(updated), hex.EncodeToString(sum[:])
	renamed.Path, renamed.ContentType = "/README.md", "text/markdown; charset=utf-8"
	out.Body.Files = []Item{shownFile().Item(), second, renamed}
	return httpapi.Examples{Request: in.Body, Response: out.Body}
}

// Example returns the file of the examples.
func Example() Item { return shownFile().Item() }
