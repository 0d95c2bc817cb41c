package main

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

// The schemas of some types of the API cannot be derived from their fields. huma would call a method Schema of such a
// type, but the packages of the API do not import huma. So the document uses the types below in place of these types.
type (
	eventType    struct{} // a type of event that the service emits
	eventText    struct{} // an encoded event
	pattern      struct{} // a type or group of types that a webhook can subscribe to
	testType     struct{} // a type that a webhook can be tested with
	anyObject    struct{}
	nullableText struct{}
)

// aliases maps the name of a type to the type that replaces it.
var aliases = map[string]reflect.Type{
	"event.Type":               reflect.TypeFor[eventType](),
	"event.Text":               reflect.TypeFor[eventText](),
	"webhook.pattern":          reflect.TypeFor[pattern](),
	"webhook.testType":         reflect.TypeFor[testType](),
	"webhook.sentPayload":      reflect.TypeFor[anyObject](),
	"httpapi.Nullable[string]": reflect.TypeFor[nullableText](),
}

// aliasTypes registers the replacements of the types that events and endpoints use.
func (d *document) aliasTypes(routes *httpapi.Routes) {
	visitTypes(routes, func(t reflect.Type) {
		if alias := aliases[t.String()]; alias != nil {
			d.schemas.RegisterTypeAlias(t, alias)
		}
	})
}

// visitTypes calls f once for each type that events and endpoints use, including the types of fields and elements.
func visitTypes(routes *httpapi.Routes, f func(reflect.Type)) {
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		f(t)
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(t.Elem())
		case reflect.Struct:
			for _, field := range reflect.VisibleFields(t) {
				visit(field.Type)
			}
		default:
		}
	}
	visit(reflect.TypeFor[event.Payload]())
	for _, e := range routes.Endpoints {
		visit(e.Input)
		visit(e.Output)
	}
}

// Schema implements huma.SchemaProvider.
func (eventType) Schema(huma.Registry) *huma.Schema { return enumOf(subscribableTypes()) }

// Schema implements huma.SchemaProvider.
func (pattern) Schema(huma.Registry) *huma.Schema { return enumOf(event.Subscribable()) }

// Schema implements huma.SchemaProvider.
func (testType) Schema(huma.Registry) *huma.Schema {
	return enumOf(slices.Concat([]event.Type{event.WebhookTest}, subscribableTypes()))
}

// Schema implements huma.SchemaProvider.
func (eventText) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[event.Payload](), true, "Event")
}

// Schema implements huma.SchemaProvider.
func (anyObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Schema implements huma.SchemaProvider.
func (nullableText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// enumOf returns the schema of a text that has one of the values.
func enumOf[T ~string](values []T) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, string(value))
	}
	return schema
}

// alternatives returns the schema of a struct whose fields are alternatives. These fields have the tag oneOf. Its
// value is the name of the alternative's schema. alternatives returns nil for any other type.
func (d *document) alternatives(t reflect.Type) *huma.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var schema *huma.Schema
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("oneOf"); name != "" {
			if schema == nil {
				schema = &huma.Schema{}
			}
			schema.OneOf = append(schema.OneOf, d.schemas.Schema(t.Field(i).Type, true, name))
		}
	}
	return schema
}

// rawContent returns the content of a success response if the handler returns the body as bytes. It returns nil if the
// body is encoded as JSON.
func rawContent(operationID string) map[string]*huma.MediaType {
	text := &huma.Schema{Type: huma.TypeString}
	switch operationID {
	case "getOpenAPI":
		return map[string]*huma.MediaType{jsonType: {Schema: &huma.Schema{Type: huma.TypeObject}}}
	case "showDocs":
		return map[string]*huma.MediaType{"text/html; charset=utf-8": {Schema: text}}
	case "showMailPage":
		return map[string]*huma.MediaType{
			"text/html; charset=utf-8":       {Schema: text},
			"text/javascript; charset=utf-8": {Schema: text},
			"text/css; charset=utf-8":        {Schema: text},
		}
	case "readDocsFile":
		return map[string]*huma.MediaType{
			"text/javascript; charset=utf-8": {Schema: text},
			"text/css; charset=utf-8":        {Schema: text},
			"image/svg+xml":                  {Schema: text},
		}
	}
	return nil
}
