package contract

import (
	"bytes"
	"devplatform/shared/docs"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestExamplesAreAsTheirSchemasSay holds every example in the document to the schema beside it: bodies of requests, answers and errors,
// what is sent to webhooks, parameters, headers, and fields.
func TestExamplesAreAsTheirSchemasSay(t *testing.T) {
	t.Parallel()
	checked, failures := checkExamples(t, docs.OpenAPI)
	for _, failure := range failures {
		t.Error(failure)
	}
	if checked < 500 {
		t.Errorf("only %d examples were found", checked)
	}
}

// TestWrongExamplesAreFound shows that an example of any kind is looked at.
func TestWrongExamplesAreFound(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{
		`{"schema": {"type": "integer"}, "example": "x"}`,
		`{"schema": {"type": "object", "properties": {"a": {"type": "string"}}}, "example": {"a": "x", "b": 1}}`,
		`{"schema": {"type": "object", "required": ["a"]}, "examples": {"one": {"value": {}}}}`,
		`{"schema": {"$ref": "#/components/schemas/Text"}, "example": 7}`,
		`{"type": "string", "format": "date-time", "examples": ["yesterday"]}`,
	} {
		document := `{"paths": {"/x": {}}, "components": {"schemas": {"Text": {"type": "string"}}, "x": ` + wrong + `}}`
		if _, failures := checkExamples(t, []byte(document)); len(failures) != 1 {
			t.Errorf("%s: %q", wrong, failures)
		}
	}
}

// checkExamples counts the examples of a document, and tells which are not as their schemas say.
func checkExamples(t *testing.T, text []byte) (checked int, failures []string) {
	t.Helper()
	c, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	walk("#", document, func(at, schema string, example any) {
		checked++
		data, err := json.Marshal(example)
		if err == nil {
			err = c.validate(schema, data)
		}
		if err != nil {
			failures = append(failures, at+": "+err.Error())
		}
	})
	return checked, failures
}

// walk visits every example with the place of its schema: beside it, or, of a schema's own, around it.
func walk(at string, node any, visit func(at, schema string, example any)) {
	switch node := node.(type) {
	case []any:
		for i, inner := range node {
			walk(at+"/"+strconv.Itoa(i), inner, visit)
		}
	case map[string]any:
		if example, ok := node["example"]; ok && node["schema"] != nil {
			visit(at, at+"/schema", example)
		}
		switch examples := node["examples"].(type) {
		case map[string]any:
			for name, example := range examples {
				described, _ := example.(map[string]any)
				visit(at+" "+name, at+"/schema", described["value"])
			}
		case []any:
			for _, example := range examples {
				visit(at, at, example)
			}
		}
		for name, inner := range node {
			if name != "example" && name != "examples" {
				walk(at+"/"+escape(name), inner, visit)
			}
		}
	}
}
