package event

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// Payload is an event as it is sent to webhooks and listed in the feed.
type Payload struct {
	ID        string          `json:"id" doc:"The event's ID, the same for every subscriber and attempt" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Type      Type            `json:"type" doc:"The type of the event" example:"file.created"`
	Timestamp clock.Timestamp `json:"timestamp" doc:"The time of the change" example:"2026-01-31T08:15:30.123Z"`
	Data      Data            `json:"data" doc:"The actor and the subject of the event"`
}

// Data contains the actor and the subject of an event. The type determines which fields are set.
type Data struct {
	Actor      Actor       `json:"actor" doc:"The user who made the change"`
	Project    *Project    `json:"project,omitempty" doc:"The project. Events of files and comments contain only its ID and name"`
	Changes    []string    `json:"changes,omitempty" nullable:"false" doc:"The names of the fields that changed, in project.updated" example:"[\"name\"]"`
	File       *File       `json:"file,omitempty" doc:"The file without its content, in file.* events"`
	Workspace  *Workspace  `json:"workspace,omitempty" doc:"The workspace, in member.* events"`
	Member     *Member     `json:"member,omitempty" doc:"The member, in member.* events"`
	Comment    *Comment    `json:"comment,omitempty" doc:"The comment, in comment.created"`
	Deployment *Deployment `json:"deployment,omitempty" doc:"The deployment, in project.deployed and deployment.completed"`
	Reason     string      `json:"reason,omitempty" enum:"deploy,promote" doc:"Why the deployment is live, in project.deployed: deploy, or promote for a promotion or a rollback" example:"deploy"`

	// Events in the feed do not have this field, so the documentation of the feed hides it.
	Webhook *Webhook `json:"webhook,omitempty" hidden:"true"`
}

// Actor is the user who made the change.
type Actor struct {
	ID       string `json:"id" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's username" example:"ada"`
}

// Project is a project in an event.
type Project struct {
	ID          string `json:"id" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name        string `json:"name" doc:"The project's name" example:"Todo list"`
	Slug        string `json:"slug,omitempty" doc:"The project's slug" example:"todo-list"`
	Framework   string `json:"framework,omitempty" doc:"The project's framework" example:"react"`
	Visibility  string `json:"visibility,omitempty" doc:"The project's visibility" example:"private"`
	WorkspaceID string `json:"workspaceId,omitempty" doc:"The ID of the project's workspace" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// File is a file in an event. A deleted file is described as it was before the deletion.
type File struct {
	Path    string `json:"path" doc:"The file's path in the project" example:"/src/app.ts"`
	Size    int    `json:"size" doc:"The file's size in bytes" example:"4"`
	SHA256  string `json:"sha256" doc:"The SHA-256 of the file's content, in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Version string `json:"version" doc:"The file's version" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Workspace is a workspace in an event.
type Workspace struct {
	ID   string `json:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name string `json:"name" doc:"The workspace's name" example:"Team"`
}

// Member is a member in an event.
type Member struct {
	UserID   string `json:"userId" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's username" example:"grace"`
	Role     string `json:"role" doc:"The member's role" example:"member"`
}

// Comment is a comment in an event.
type Comment struct {
	ID   string  `json:"id" doc:"The comment's ID" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Path *string `json:"path" doc:"The path of the file that the comment is about, null for a comment about the project" example:"/src/app.ts"`
	Line *int    `json:"line" doc:"The line that the comment is about, null for a comment about the whole file or project" example:"12"`
	Body string  `json:"body" doc:"The comment's text" example:"Nice."`
}

// Deployment is a deployment in an event.
type Deployment struct {
	ID      string `json:"id" doc:"The deployment's ID" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status  string `json:"status" enum:"ready,failed,canceled" doc:"The outcome of the deployment" example:"ready"`
	URL     string `json:"url" doc:"The address of the deployment, which never changes" example:"https://todo-list--k3j5n2m4p6q7r2s4.example.app"`
	Version int    `json:"version" doc:"The deployment's number in its project, counted from 1" example:"7"`
	Target  string `json:"target" enum:"production,preview" doc:"The target of the deployment" example:"production"`
}

// Webhook is the webhook in a webhook.test event.
type Webhook struct {
	ID  string `json:"id" doc:"The webhook's ID" example:"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	URL string `json:"url,omitempty" doc:"The URL that receives events" example:"https://example.com/hooks"`
}

// Text is the JSON of a Payload as it was encoded when the event was created. Webhooks and the feed get exactly these
// bytes. Decoding and encoding them again could lose fields that this version of the code does not know.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(t), nil }

// text encodes the payload.
func (p Payload) text() (Text, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("event: payload: %w", err)
	}
	return Text(text), nil
}
