package event

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// Payload is an event as subscribers and the feed see it.
type Payload struct {
	ID        string          `json:"id" doc:"The event's ID, the same for every subscriber and attempt" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Type      Type            `json:"type" doc:"What kind of event it is" example:"file.created"`
	Timestamp clock.Timestamp `json:"timestamp" doc:"When it happened" example:"2026-01-31T08:15:30.123Z"`
	Data      Data            `json:"data" doc:"What it happened to, and who did it"`
}

// Data contains the actor and the subject of an event. The type determines which fields are set.
type Data struct {
	Actor     Actor      `json:"actor" doc:"Who did it"`
	Project   *Project   `json:"project,omitempty" doc:"The project: whole in project.* events, id and name in those of its files and comments"`
	Changes   []string   `json:"changes,omitempty" nullable:"false" doc:"The fields that changed, of project.updated" example:"[\"name\"]"`
	File      *File      `json:"file,omitempty" doc:"The file, of file.* events; never its content"`
	Workspace *Workspace `json:"workspace,omitempty" doc:"The workspace, of member.* events"`
	Member    *Member    `json:"member,omitempty" doc:"The member, of member.* events"`
	Comment   *Comment   `json:"comment,omitempty" doc:"The comment, of comment.created"`

	// Events of the feed do not have these, so they are not part of its documentation.
	Deployment *Deployment `json:"deployment,omitempty" hidden:"true"`
	Webhook    *Webhook    `json:"webhook,omitempty" hidden:"true"`
}

// Actor is the user who made the change.
type Actor struct {
	ID       string `json:"id" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's name" example:"ada"`
}

// Project is a project in an event.
type Project struct {
	ID          string `json:"id" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name        string `json:"name" doc:"Its name" example:"Todo list"`
	Slug        string `json:"slug,omitempty" doc:"Its slug" example:"todo-list"`
	Framework   string `json:"framework,omitempty" doc:"Its framework" example:"react"`
	Visibility  string `json:"visibility,omitempty" doc:"Its visibility" example:"private"`
	WorkspaceID string `json:"workspaceId,omitempty" doc:"The ID of its workspace" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// File is a file in an event. A deleted file is described as it was before.
type File struct {
	Path    string `json:"path" doc:"Its path in the project" example:"/src/app.ts"`
	Size    int    `json:"size" doc:"Bytes" example:"4"`
	SHA256  string `json:"sha256" doc:"SHA-256 of its bytes, in hex" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Version string `json:"version" doc:"Its version" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Workspace is a workspace in an event.
type Workspace struct {
	ID   string `json:"id" doc:"The workspace's ID" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name string `json:"name" doc:"Its name" example:"Team"`
}

// Member is a member in an event.
type Member struct {
	UserID   string `json:"userId" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's name" example:"grace"`
	Role     string `json:"role" doc:"Their role" example:"member"`
}

// Comment is a comment in an event.
type Comment struct {
	ID   string  `json:"id" doc:"The comment's ID" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Path *string `json:"path" doc:"The path of the file that it is about, null if it is about the project" example:"/src/app.ts"`
	Line *int    `json:"line" doc:"The line that it is about, null if it is about the whole file or project" example:"12"`
	Body string  `json:"body" doc:"Its text" example:"Nice."`
}

// Deployment is a deployment in an event.
type Deployment struct {
	ID      string `json:"id" doc:"The deployment's ID" example:"dep_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status  string `json:"status" doc:"Its outcome" example:"succeeded"`
	URL     string `json:"url" doc:"Its address" example:"https://todo-list.example.com"`
	Version string `json:"version" doc:"The version that was deployed" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Webhook is the webhook in a webhook.test.
type Webhook struct {
	ID  string `json:"id" doc:"The webhook's ID" example:"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	URL string `json:"url,omitempty" doc:"The URL that receives events" example:"https://example.com/hooks"`
}

// Text is the JSON of a Payload as it was encoded when the event happened. Subscribers and the feed get these bytes.
// Decoding and encoding them again could lose fields that this version of the code does not know.
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
