package httpapi

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// addExamples puts examples beside the schemas of a body: those given, else one made of the fields' examples.
func (d *document) addExamples(content map[string]*huma.MediaType, given any) error {
	for _, media := range content {
		named, several := given.(Named)
		if !several {
			value, err := d.example(media.Schema, given)
			if err != nil {
				return err
			}
			media.Example = value
			continue
		}
		media.Examples = make(map[string]*huma.Example, len(named))
		for name, one := range named {
			value, err := d.example(media.Schema, one)
			if err != nil {
				return err
			}
			media.Examples[name] = &huma.Example{Value: value}
		}
	}
	return nil
}

// example is a value as the service would write it, nil for none.
func (d *document) example(schema *huma.Schema, given any) (any, error) {
	if given == nil {
		value, _ := d.exampleOf(schema)
		return value, nil
	}
	if text, ok := given.(string); ok {
		return text, nil
	}
	var data bytes.Buffer
	if err := marshal(&data, given); err != nil {
		return nil, fmt.Errorf("example: %w", err)
	}
	return jsontext.Value(data.Bytes()), nil
}

// exampleOf makes a value of the examples of a schema's fields. There is none where a field that is required has no example; one that is
// not is left out.
func (d *document) exampleOf(schema *huma.Schema) (value any, ok bool) {
	schema = d.resolve(schema)
	switch {
	case schema == nil:
		return nil, false
	case len(schema.Examples) > 0:
		return schema.Examples[0], true
	case len(schema.OneOf) > 0:
		return d.exampleOf(schema.OneOf[0])
	case schema.Type == huma.TypeArray:
		element, ok := d.exampleOf(schema.Items)
		return []any{element}, ok
	case schema.Type != huma.TypeObject:
		return nil, false
	}
	object := map[string]any{}
	for name, field := range schema.Properties {
		inner, ok := d.exampleOf(field)
		if ok {
			object[name] = inner
		} else if slices.Contains(schema.Required, name) {
			return nil, false
		}
	}
	return object, len(object) > 0
}

// resolve follows references; nil stays nil.
func (d *document) resolve(schema *huma.Schema) *huma.Schema {
	return bodySchema{schemas: d.schemas}.resolve(schema)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
