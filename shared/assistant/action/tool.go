package action

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// maxPackages is the maximum number of packages in one call of add_dependency.
const maxPackages = 50

// tool describes a type of action to the model. The tool's name is the type.
type tool struct {
	action      Type
	description string
	// fields have the names of the action's fields. All are required. path is first, so that the client of a stream
	// learns early which file is being written.
	fields []field
}

type field struct{ name, description string }

// tools are sent in this order. The order must not change, because providers cache the beginning of a request.
var tools = []tool{
	{
		CreateFile,
		"Creates a new file. Fails if the file exists: use update_file or edit_file in this case.",
		[]field{
			{"path", "Path of the new file from the project's root, such as /src/components/Button.tsx. There must be " +
				"no file with this path, no folder with this path, and no file in place of one of its folders. " +
				"Folders are created automatically."},
			{"content", "The whole content of the file, exactly as it should be stored: without a Markdown fence " +
				"around it and without abbreviations."},
		},
	},
	{
		UpdateFile,
		"Replaces the whole content of an existing file. If a part of the file stays the same, use edit_file. " +
			"Fails if you have not seen the complete content of the file.",
		[]field{
			{"path", "Path of the existing file."},
			{"content", "The whole new content of the file, including everything that stays the same: without a " +
				"Markdown fence around it and without abbreviations."},
		},
	},
	{
		EditFile,
		"Replaces one passage of an existing text file and leaves everything else as it is. For several changes in " +
			"a file make several calls: each call sees the result of the previous calls.",
		[]field{
			{"path", "Path of the existing text file."},
			{"search", "The text to replace, character for character as it is in the file, including indentation and " +
				"line breaks. It must occur exactly once: include as many of the surrounding lines as " +
				"necessary, and no more."},
			{"replace", "The replacement; empty to remove the text. Repeat the surrounding lines from search that " +
				"should stay in the file."},
		},
	},
	{
		DeleteFile,
		"Deletes an existing file.",
		[]field{
			{"path", "Path of the existing file. A folder is deleted together with its last file."},
		},
	},
	{
		RenameFile,
		"Renames or moves an existing file without changing its content. Imports in other files are not " +
			"updated: edit them as well.",
		[]field{
			{"path", "Path of the existing file."},
			{"to", "Its new path. There must be no file and no folder with this path."},
		},
	},
	{
		AddDependency,
		"Adds packages to an existing manifest, or changes the ranges of packages that it already lists. Use " +
			"it instead of editing the manifest. It does not install the packages.",
		[]field{
			{"path", "Path of the manifest: an existing package.json or go.mod."},
			{"packages", "The packages as name@range: react@^19.0.0 or @types/node@^24.0.0 in a package.json, " +
				"github.com/google/uuid@v1.6.0 in a go.mod."},
		},
	},
}

// Tools returns the tools that the model may call, one for each type of action. The result is the same for every call.
func Tools() []model.Tool { return modelTools() }

var modelTools = sync.OnceValue(func() []model.Tool {
	all := make([]model.Tool, len(tools))
	for i, t := range tools {
		all[i] = model.Tool{Name: string(t.action), Description: t.description, Schema: t.schema()}
	}
	return all
})

// schema returns the JSON Schema of the tool's input. It has only keywords that every provider accepts.
func (t tool) schema() jsontext.Value {
	var properties, required []string
	for _, f := range t.fields {
		properties = append(properties, quote(f.name)+":"+f.schema())
		required = append(required, quote(f.name))
	}
	return jsontext.Value(`{"type":"object","properties":{` + strings.Join(properties, ",") +
		`},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`)
}

func (f field) schema() string {
	if f.name == "packages" {
		return fmt.Sprintf(`{"description":%s,"items":{"type":"string"},"maxItems":%d,"minItems":1,"type":"array"}`,
			quote(f.description), maxPackages)
	}
	return `{"description":` + quote(f.description) + `,"type":"string"}`
}

func (t tool) fieldNames() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.name
	}
	return names
}

// quote returns text as a JSON string.
func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // not reached: callers pass valid UTF-8
	}
	return string(data)
}
