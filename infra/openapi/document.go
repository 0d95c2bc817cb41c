package main

import (
	_ "embed"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

const (
	jsonType        = "application/json"
	eventStreamType = "text/event-stream"
	sessionScheme   = "session"
)

// description is the text that applies to every operation.
//
//go:embed description.md
var description string

// document is an OpenAPI document that is being made. The library's types serve to write it and to derive schemas from Go
// types. Functions do not link it.
type document struct {
	*huma.OpenAPI

	schemas  huma.Registry
	examples map[string]examples
}

// newDocument returns the document of the endpoints, without what addWebhooks, closeErrors and share add.
func newDocument(routes *httpapi.Routes, given map[string]examples) (*document, error) {
	d := &document{schemas: huma.NewMapRegistry("#/components/schemas/", schemaName), examples: given}
	d.schemas.RegisterTypeAlias(reflect.TypeFor[clock.Timestamp](), reflect.TypeFor[time.Time]())
	d.aliasTypes(routes)
	d.OpenAPI = &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info:    &huma.Info{Title: "Development Platform API", Version: "1.0.0", Description: description},
		Servers: []*huma.Server{{URL: "/"}},
		Paths:   map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: d.schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				sessionScheme: {Type: "apiKey", In: "cookie", Name: httpapi.SessionCookie, Description: "Set by a login."},
			},
			Headers: commonHeaders(),
		},
	}
	for _, e := range routes.Endpoints {
		if e.Hidden {
			continue
		}
		if err := d.add(e); err != nil {
			return nil, fmt.Errorf("%s: %w", e.ID, err)
		}
	}
	return d, nil
}

// encode returns the document as indented JSON: the same bytes for the same endpoints.
func (d *document) encode() ([]byte, error) {
	data, err := d.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	value := jsontext.Value(data)
	if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	return append(value, '\n'), nil
}

// schemaName returns the name of a type in the document. Types of events have a prefix, because other types have the same
// names and more fields.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if request, ok := strings.CutSuffix(name, "InputBody"); ok {
		name = request + "Request"
	} else if response, ok := strings.CutSuffix(name, "OutputBody"); ok {
		name = response + "Result" // generators have a FooResponse of their own for an operation foo
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path.Base(t.PkgPath()) == "event" {
		name = "Event" + name
	}
	return name
}

// add adds an endpoint.
func (d *document) add(e *httpapi.Endpoint) error {
	op := &huma.Operation{
		OperationID: e.ID, Method: e.Method, Path: e.Path, Summary: e.Summary, Description: e.Description,
		Security: []map[string][]string{{}}, Responses: map[string]*huma.Response{},
	}
	if e.Session {
		op.Security[0][sessionScheme] = []string{}
	}
	if e.Tag.Name != "" {
		op.Tags = []string{e.Tag.Name}
		if !slices.ContainsFunc(d.Tags, func(t *huma.Tag) bool { return t.Name == e.Tag.Name }) {
			d.Tags = append(d.Tags, &huma.Tag{Name: e.Tag.Name, Description: e.Tag.Description})
		}
	}
	d.addInput(op, e.Input)
	success := d.success(e)
	op.Responses[strconv.Itoa(e.Status)] = success
	if err := d.addExamples(op, success); err != nil {
		return err
	}
	for _, status := range e.Also {
		op.Responses[strconv.Itoa(status)] = furtherSuccess(status, success)
	}
	for status, response := range d.errorResponses(op, e) {
		op.Responses[strconv.Itoa(status)] = response
	}
	item := d.Paths[e.Path]
	if item == nil {
		item = &huma.PathItem{}
		d.Paths[e.Path] = item
	}
	switch e.Method {
	case http.MethodGet:
		item.Get = op
	case http.MethodPost:
		item.Post = op
	case http.MethodPut:
		item.Put = op
	case http.MethodDelete:
		item.Delete = op
	default:
		return fmt.Errorf("the method %s is not supported", e.Method)
	}
	return nil
}

