// Package event is what happened: the types of domain events, their payloads as subscribers see them (API.md §7), and the
// outbox item that carries an event in the transaction of the change that it tells of. Who is told, and how, is not
// known here; nothing but a change makes an event.
package event

import (
	"slices"

	"devplatform/shared/clock"
)

// Type names a kind of event.
type Type string

// The types of API.md §7.
const (
	ProjectCreated      Type = "project.created"
	ProjectUpdated      Type = "project.updated"
	ProjectDeleted      Type = "project.deleted"
	ProjectDeployed     Type = "project.deployed"
	FileCreated         Type = "file.created"
	FileUpdated         Type = "file.updated"
	FileDeleted         Type = "file.deleted"
	MemberAdded         Type = "member.added"
	MemberRemoved       Type = "member.removed"
	CommentCreated      Type = "comment.created"
	DeploymentCompleted Type = "deployment.completed"
	WebhookTest         Type = "webhook.test"
)

// traits are what is known of a type.
type traits struct {
	// hasSubject says whether the data have what the type is about.
	hasSubject func(Data) bool
	// from says where its events come from.
	from origin
}

type origin int

const (
	nowhere  origin = iota // yet: it can be subscribed to all the same
	change                 // a change emits it
	notEvent               // it is no event: one webhook is sent it, to test it
)

// kinds are all types (API.md §7).
var kinds = map[Type]traits{
	ProjectCreated:      {aboutProject, change},
	ProjectUpdated:      {func(d Data) bool { return aboutProject(d) && len(d.Changes) > 0 }, change},
	ProjectDeleted:      {aboutProject, change},
	ProjectDeployed:     {aboutDeployment, nowhere},
	FileCreated:         {aboutFile, change},
	FileUpdated:         {aboutFile, change},
	FileDeleted:         {aboutFile, change},
	MemberAdded:         {aboutMember, change},
	MemberRemoved:       {aboutMember, change},
	CommentCreated:      {func(d Data) bool { return aboutProject(d) && d.Comment != nil }, change},
	DeploymentCompleted: {aboutDeployment, nowhere},
	WebhookTest:         {func(d Data) bool { return d.Webhook != nil }, notEvent},
}

// complete reports whether data have all that subscribers rely on in an event of the type.
func (t Type) complete(d Data) bool {
	kind, ok := kinds[t]
	return ok && kind.hasSubject(d) && d.Actor != (Actor{})
}

// typesFrom are the types whose events come from any of the origins, sorted.
func typesFrom(origins ...origin) []string {
	var all []string
	for t, kind := range kinds {
		if slices.Contains(origins, kind.from) {
			all = append(all, string(t))
		}
	}
	slices.Sort(all)
	return all
}

func aboutProject(d Data) bool { return d.Project != nil }

func aboutFile(d Data) bool { return aboutProject(d) && d.File != nil }

func aboutMember(d Data) bool { return d.Workspace != nil && d.Member != nil }

func aboutDeployment(d Data) bool { return aboutProject(d) && d.Deployment != nil }

// Payload is an event as the feed and every subscriber get it.
type Payload struct {
	ID        string          `json:"id" doc:"The event's id, the same for every subscriber and attempt" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Type      Type            `json:"type" doc:"What kind of event it is" example:"file.created"`
	Timestamp clock.Timestamp `json:"timestamp" doc:"When it happened" example:"2026-01-31T08:15:30.123Z"`
	Data      Data            `json:"data" doc:"What it happened to, and who did it"`
}

// Data is an event's subject and actor. Which fields are set follows from the type.
type Data struct {
	Actor     Actor      `json:"actor" doc:"Who did it"`
	Project   *Project   `json:"project,omitempty" doc:"The project: whole in project.* events, id and name in those of its files and comments"`
	Changes   []string   `json:"changes,omitempty" nullable:"false" doc:"The fields that changed, of project.updated" example:"[\"name\"]"`
	File      *File      `json:"file,omitempty" doc:"The file, of file.* events; never its content"`
	Workspace *Workspace `json:"workspace,omitempty" doc:"The workspace, of member.* events"`
	Member    *Member    `json:"member,omitempty" doc:"The member, of member.* events"`
	Comment   *Comment   `json:"comment,omitempty" doc:"The comment, of comment.created"`

	// What no event of the feed has: its description does not tell of them.
	Deployment *Deployment `json:"deployment,omitempty" hidden:"true"`
	Webhook    *Webhook    `json:"webhook,omitempty" hidden:"true"`
}

// Actor is the person who made the change.
type Actor struct {
	ID       string `json:"id" doc:"The user's id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's name" example:"ada"`
}

// Project is a project in an event.
type Project struct {
	ID          string `json:"id" doc:"The project's id" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name        string `json:"name" doc:"Its name" example:"Todo list"`
	Slug        string `json:"slug,omitempty" doc:"Its slug" example:"todo-list"`
	Framework   string `json:"framework,omitempty" doc:"Its framework" example:"react"`
	Visibility  string `json:"visibility,omitempty" doc:"Who sees it" example:"private"`
	WorkspaceID string `json:"workspaceId,omitempty" doc:"The workspace that it is in" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// File is a file in an event; a deleted one as it was.
type File struct {
	Path    string `json:"path" doc:"Its path in the project" example:"/src/app.ts"`
	Size    int    `json:"size" doc:"Bytes" example:"4"`
	SHA256  string `json:"sha256" doc:"SHA-256 of its bytes, in hex" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Version string `json:"version" doc:"Its version" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Workspace is a workspace in an event.
type Workspace struct {
	ID   string `json:"id" doc:"The workspace's id" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Name string `json:"name" doc:"Its name" example:"Team"`
}

// Member is a member in an event.
type Member struct {
	UserID   string `json:"userId" doc:"The user's id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's name" example:"grace"`
	Role     string `json:"role" doc:"What they may do" example:"member"`
}

// Comment is a comment in an event.
type Comment struct {
	ID   string  `json:"id" doc:"The comment's id" example:"cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Path *string `json:"path" doc:"The file that it is about, null if about the project" example:"/src/app.ts"`
	Line *int    `json:"line" doc:"The line that it is about, null if about the whole" example:"12"`
	Body string  `json:"body" doc:"What it says" example:"Nice."`
}

// Deployment is a deployment in an event.
type Deployment struct {
	ID      string `json:"id" doc:"The deployment's id" example:"dep_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Status  string `json:"status" doc:"What came of it" example:"succeeded"`
	URL     string `json:"url" doc:"Where it is reached" example:"https://todo-list.example.com"`
	Version string `json:"version" doc:"What was deployed" example:"01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// Webhook is a webhook in webhook.test.
type Webhook struct {
	ID  string `json:"id" doc:"The webhook's id" example:"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	URL string `json:"url,omitempty" doc:"Where it is told" example:"https://example.com/hooks"`
}
