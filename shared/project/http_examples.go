package project

import (
	"crypto/sha256"
	"encoding/hex"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

// What the document shows is made up of these.
const (
	shownULID    = "01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	shownContent = "export {}\n"
)

// shownFile is the file of the examples.
func shownFile() file {
	sum, at := sha256.Sum256([]byte(shownContent)), clock.Stamp(httpapi.ExampleTime)
	return file{Path: "/src/app.ts", fileRecord: fileRecord{
		Size: len(shownContent), SHA256: sum[:], Encoding: UTF8, Version: shownULID, CreatedAt: at, UpdatedAt: at,
		UpdatedBy: "usr_" + shownULID,
	}}
}

// readExamples show both answers that the one path has, and the list with contents.
func readExamples() httpapi.Examples {
	read := shownFile().itemWith([]byte(shownContent))
	return httpapi.Examples{Response: httpapi.Named{
		"list":             &filesBody{list: &fileList{Files: []fileItem{shownFile().item()}}},
		"listWithContents": &filesBody{list: &fileList{Files: []fileItem{read}}},
		"file":             &filesBody{file: &read},
	}}
}

// batchExamples show every kind of operation.
func batchExamples() httpapi.Examples {
	created, updated := shownContent, "export const a = 1\n"
	sum := sha256.Sum256([]byte(updated))
	var in changeFilesInput
	in.Body.Operations = []batchOperation{
		{Action: actCreate, Path: "/src/app.ts", Content: &created},
		{Action: actUpdate, Path: "/src/a.ts", Content: &updated, ETag: etag(shownULID)},
		{Action: actRename, Path: "/notes.md", To: "/README.md"},
		{Action: actDelete, Path: "/src/old.ts"},
	}
	var out changeFilesOutput
	second, renamed := shownFile().item(), shownFile().item()
	second.Path, second.Size, second.SHA256 = "/src/a.ts", len(updated), hex.EncodeToString(sum[:])
	renamed.Path, renamed.ContentType = "/README.md", "text/markdown; charset=utf-8"
	out.Body.Files = []fileItem{shownFile().item(), second, renamed}
	return httpapi.Examples{Request: in.Body, Response: out.Body}
}

// projectExamples show a project with a file.
func projectExamples() httpapi.Examples {
	at := clock.Stamp(httpapi.ExampleTime)
	var out projectReadOutput
	out.Body.ProjectDetails = ProjectDetails{
		ProjectItem: ProjectItem{
			ID: "prj_" + shownULID, Name: "Café Déjà", Slug: "cafe-deja", Framework: "react", Visibility: Private, LastOpenedAt: at,
			Workspace: workspaceRef{ID: "ws_" + shownULID, Name: "ada's workspace"},
		},
		Description: "Where the team meets.", CreatedAt: at, UpdatedAt: at,
	}
	out.Body.Files = []fileItem{shownFile().item()}
	return httpapi.Examples{Response: out.Body}
}

// feedExamples show an event as it is told.
func feedExamples() httpapi.Examples {
	var out feedOutput
	out.Body.Events = []event.Text{event.Shown(event.FileCreated, httpapi.ExampleTime)}
	return httpapi.Examples{Response: out.Body}
}
