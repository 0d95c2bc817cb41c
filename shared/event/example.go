package event

import (
	"fmt"
	"time"

	"devplatform/shared/clock"
)

// ExampleValues contains the real values in an example of an event. The other values are placeholders.
type ExampleValues struct {
	EventID string
	At      time.Time
	Actor   Actor
	// WorkspaceID and ProjectID identify the workspace and the project of the event. If they are empty, the example has
	// placeholders.
	WorkspaceID string
	ProjectID   string
	// Webhook is the webhook that receives the event.
	Webhook Webhook
}

// The placeholders in examples.
const (
	exampleULID      = "01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	exampleWorkspace = "ws_" + exampleULID
	exampleProject   = "prj_" + exampleULID
	exampleUser      = "usr_" + exampleULID
	exampleComment   = "cmt_" + exampleULID
	exampleSHA256    = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of "test"
)

// Example returns an example of an event of type t, which may be webhook.test. The example has all the data that events
// of the type have. Example returns an error if the type is unknown or the actor is empty.
func Example(t Type, v ExampleValues) (Text, error) {
	payload := Payload{ID: v.EventID, Type: t, Timestamp: clock.Stamp(v.At)}
	if data, ok := examples[t]; ok {
		payload.Data = data(v)
	}
	payload.Data.Actor = v.Actor
	if !t.accepts(payload.Data) {
		return "", fmt.Errorf("event: cannot make an example of %q: the type is unknown, or the actor is missing", t)
	}
	return payload.text()
}

// examples contains the data of each type.
var examples = map[Type]func(ExampleValues) Data{
	ProjectCreated: func(v ExampleValues) Data { return Data{Project: v.project()} },
	ProjectUpdated: func(v ExampleValues) Data { return Data{Project: v.project(), Changes: []string{"name"}} },
	ProjectDeleted: func(v ExampleValues) Data { return Data{Project: v.project()} },
	ProjectDeployed: func(v ExampleValues) Data {
		d := deployment(v)
		d.Reason = "deploy"
		return d
	},
	FileCreated:   file,
	FileUpdated:   file,
	FileDeleted:   file,
	MemberAdded:   member,
	MemberRemoved: member,
	CommentCreated: func(v ExampleValues) Data {
		path, line := "/src/app.ts", 12
		return Data{Project: v.projectName(), Comment: &Comment{ID: exampleComment, Path: &path, Line: &line, Body: "Nice."}}
	},
	DeploymentCompleted: deployment,
	WebhookTest:         func(v ExampleValues) Data { return Data{Webhook: &v.Webhook} },
}

func (v ExampleValues) project() *Project {
	p := v.projectName()
	p.Slug, p.Framework, p.Visibility, p.WorkspaceID = "todo-list", "react", "private", v.workspaceID()
	return p
}

// projectName returns the project with its ID and name only, as in the events of its files and comments.
func (v ExampleValues) projectName() *Project {
	p := Project{ID: v.ProjectID, Name: "Todo list"}
	if p.ID == "" {
		p.ID = exampleProject
	}
	return &p
}

func (v ExampleValues) workspaceID() string {
	if v.WorkspaceID == "" {
		return exampleWorkspace
	}
	return v.WorkspaceID
}

func file(v ExampleValues) Data {
	return Data{
		Project: v.projectName(),
		File:    &File{Path: "/src/app.ts", Size: len("test"), SHA256: exampleSHA256, Version: exampleULID},
	}
}

func member(v ExampleValues) Data {
	return Data{
		Workspace: &Workspace{ID: v.workspaceID(), Name: "Team"},
		Member:    &Member{UserID: exampleUser, Username: "grace", Role: "member"},
	}
}

func deployment(v ExampleValues) Data {
	return Data{Project: v.projectName(), Deployment: &Deployment{
		ID: "dpl_" + exampleULID, Status: "ready", URL: "https://todo-list--k3j5n2m4p6q7r2s4.example.app", Version: 7,
		Target: "production",
	}}
}
