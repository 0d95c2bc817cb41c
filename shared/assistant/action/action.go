// Package action defines the changes that an answer makes to a project's files: the types of actions, the tools with
// which a model requests them, the checks against the project, and the batch of file operations that performs the
// actions. Users, models and the storage of files do not belong here.
package action

import (
	"context"
	"fmt"
	"iter"
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

// MaxPerAnswer is the maximum number of actions in an answer.
const MaxPerAnswer = 20

// Action is one change. Its type determines which fields it has in addition to type and path; the others are absent.
type Action struct {
	Type     Type     `json:"type" enum:"create_file,update_file,edit_file,delete_file,rename_file,add_dependency" doc:"The type of the action" example:"create_file"`
	Path     string   `json:"path" doc:"The file's path. For rename_file, the old path; for add_dependency, the path of the manifest" example:"/src/app.ts"`
	Content  *string  `json:"content,omitzero" nullable:"false" doc:"For create_file and update_file: the whole content" example:"export {}\n"`
	Search   *string  `json:"search,omitzero" nullable:"false" doc:"For edit_file: the text to replace, which occurs exactly once" example:"const a = 1"`
	Replace  *string  `json:"replace,omitzero" nullable:"false" doc:"For edit_file: the replacement" example:"const a = 2"`
	To       *string  `json:"to,omitzero" nullable:"false" doc:"For rename_file: the new path" example:"/src/main.ts"`
	Packages []string `json:"packages,omitzero" nullable:"false" doc:"For add_dependency: the packages, each as name@range" example:"[\"zod@^4.0.0\"]"`
}

// Brief returns a short description of the action, such as "edit_file /src/a.ts". A model that reads the conversation
// later sees this description.
func (a Action) Brief() string { return string(a.Type) + " " + a.Path }

// Problem is the reason why an action is not possible. The text is written for the model, which may try again, and is
// also shown to users.
type Problem struct{ Text string }

func (p *Problem) Error() string { return p.Text }

func problemf(format string, args ...any) *Problem { return &Problem{fmt.Sprintf(format, args...)} }

// Files are the stored files of the project. An implementation reads each file only once, so that all checks see the
// same version.
type Files interface {
	// Paths returns the paths of all files, in any order.
	Paths() iter.Seq[string]
	// Stat returns the ETag of the file at a path, for the precondition of the batch. ok is false if there is no file.
	Stat(path string) (etag string, ok bool)
	// Read returns the content of an existing file. isText is false if the content is not UTF-8 text, or too large. Error:
	// the error of the storage.
	Read(ctx context.Context, path string) (content string, isText bool, err error)
}
