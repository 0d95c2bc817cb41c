package main

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

// Some types of the API have a schema that does not follow from their fields. The types below stand for them: the library
// asks a type for its own schema, and the types of the API do not know the library.
type (
	eventType      struct{} // one of the types of events that are emitted
	eventText      struct{} // an event as it was sent
	pattern        struct{} // what a webhook can subscribe to
	testType       struct{} // what a webhook can be tested with
	anyObject      struct{}
	nullableSecret struct{}
	oneOf          struct{} // one of the types of the fields with the tag oneOf
)

// aliases names the types that the types above stand for.
var aliases = map[string]reflect.Type{
	"event.Type":               reflect.TypeFor[eventType](),
	"event.Text":               reflect.TypeFor[eventText](),
	"webhook.pattern":          reflect.TypeFor[pattern](),
	"webhook.testType":         reflect.TypeFor[testType](),
	"webhook.sentPayload":      reflect.TypeFor[anyObject](),
	"httpapi.Nullable[string]": reflect.TypeFor[nullableSecret](),
}

// testTypes and alternatives are the values of testType and the fields of oneOf, which only aliasTypes finds.
var (
	testTypes    []string
	alternatives []reflect.StructField
)

// aliasTypes registers the aliases of the types that endpoints use.
func (d *document) aliasTypes(routes *httpapi.Routes) {
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if alias := aliases[t.String()]; alias != nil {
			d.schemas.RegisterTypeAlias(t, alias)
			if alias == reflect.TypeFor[testType]() {
				testTypes = reflect.Zero(t).Interface().(httpapi.Enum).Values() //nolint:errcheck,forcetypeassert // a mistake here
			}
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(t.Elem())
		case reflect.Struct:
			for _, field := range reflect.VisibleFields(t) {
				if field.Tag.Get("oneOf") != "" {
					d.schemas.RegisterTypeAlias(t, reflect.TypeFor[oneOf]())
					alternatives = append(alternatives, field)
				}
				visit(field.Type)
			}
		default:
		}
	}
	alternatives = nil
	visit(reflect.TypeFor[event.Payload]())
	for _, e := range routes.Endpoints {
		visit(e.Input)
		visit(e.Output)
	}
}

// Schema implements huma.SchemaProvider.
func (eventType) Schema(huma.Registry) *huma.Schema { return enumOf(emittedTypes()) }

// Schema implements huma.SchemaProvider.
func (pattern) Schema(huma.Registry) *huma.Schema { return enumOf(event.Subscribable()) }

// Schema implements huma.SchemaProvider.
func (testType) Schema(huma.Registry) *huma.Schema { return enumOf(testTypes) }

// Schema implements huma.SchemaProvider.
func (eventText) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[event.Payload](), true, "Event")
}

// Schema implements huma.SchemaProvider.
func (anyObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Schema implements huma.SchemaProvider.
func (nullableSecret) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// Schema implements huma.SchemaProvider.
func (oneOf) Schema(r huma.Registry) *huma.Schema {
	schema := &huma.Schema{}
	for _, field := range alternatives {
		schema.OneOf = append(schema.OneOf, r.Schema(field.Type, true, field.Tag.Get("oneOf")))
	}
	return schema
}

func enumOf[T ~string](values []T) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, string(value))
	}
	return schema
}

// rawContent is the content of operations whose body is not written as JSON, by their IDs.
var rawContent = map[string]map[string]*huma.MediaType{
	"getOpenAPI": {jsonType: {Schema: &huma.Schema{Type: huma.TypeObject}}},
	"showDocs":   {"text/html; charset=utf-8": {Schema: &huma.Schema{Type: huma.TypeString}}},
	"readDocsFile": {
		"text/javascript; charset=utf-8": {Schema: &huma.Schema{Type: huma.TypeString}},
		"text/css; charset=utf-8":        {Schema: &huma.Schema{Type: huma.TypeString}},
		"image/svg+xml":                  {Schema: &huma.Schema{Type: huma.TypeString}},
	},
}
