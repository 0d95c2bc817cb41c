// Package action has the changes that an answer makes to a project's files: the types of actions, the tools by which a
// model calls them, the checks against the project, and the batch of file operations that they add up to. The package
// does not know who asked, which model answered, or how files are stored.
package action

import (
	"context"
	"fmt"
)

// Type is the type of an action.
type Type string

// The types of actions.
const (
	CreateFile    Type = "create_file"
	UpdateFile    Type = "update_file"
	EditFile      Type = "edit_file"
	DeleteFile    Type = "delete_file"
	RenameFile    Type = "rename_file"
	AddDependency Type = "add_dependency"
)

// Most is the largest number of actions in an answer.
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

// Brief returns the action in a few words, such as "edit_file /src/a.ts", for a model that reads the conversation
// later.
func (a Action) Brief() string { return string(a.Type) + " " + a.Path }

// Problem is the reason why an action is not possible. The text is written for the model, which may try again; people
// read it too.
type Problem struct{ Text string }

func (p *Problem) Error() string { return p.Text }

func problemf(format string, args ...any) *Problem { return &Problem{fmt.Sprintf(format, args...)} }

// File is a stored file of the project.
type File struct {
	// ETag is the file's version, for the precondition of the batch.
	ETag string
}

// Files reads the stored files of the project. Its errors are the storage's.
type Files interface {
	// Prepare announces paths that Stat will be called with, so that storage can be read once for all of them.
	Prepare(ctx context.Context, paths ...string) error
	// Stat returns the file at a path. ok is false if there is no file.
	Stat(ctx context.Context, path string) (f File, ok bool, err error)
	// HasInside reports whether files exist inside of the path, which makes it a folder.
	HasInside(ctx context.Context, path string) (bool, error)
	// Read returns the content of an existing file. text is false if the content is not UTF-8 text.
	Read(ctx context.Context, path string) (content string, text bool, err error)
}

// Operation is one operation of a batch. Create and update have Content, rename has To. All operations except create
// have the ETag of the version that the action was checked against.
type Operation struct {
	Op       string // create, update, delete, rename
	Path, To string
	Content  string
	ETag     string
}
