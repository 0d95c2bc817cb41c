package action_test

import (
	"bytes"
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

// inputs has a valid input for each tool.
var inputs = map[string]string{
	"create_file":    `{"path":"/a.ts","content":"a\n"}`,
	"update_file":    `{"path":"/a.ts","content":""}`,
	"edit_file":      `{"path":"/a.ts","search":"a","replace":""}`,
	"delete_file":    `{"path":"/a.ts"}`,
	"rename_file":    `{"path":"/a.ts","to":"/b.ts"}`,
	"add_dependency": `{"path":"/package.json","packages":["zod@^4.0.0"]}`,
}

func compiled(t *testing.T, tool model.Tool) *jsonschema.Schema {
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
	if len(tools) != len(inputs) {
		t.Fatalf("%d tools", len(tools))
	}
	for _, tool := range tools {
		good, schema := inputs[tool.Name], compiled(t, tool)
		var fields map[string]any
		if err := json.Unmarshal([]byte(good), &fields); err != nil {
			t.Fatal(tool.Name, err)
		}
		agree := func(fields map[string]any, want bool) {
			t.Helper()
			text, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			a, err := action.Parse(model.Call{Name: tool.Name, Input: string(text)})
			if (err == nil) != want {
				t.Errorf("%s: Parse of %s: %v", tool.Name, text, err)
			}
			if err == nil && string(a.Type) != tool.Name {
				t.Errorf("%s is parsed as %s", tool.Name, a.Type)
			}
			document, _ := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err := schema.Validate(document); (err == nil) != want {
				t.Errorf("%s: schema validation of %s: %v", tool.Name, text, err)
			}
		}
		agree(fields, true)
		for name := range fields {
			for _, other := range []any{nil, 1.5, true, map[string]any{}, []any{1.5}} {
				changed := cloned(fields)
				changed[name] = other
				agree(changed, false)
			}
			without := cloned(fields)
			delete(without, name)
			agree(without, false)
		}
		more := cloned(fields)
		more["type"] = tool.Name
		agree(more, false)
	}
}

func cloned(fields map[string]any) map[string]any {
	c := map[string]any{}
	for name, value := range fields {
		c[name] = value
	}
	return c
}

// Tools have what providers require: short names, and schemas with plain keywords and without references. For the
// providers' caches, the bytes are always the same.
func TestToolsMeetProviderRequirements(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,63}$`)
	keywords := []string{"type", "properties", "required", "additionalProperties", "description", "items", "minItems", "maxItems"}
	for _, tool := range action.Tools() {
		if !name.MatchString(tool.Name) || tool.Description == "" || len(tool.Description) > 1024 {
			t.Errorf("%s: %q", tool.Name, tool.Description)
		}
		var schema map[string]any
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		checkKeywords(t, tool.Name, schema, keywords)
		if schema["additionalProperties"] != false || schema["type"] != "object" {
			t.Errorf("%s: %s", tool.Name, tool.Schema)
		}
		if bytes.Contains(tool.Schema, []byte(`\u`)) {
			t.Errorf("%s has escapes, which cost tokens: %s", tool.Name, tool.Schema)
		}
		if !strings.HasPrefix(string(tool.Schema), `{"type":"object","properties":{"path":`) {
			t.Errorf("%s does not begin with the path: %s", tool.Name, tool.Schema)
		}
	}
	if diff := cmp.Diff(action.Tools(), action.Tools()); diff != "" {
		t.Error(diff)
	}
}

func checkKeywords(t *testing.T, tool string, schema map[string]any, keywords []string) {
	t.Helper()
	for keyword, value := range schema {
		if !slices.Contains(keywords, keyword) {
			t.Errorf("%s: the keyword %s", tool, keyword)
		}
		if keyword == "properties" {
			for name, property := range value.(map[string]any) {
				p := property.(map[string]any)
				if text, _ := p["description"].(string); len(text) < 20 {
					t.Errorf("%s: %s is described as %q", tool, name, text)
				}
				checkKeywords(t, tool, p, keywords)
			}
		}
	}
}
