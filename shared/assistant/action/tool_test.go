package action_test

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// validInputs contains a valid input for each tool.
var validInputs = map[string]string{
	"create_file":    `{"path":"/a.ts","content":"a\n"}`,
	"update_file":    `{"path":"/a.ts","content":""}`,
	"edit_file":      `{"path":"/a.ts","search":"a","replace":""}`,
	"delete_file":    `{"path":"/a.ts"}`,
	"rename_file":    `{"path":"/a.ts","to":"/b.ts"}`,
	"add_dependency": `{"path":"/package.json","packages":["zod@^4.0.0"]}`,
}

func compileSchema(t *testing.T, tool model.Tool) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// Every type of action has a tool. The schema of a tool accepts the same inputs as Parse.
func TestSchemasMatchParse(t *testing.T) {
	t.Parallel()
	tools := action.Tools()
	if len(tools) != len(validInputs) {
		t.Fatalf("got %d tools, want %d", len(tools), len(validInputs))
	}
	for _, tool := range tools {
		valid, schema := validInputs[tool.Name], compileSchema(t, tool)
		var fields map[string]any
		if err := json.Unmarshal([]byte(valid), &fields); err != nil {
			t.Fatal(tool.Name, err)
		}
		checkAccepted := func(fields map[string]any, want bool) {
			t.Helper()
			text, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			a, err := action.Parse(model.Call{Name: tool.Name, Input: string(text)})
			if (err == nil) != want {
				t.Errorf("%s: Parse of %s returned the error %v; want accepted: %v", tool.Name, text, err, want)
			}
			if err == nil && string(a.Type) != tool.Name {
				t.Errorf("got the action %s, want %s", a.Type, tool.Name)
			}
			document, _ := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err := schema.Validate(document); (err == nil) != want {
				t.Errorf("%s: the schema returned the error %v for %s; want accepted: %v", tool.Name, err, text, want)
			}
		}
		checkAccepted(fields, true)
		for name := range fields {
			for _, other := range []any{nil, 1.5, true, map[string]any{}, []any{1.5}} {
				changed := maps.Clone(fields)
				changed[name] = other
				checkAccepted(changed, false)
			}
			missing := maps.Clone(fields)
			delete(missing, name)
			checkAccepted(missing, false)
		}
		additional := maps.Clone(fields)
		additional["type"] = tool.Name
		checkAccepted(additional, false)
	}
}

// All providers accept the tools: the names are short, and the schemas have only basic keywords. The tools are the
// same for each call, so that providers can cache them.
func TestToolsMeetProviderRequirements(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,63}$`)
	keywords := []string{
		"type", "properties", "required", "additionalProperties", "description", "items", "minItems", "maxItems",
	}
	for _, tool := range action.Tools() {
		if !name.MatchString(tool.Name) || tool.Description == "" || len(tool.Description) > 1024 {
			t.Errorf("the name %q or the description %q is not acceptable", tool.Name, tool.Description)
		}
		var schema map[string]any
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		checkKeywords(t, tool.Name, schema, keywords)
		if schema["additionalProperties"] != false || schema["type"] != "object" {
			t.Errorf("%s: the schema is not a closed object: %s", tool.Name, tool.Schema)
		}
		if bytes.Contains(tool.Schema, []byte(`\u`)) {
			t.Errorf("%s: the schema has escapes, which cost tokens: %s", tool.Name, tool.Schema)
		}
		if !strings.HasPrefix(string(tool.Schema), `{"type":"object","properties":{"path":`) {
			t.Errorf("%s: the first property of the schema is not path: %s", tool.Name, tool.Schema)
		}
	}
	if diff := cmp.Diff(action.Tools(), action.Tools()); diff != "" {
		t.Errorf("two calls of Tools return different tools:\n%s", diff)
	}
}

func checkKeywords(t *testing.T, tool string, schema map[string]any, keywords []string) {
	t.Helper()
	for keyword, value := range schema {
		if !slices.Contains(keywords, keyword) {
			t.Errorf("%s: the schema has the keyword %s", tool, keyword)
		}
		if keyword == "properties" {
			for name, property := range value.(map[string]any) {
				p := property.(map[string]any)
				if text, _ := p["description"].(string); len(text) < 20 {
					t.Errorf("%s: the description of %s is too short: %q", tool, name, text)
				}
				checkKeywords(t, tool, p, keywords)
			}
		}
	}
}
