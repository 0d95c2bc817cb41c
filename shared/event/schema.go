package event

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// SchemaOf describes the payloads of a type, for the document of the API: as Payload, with the data that all of that type have. That is
// what the type's example has.
func SchemaOf(r huma.Registry, t Type) *huma.Schema {
	whole := r.Schema(reflect.TypeFor[Payload](), false, "")
	schema := &huma.Schema{
		Type: huma.TypeObject,
		Properties: map[string]*huma.Schema{
			"id": whole.Properties["id"], "timestamp": whole.Properties["timestamp"],
			"type": {Type: huma.TypeString, Enum: []any{t}, Description: whole.Properties["type"].Description},
			"data": dataOf(r, t),
		},
		Required: []string{"id", "type", "timestamp", "data"},
	}
	name := schemaName(t)
	r.Map()[name] = schema
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

func dataOf(r huma.Registry, t Type) *huma.Schema {
	shown := reflect.ValueOf(examples[t](Scene{}))
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for i := range shown.NumField() {
		field := shown.Type().Field(i)
		if field.Name != "Actor" && shown.Field(i).IsNil() {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		described := *huma.SchemaFromField(r, field, "")
		if described.Ref != "" { // its own description says what it is
			described = huma.Schema{Ref: described.Ref}
		}
		schema.Properties[name] = &described
		schema.Required = append(schema.Required, name)
	}
	return schema
}

// schemaName makes EventFileCreated of file.created.
func schemaName(t Type) string {
	name := "Event"
	for word := range strings.SplitSeq(string(t), ".") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}