// addInput adds the parameters and the body.
func (d *document) addInput(op *huma.Operation, input reflect.Type) {
	for _, field := range reflect.VisibleFields(input) {
		if field.Tag.Get("hidden") == "true" {
			continue
		}
		for _, in := range []string{"path", "query", "header", "cookie"} {
			if name := field.Tag.Get(in); name != "" {
				required := in == "path" || field.Tag.Get("required") == "true"
				op.Parameters = append(op.Parameters, d.param(field, name, in, required))
			}
		}
		if field.Name == "Body" && len(field.Index) == 1 {
			op.RequestBody = &huma.RequestBody{
				Required: field.Type.Kind() != reflect.Pointer,
				Content:  map[string]*huma.MediaType{jsonType: {Schema: d.bodySchema(input, field, op.OperationID+"Request")}},
			}
		}
	}
}

// param describes a parameter or header. Its description and example are its own, and not those of its schema.
func (d *document) param(field reflect.StructField, name, in string, required bool) *huma.Param {
	schema := *huma.SchemaFromField(d.schemas, field, "")
	p := &huma.Param{Name: name, In: in, Required: required, Description: schema.Description, Schema: &schema}
	if in == "query" {
		explode := false
		p.Explode = &explode
	}
	schema.Description = ""
	if len(schema.Examples) > 0 {
		p.Example, schema.Examples = schema.Examples[0], nil
	}
	return p
}

// bodySchema returns the schema of the field Body of a type.
func (d *document) bodySchema(of reflect.Type, body reflect.StructField, hint string) *huma.Schema {
	if of.Name() != "" {
		hint = of.Name() + body.Name
	}
	return huma.SchemaFromField(d.schemas, body, hint)
}

// success describes the response of a success: headers and body.
func (d *document) success(e *httpapi.Endpoint) *huma.Response {
	response := &huma.Response{Description: http.StatusText(e.Status), Headers: map[string]*huma.Header{}}
	if e.Stream {
		response.Content = map[string]*huma.MediaType{eventStreamType: {Schema: &huma.Schema{Type: huma.TypeString}}}
	} else {
		d.addOutput(e, response)
	}
	response.Headers["X-Request-Id"] = &huma.Header{Ref: headersPrefix + requestIDHeader}
	if _, own := response.Headers["Set-Cookie"]; e.Session && !own {
		response.Headers["Set-Cookie"] = &huma.Header{Ref: headersPrefix + renewalHeader}
	}
	return response
}

func (d *document) addOutput(e *httpapi.Endpoint, response *huma.Response) {
	for _, field := range reflect.VisibleFields(e.Output) {
		if name := field.Tag.Get("header"); name != "" && field.Tag.Get("hidden") != "true" {
			if field.Type.Kind() == reflect.Slice {
				field.Type = field.Type.Elem()
			}
			header := d.param(field, "", "", false)
			response.Headers[name] = &huma.Header{Description: header.Description, Schema: header.Schema, Example: header.Example}
		}
		if field.Name == "Body" && len(field.Index) == 1 {
			response.Content = rawContent[e.ID]
			if response.Content == nil {
				schema := d.bodySchema(e.Output, field, e.ID+"Response")
				response.Content = map[string]*huma.MediaType{jsonType: {Schema: schema}}
			}
		}
	}
}

// furtherSuccess is a success with another status.
func furtherSuccess(status int, success *huma.Response) *huma.Response {
	response := &huma.Response{Description: http.StatusText(status), Headers: success.Headers}
	if status != http.StatusNotModified {
		response.Content = success.Content
	}
	return response
}

// openSchemas declares what the library cannot derive: objects may get further fields, and lastDelivery may be null.
func (d *document) openSchemas() {
	for _, schema := range d.schemas.Map() {
		if schema.AdditionalProperties == false {
			schema.AdditionalProperties = true
		}
	}
	d.schemas.Map()["LastDelivery"].Nullable = true
}

// closeErrors declares that an error has exactly two fields, and lists the codes.
func (d *document) closeErrors() {
	schema := d.schemas.Map()["Error"]
	schema.AdditionalProperties = false
	code := schema.Properties["code"]
	code.Enum = nil
	for _, known := range sortedKeys(fault.StatusOf) {
		code.Enum = append(code.Enum, known)
	}
}

// operationsOf returns the operations of paths, in the order of path and method.
func operationsOf(paths map[string]*huma.PathItem) []*huma.Operation {
	var all []*huma.Operation
	for _, path := range sortedKeys(paths) {
		item := paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}
