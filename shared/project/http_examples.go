package project

import (
	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
)

// shownULID is the ULID of the examples.
const shownULID = "01K9ZQ3V7M8T5XW2ABCDEFGHJK"

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
	out.Body.Files = []file.Item{file.Example()}
	return httpapi.Examples{Response: out.Body}
}

// feedExamples show an event as it is told.
func feedExamples() httpapi.Examples {
	var out feedOutput
	out.Body.Events = []event.Text{event.Shown(event.FileCreated, httpapi.ExampleTime)}
	return httpapi.Examples{Response: out.Body}
}
