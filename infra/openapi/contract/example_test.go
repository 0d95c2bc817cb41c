package contract

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"devplatform/shared/docs"
)

// TestExamplesConformToTheirSchemas checks all examples in the document: of bodies, parameters, headers and fields.
func TestExamplesConformToTheirSchemas(t *testing.T) {
	t.Parallel()
	checked, failures := checkExamples(t, docs.OpenAPI)
	for _, failure := range failures {
		t.Error(failure)
	}
	if checked < 500 {
		t.Errorf("found %d examples, want at least 500", checked)
	}
}

// TestInvalidExamplesAreReported checks that invalid examples of every kind are reported.
func TestInvalidExamplesAreReported(t *testing.T) {
	t.Parallel()
	for _, invalid := range []string{
		`{"schema": {"type": "integer"}, "example": "x"}`,
		`{"schema": {"type": "object", "properties": {"a": {"type": "string"}}}, "example": {"a": "x", "b": 1}}`,
		`{"schema": {"type": "object", "required": ["a"]}, "examples": {"one": {"value": {}}}}`,
		`{"schema": {"$ref": "#/components/schemas/Text"}, "example": 7}`,
		`{"type": "string", "format": "date-time", "examples": ["yesterday"]}`,
	} {
		document := `{"paths": {"/x": {}}, "components": {"schemas": {"Text": {"type": "string"}}, "x": ` + invalid + `}}`
		if _, failures := checkExamples(t, []byte(document)); len(failures) != 1 {
			t.Errorf("%s: got the failures %q, want one", invalid, failures)
		}
	}
}

// checkExamples returns the number of examples in a document, and the failures of those that do not conform to their
// schemas.
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

// walk calls visit with every example and the JSON pointers of the example and of its schema. The schema of a parameter
// or a body is next to the example. An example inside of a schema belongs to that schema.
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
