package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// examplesJSON has the examples that cannot be composed of the examples of single fields, by operation ID.
//
//go:embed examples.json
var examplesJSON []byte

// examples are the examples of an operation's bodies. An absent one is composed of the examples of the fields.
type examples struct {
	Request   jsontext.Value            `json:"request"`
	Response  jsontext.Value            `json:"response"`
	Responses map[string]jsontext.Value `json:"responses"` // several, by name
}

func readExamples(data []byte) (map[string]examples, error) {
	var all map[string]examples
	if err := json.Unmarshal(data, &all, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("examples.json: %w", err)
	}
	return all, nil
}

// addExamples adds the examples of an operation. Each set of examples can be used once, so that unused ones are found.
func (d *document) addExamples(op *huma.Operation, success *huma.Response) error {
	given := d.examples[op.OperationID]
	delete(d.examples, op.OperationID)
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Content {
			media.Example = d.example(media.Schema, given.Request)
		}
	}
	for _, media := range success.Content {
		if given.Responses == nil {
			media.Example = d.example(media.Schema, given.Response)
			continue
		}
		media.Examples = map[string]*huma.Example{}
		for name, value := range given.Responses {
			media.Examples[name] = &huma.Example{Value: value}
		}
	}
	return nil
}

// example returns the given example, or one that is composed of the examples of the schema's fields; nil for none.
func (d *document) example(schema *huma.Schema, given jsontext.Value) any {
	if given != nil {
		return given
	}
	value, _ := d.compose(schema)
	return value
}

// compose composes a value of the examples of a schema's fields. There is none if a required field has no example. An
// optional field without an example is left out.
func (d *document) compose(schema *huma.Schema) (value any, ok bool) {
	for schema != nil && schema.Ref != "" {
		schema = d.schemas.SchemaFromRef(schema.Ref)
	}
	switch {
	case schema == nil:
		return nil, false
	case len(schema.Examples) > 0:
		return schema.Examples[0], true
	case len(schema.OneOf) > 0:
		return d.compose(schema.OneOf[0])
	case schema.Type == huma.TypeArray:
		element, ok := d.compose(schema.Items)
		return []any{element}, ok
	case schema.Type != huma.TypeObject:
		return nil, false
	}
	object := map[string]any{}
	for name, field := range schema.Properties {
		inner, ok := d.compose(field)
		if ok {
			object[name] = inner
		} else if slices.Contains(schema.Required, name) {
			return nil, false
		}
	}
	return object, len(object) > 0
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
