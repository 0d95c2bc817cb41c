package action

import (
	"errors"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// The inputs of the tools. Their fields are the action's of the same name, all of them required, in the order in which a model is to
// write them: the path first, so that whoever watches knows at once what is being written.

type createInput struct {
	Path    string `json:"path" doc:"Path of the new file from the project's root, such as /src/components/Button.tsx. There must be no file with this path, no folder with this path, and no file in place of one of its folders. Folders come into being by themselves."`
	Content string `json:"content" doc:"The whole content of the file, as it is to be stored: no Markdown fence around it, nothing abbreviated."`
}

type updateInput struct {
	Path    string `json:"path" doc:"Path of the existing file."`
	Content string `json:"content" doc:"The whole new content of the file: everything that is to stay as well, no Markdown fence around it, nothing abbreviated."`
}

type editInput struct {
	Path    string `json:"path" doc:"Path of the existing text file."`
	Search  string `json:"search" doc:"The text to be replaced, character for character as it is in the file, indentation and line breaks included. It must occur exactly once: take in as many of the lines around it as that needs, and no more."`
	Replace string `json:"replace" doc:"The text that takes its place; empty to remove it. What was searched for only to be found must stand in it again."`
}

type deleteInput struct {
	Path string `json:"path" doc:"Path of the existing file. A folder goes with the last file in it."`
}

type renameInput struct {
	Path string `json:"path" doc:"Path of the existing file."`
	To   string `json:"to" doc:"Its new path. There must be no file and no folder with this path."`
}

type dependencyInput struct {
	Path     string   `json:"path" doc:"Path of the manifest: an existing package.json, go.mod or requirements.txt."`
	Packages []string `json:"packages" minItems:"1" maxItems:"50" nullable:"false" doc:"The packages as name@range: react@^19.0.0 or @types/node@^24.0.0 in a package.json, github.com/google/uuid@v1.6.0 in a go.mod, httpx@>=0.28 in a requirements.txt."`
}

// tool is what there is to know about one.
type tool struct {
	action      Type
	description string
	input       reflect.Type
}

// tools are offered in this order, which must not vary: a provider caches what comes at a request's beginning.
var tools = []tool{
	{CreateFile, "Creates a new file. Fails if it exists: use update_file or edit_file then.", reflect.TypeFor[createInput]()},
	{UpdateFile, "Replaces the whole content of an existing file. For a small change in a long file use edit_file. Never use it for a file that you were not shown in full.", reflect.TypeFor[updateInput]()},
	{EditFile, "Replaces one passage of an existing text file and leaves everything else as it is. The best choice for small changes; for several in a file make several calls: each sees what the one before has done.", reflect.TypeFor[editInput]()},
	{DeleteFile, "Deletes an existing file.", reflect.TypeFor[deleteInput]()},
	{RenameFile, "Renames or moves an existing file, its content unchanged. Imports in other files don't follow: edit them as well.", reflect.TypeFor[renameInput]()},
	{AddDependency, "Adds packages to an existing manifest, or changes the range of those that it has. Use it instead of editing the manifest. Nothing is installed.", reflect.TypeFor[dependencyInput]()},
}

// Tools are what a model is offered: one for each type, named after it, whose input has the action's fields but its type. The bytes
// are the same every time.
func Tools() []model.Tool { return offered() }

var offered = sync.OnceValue(func() []model.Tool {
	all := make([]model.Tool, len(tools))
	for i, t := range tools {
		all[i] = model.Tool{Name: string(t.action), Description: t.description, Schema: schemaOf(t.input)}
	}
	return all
})

// schemaOf is the JSON Schema of an input. Huma tells what the fields' tags say; their order, which it does not keep, is that of the
// type. Only keywords that every provider takes are left: nothing refers to another schema.
func schemaOf(input reflect.Type) jsontext.Value {
	properties := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer).Schema(input, false, "").Properties
	var ordered []string
	for _, name := range fieldsOf(input) {
		text, err := properties[name].MarshalJSON()
		property := jsontext.Value(text)
		if err = errors.Join(err, property.Canonicalize()); err != nil {
			panic("assistant/action: " + err.Error()) // a type of ours that can't be told: the first test finds it
		}
		ordered = append(ordered, quoted(name)+":"+string(property))
	}
	var required []string
	for _, name := range fieldsOf(input) {
		required = append(required, quoted(name))
	}
	return jsontext.Value(`{"type":"object","properties":{` + strings.Join(ordered, ",") +
		`},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`)
}

// fieldsOf are the names of an input's fields, in their order.
func fieldsOf(input reflect.Type) []string {
	names := make([]string, input.NumField())
	for i := range names {
		names[i] = input.Field(i).Tag.Get("json")
	}
	return names
}

// quoted is a text as JSON.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // no UTF-8; what comes here was checked
	}
	return string(data)
}
