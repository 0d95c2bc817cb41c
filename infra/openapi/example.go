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

// examplesJSON maps operation IDs to the examples that cannot be composed from the examples of the fields.
//
//go:embed examples.json
var examplesJSON []byte

// examples are the examples of an operation's bodies. An absent example is composed from the examples of the fields.
type examples struct {
	Request   jsontext.Value            `json:"request"`
	Response  jsontext.Value            `json:"response"`
	Responses map[string]jsontext.Value `json:"responses"` // several examples of the response, by name
}

// readExamples decodes the examples of operations, by operation ID.
func readExamples(data []byte) (map[string]examples, error) {
	var byID map[string]examples
	if err := json.Unmarshal(data, &byID, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("examples.json: %w", err)
	}
	return byID, nil
}

// addExamples adds examples to the request and the success response of an operation.
func (d *document) addExamples(op *huma.Operation, success *huma.Response) {
	explicit := d.examples[op.OperationID]
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Content {
			media.Example = d.example(media.Schema, explicit.Request)
		}
	}
	for _, media := range success.Content {
		if explicit.Responses == nil {
			media.Example = d.example(media.Schema, explicit.Response)
			continue
		}
		media.Examples = map[string]*huma.Example{}
		for name, value := range explicit.Responses {
			media.Examples[name] = &huma.Example{Value: value}
		}
	}
}

// example returns the explicit example. If it is nil, example composes one from the examples of the schema's fields, or
// returns nil if that is not possible.
func (d *document) example(schema *huma.Schema, explicit jsontext.Value) any {
	if explicit != nil {
		return explicit
	}
	value, _ := d.compose(schema)
	return value
}

// compose composes a value from the examples of a schema's fields. It returns false if a required field has no example.
// It omits optional fields without an example.
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

// sortedKeys returns the sorted keys of a map.
func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
