// Package action is what an answer does to a project's files: the actions of API.md §6.1, the tools by which a model states them,
// the check of each against the project, and what all of them come to as one batch. Who asked, which model answered, and how files
// are stored are not known here.
package action

import (
	"context"
	"fmt"
)

// Type is what an action does.
type Type string

// The types of API.md §6.1.
const (
	CreateFile    Type = "create_file"
	UpdateFile    Type = "update_file"
	EditFile      Type = "edit_file"
	DeleteFile    Type = "delete_file"
	RenameFile    Type = "rename_file"
	AddDependency Type = "add_dependency"
)

// Most is the largest number of actions of an answer.
const Most = 20

// Action is one change. Which fields it has beside type and path depends on its type; the others are absent.
type Action struct {
	Type     Type     `json:"type" enum:"create_file,update_file,edit_file,delete_file,rename_file,add_dependency" doc:"What it does" example:"create_file"`
	Path     string   `json:"path" doc:"The file's path; of rename_file the old one, of add_dependency the manifest" example:"/src/app.ts"`
	Content  *string  `json:"content,omitzero" nullable:"false" doc:"Of create_file and update_file: the whole content" example:"export {}\n"`
	Search   *string  `json:"search,omitzero" nullable:"false" doc:"Of edit_file: what is replaced; it occurs exactly once" example:"const a = 1"`
	Replace  *string  `json:"replace,omitzero" nullable:"false" doc:"Of edit_file: what takes its place" example:"const a = 2"`
	To       *string  `json:"to,omitzero" nullable:"false" doc:"Of rename_file: the new path" example:"/src/main.ts"`
	Packages []string `json:"packages,omitzero" nullable:"false" doc:"Of add_dependency: name@range each" example:"[\"zod@^4.0.0\"]"`
}

// Problem is why an action can't be done, worded for the model that is to do better; people read it, too.
type Problem struct{ Text string }

func (p *Problem) Error() string { return p.Text }

func problemf(format string, args ...any) *Problem { return &Problem{fmt.Sprintf(format, args...)} }

// File is a file of the project as an action meets it.
type File struct {
	// ETag is the version that the file is in, for the batch's precondition.
	ETag string
}

// Files is the project as it is stored. Errors are storage's.
type Files interface {
	// Prepare tells of the paths that Stat will be asked for next, so that storage can be asked once for all of them.
	Prepare(ctx context.Context, paths ...string) error
	// Stat tells of the file at a path; ok is false if there is none.
	Stat(ctx context.Context, path string) (f File, ok bool, err error)
	// HasInside reports whether there are files that need path to be a folder.
	HasInside(ctx context.Context, path string) (bool, error)
	// Read is the content of a file that exists; text is false if that is no UTF-8 text.
	Read(ctx context.Context, path string) (content string, text bool, err error)
}

// Operation is one of a files/batch (API.md §5): create and update have Content, rename has To; all but create have the ETag of
// the version that the action was checked against.
type Operation struct {
	Op       string // create, update, delete, rename
	Path, To string
	Content  string
	ETag     string
}

// Brief is the action in a few words for a model that reads the conversation later: "edit_file /src/a.ts".
func (a Action) Brief() string { return string(a.Type) + " " + a.Path }
