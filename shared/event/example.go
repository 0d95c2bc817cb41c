package event

import (
	"fmt"
	"time"

	"devplatform/shared/clock"
)

// Scene contains the real values in an example of an event. Its other values are placeholders.
type Scene struct {
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
	exampleWorkspace = "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	exampleProject   = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	exampleUser      = "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	exampleComment   = "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	exampleVersion   = "01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	exampleSHA256    = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of "test"
)

// Example returns an example of an event of a type, or of webhook.test, with all the data that such events have. It
// returns an error if the type is unknown or the scene has no actor.
func Example(t Type, s Scene) (Text, error) {
	payload := Payload{ID: s.EventID, Type: t, Timestamp: clock.Stamp(s.At)}
	if data, ok := examples[t]; ok {
		payload.Data = data(s)
	}
	payload.Data.Actor = s.Actor
	if !t.accepts(payload.Data) {
		return "", fmt.Errorf("event: cannot make an example of %q: the type is unknown, or the actor is missing", t)
	}
	return payload.text()
}

// examples contains the data of each type.
var examples = map[Type]func(Scene) Data{
	ProjectCreated:  func(s Scene) Data { return Data{Project: s.project()} },
	ProjectUpdated:  func(s Scene) Data { return Data{Project: s.project(), Changes: []string{"name"}} },
	ProjectDeleted:  func(s Scene) Data { return Data{Project: s.project()} },
	ProjectDeployed: deployment,
	FileCreated:     file,
	FileUpdated:     file,
	FileDeleted:     file,
	MemberAdded:     member,
	MemberRemoved:   member,
	CommentCreated: func(s Scene) Data {
		path, line := "/src/app.ts", 12
		return Data{Project: s.projectName(), Comment: &Comment{ID: exampleComment, Path: &path, Line: &line, Body: "Nice."}}
	},
	DeploymentCompleted: deployment,
	WebhookTest:         func(s Scene) Data { return Data{Webhook: &s.Webhook} },
}

func (s Scene) project() *Project {
	p := s.projectName()
	p.Slug, p.Framework, p.Visibility, p.WorkspaceID = "todo-list", "react", "private", s.workspaceID()
	return p
}

// projectName returns the project with its ID and name only, as in the events of its files and comments.
func (s Scene) projectName() *Project {
	p := Project{ID: s.ProjectID, Name: "Todo list"}
	if p.ID == "" {
		p.ID = exampleProject
	}
	return &p
}

func (s Scene) workspaceID() string {
	if s.WorkspaceID == "" {
		return exampleWorkspace
	}
	return s.WorkspaceID
}

func file(s Scene) Data {
	return Data{
		Project: s.projectName(),
		File:    &File{Path: "/src/app.ts", Size: len("test"), SHA256: exampleSHA256, Version: exampleVersion},
	}
}

func member(s Scene) Data {
	return Data{
		Workspace: &Workspace{ID: s.workspaceID(), Name: "Team"},
		Member:    &Member{UserID: exampleUser, Username: "grace", Role: "member"},
	}
}

func deployment(s Scene) Data {
	return Data{Project: s.projectName(), Deployment: &Deployment{
		ID: "dep_" + exampleVersion, Status: "succeeded", URL: "https://todo-list.example.com", Version: exampleVersion,
	}}
}
