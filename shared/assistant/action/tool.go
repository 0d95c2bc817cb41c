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
	// receives early which file is being written.
	fields []field
}

type field struct{ name, description string }

// tools are sent in this order. The order must not change, because providers cache the beginning of a request.
var tools = []tool{
	{
		CreateFile,
		"Creates a new file. Fails if it exists: use update_file or edit_file then.",
		[]field{
			{"path", "Path of the new file from the project's root, such as /src/components/Button.tsx. There must be " +
				"no file with this path, no folder with this path, and no file in place of one of its folders. " +
				"Folders come into being by themselves."},
			{"content", "The whole content of the file, as it is to be stored: no Markdown fence around it, nothing " +
				"abbreviated."},
		},
	},
	{
		UpdateFile,
		"Replaces the whole content of an existing file. For a small change in a long file use edit_file. " +
			"Never use it for a file that you were not shown in full.",
		[]field{
			{"path", "Path of the existing file."},
			{"content", "The whole new content of the file: everything that is to stay as well, no Markdown fence around " +
				"it, nothing abbreviated."},
		},
	},
	{
		EditFile,
		"Replaces one passage of an existing text file and leaves everything else as it is. The best choice " +
			"for small changes; for several in a file make several calls: each sees what the one before has done.",
		[]field{
			{"path", "Path of the existing text file."},
			{"search", "The text to be replaced, character for character as it is in the file, indentation and line " +
				"breaks included. It must occur exactly once: take in as many of the lines around it as that " +
				"needs, and no more."},
			{"replace", "The text that takes its place; empty to remove it. What was searched for only to be found must " +
				"stand in it again."},
		},
	},
	{
		DeleteFile,
		"Deletes an existing file.",
		[]field{
			{"path", "Path of the existing file. A folder goes with the last file in it."},
		},
	},
	{
		RenameFile,
		"Renames or moves an existing file, its content unchanged. Imports in other files don't follow: edit " +
			"them as well.",
		[]field{
			{"path", "Path of the existing file."},
			{"to", "Its new path. There must be no file and no folder with this path."},
		},
	},
	{
		AddDependency,
		"Adds packages to an existing manifest, or changes the range of those that it has. Use it instead of " +
			"editing the manifest. Nothing is installed.",
		[]field{
			{"path", "Path of the manifest: an existing package.json, go.mod or requirements.txt."},
			{"packages", "The packages as name@range: react@^19.0.0 or @types/node@^24.0.0 in a package.json, " +
				"github.com/google/uuid@v1.6.0 in a go.mod, httpx@>=0.28 in a requirements.txt."},
		},
	},
}

// Tools returns the tools that the model may call, one for each type of action. The bytes are the same for every call.
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
		properties = append(properties, quoted(f.name)+":"+f.schema())
		required = append(required, quoted(f.name))
	}
	return jsontext.Value(`{"type":"object","properties":{` + strings.Join(properties, ",") +
		`},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`)
}

func (f field) schema() string {
	if f.name == "packages" {
		return fmt.Sprintf(`{"description":%s,"items":{"type":"string"},"maxItems":%d,"minItems":1,"type":"array"}`,
			quoted(f.description), maxPackages)
	}
	return `{"description":` + quoted(f.description) + `,"type":"string"}`
}

func (t tool) fieldNames() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.name
	}
	return names
}

// quoted returns text as a JSON string.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // text is not UTF-8; callers have checked that it is
	}
	return string(data)
}
