package main

import (
	"cmp"
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
	schemasPrefix   = "#/components/schemas/"
)

// description is the description of the whole API.
//
//go:embed description.md
var description string

// document is an OpenAPI document that is being built. The huma library provides the types of OpenAPI and the schemas
// of Go types.
type document struct {
	*huma.OpenAPI

	schemas huma.Registry
	// closed contains the schemas of the bodies in which unknown fields are rejected.
	closed   []*huma.Schema
	examples map[string]examples
}

// newDocument returns a document of the endpoints. byID contains the examples by operation ID. newDocument returns an
// error if byID contains the ID of an operation that does not exist. The caller may add events, and must call complete
// at the end.
func newDocument(routes *httpapi.Routes, byID map[string]examples) (*document, error) {
	for _, id := range sortedKeys(byID) {
		if !slices.ContainsFunc(routes.Endpoints, func(e *httpapi.Endpoint) bool { return e.ID == id && !e.Hidden }) {
			return nil, fmt.Errorf("examples.json has examples of the operation %s, which does not exist", id)
		}
	}
	d := &document{schemas: huma.NewMapRegistry(schemasPrefix, schemaName), examples: byID}
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
				sessionScheme: {
					Type: "apiKey", In: "cookie", Name: httpapi.SessionCookie,
					Description: "The session cookie. A successful login sets it.",
				},
			},
			Headers: commonHeaders(),
		},
	}
	for _, e := range routes.Endpoints {
		if !e.Hidden {
			d.add(e)
		}
	}
	return d, nil
}

// complete makes the changes that depend on all operations and schemas.
func (d *document) complete() {
	d.openSchemas()
	d.closeErrors()
	d.share()
}

// encode returns the document as indented JSON. The same endpoints always produce the same bytes.
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

// schemaName returns the name of a type's schema. Types of the package event have a prefix, because types of other
// packages have the same names and more fields.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if request, ok := strings.CutSuffix(name, "InputBody"); ok {
		name = request + "Request"
	} else if response, ok := strings.CutSuffix(name, "OutputBody"); ok {
		name = response + "Result" // client generators often create a FooResponse for an operation foo
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
func (d *document) add(e *httpapi.Endpoint) {
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
	d.addInput(op, e)
	success := d.success(e)
	op.Responses[strconv.Itoa(e.Status)] = success
	d.addExamples(op, success)
	for _, status := range e.OtherStatuses {
		op.Responses[strconv.Itoa(status)] = otherSuccess(status, success)
	}
	for status, response := range d.errorResponses(op, e) {
		op.Responses[strconv.Itoa(status)] = response
	}
	d.AddOperation(op)
}

// addInput adds the parameters and the body of a request.
func (d *document) addInput(op *huma.Operation, e *httpapi.Endpoint) {
	for _, field := range reflect.VisibleFields(e.Input) {
		if field.Tag.Get("hidden") == "true" {
			continue
		}
		for _, in := range []string{"path", "query", "header", "cookie"} {
			if field.Tag.Get(in) != "" {
				op.Parameters = append(op.Parameters, d.param(field, in))
			}
		}
		if field.Name == "Body" && len(field.Index) == 1 {
			schema := d.bodySchema(e.Input, field, op.OperationID+"Request")
			if e.IgnoreUnknownFields {
				schema = d.open(schema, pascal(op.OperationID)+"Request")
			} else {
				d.closed = append(d.closed, schema)
			}
			op.RequestBody = &huma.RequestBody{
				Required: field.Type.Kind() != reflect.Pointer,
				Content:  map[string]*huma.MediaType{jsonType: {Schema: schema}},
			}
		}
	}
}

// param returns the parameter for a field. The argument in is path, query, header or cookie: the place of the
// parameter, and the key of the struct tag that contains the parameter's name. param moves the description and the
// example from the schema to the parameter.
func (d *document) param(field reflect.StructField, in string) *huma.Param {
	schema := *huma.SchemaFromField(d.schemas, field, "")
	p := &huma.Param{
		Name: field.Tag.Get(in), In: in, Required: in == "path" || field.Tag.Get("required") == "true",
		Description: schema.Description, Schema: &schema,
	}
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

// bodySchema returns the schema of a body. body is the field Body of the struct type parent. hint is the name of the
// schema if parent has no name.
func (d *document) bodySchema(parent reflect.Type, body reflect.StructField, hint string) *huma.Schema {
	if parent.Name() != "" {
		hint = parent.Name() + body.Name
	}
	if schema := d.alternatives(body.Type); schema != nil {
		return schema
	}
	return huma.SchemaFromField(d.schemas, body, hint)
}

// success returns the success response of an endpoint, with its headers and its body.
func (d *document) success(e *httpapi.Endpoint) *huma.Response {
	response := &huma.Response{Description: http.StatusText(e.Status), Headers: map[string]*huma.Header{}}
	if e.Stream {
		response.Content = map[string]*huma.MediaType{eventStreamType: {Schema: &huma.Schema{Type: huma.TypeString}}}
	} else {
		d.addOutput(e, response)
	}
	response.Headers["X-Request-Id"] = &huma.Header{Ref: headersPrefix + requestIDHeader}
	if _, exists := response.Headers["Set-Cookie"]; e.Session && !exists {
		response.Headers["Set-Cookie"] = &huma.Header{Ref: headersPrefix + renewalHeader}
	}
	return response
}

// addOutput adds the headers and the body of a handler's output type.
func (d *document) addOutput(e *httpapi.Endpoint, response *huma.Response) {
	for _, field := range reflect.VisibleFields(e.Output) {
		if name := field.Tag.Get("header"); name != "" && field.Tag.Get("hidden") != "true" {
			if field.Type.Kind() == reflect.Slice {
				field.Type = field.Type.Elem()
			}
			p := d.param(field, "header")
			response.Headers[name] = &huma.Header{Description: p.Description, Schema: p.Schema, Example: p.Example}
		}
		if field.Name == "Body" && len(field.Index) == 1 {
			response.Content = rawContent(e.ID)
			if response.Content == nil {
				schema := d.bodySchema(e.Output, field, e.ID+"Response")
				response.Content = map[string]*huma.MediaType{jsonType: {Schema: schema}}
			}
		}
	}
}

// otherSuccess returns a copy of a success response with another status. A 304 has no body.
func otherSuccess(status int, success *huma.Response) *huma.Response {
	response := &huma.Response{Description: http.StatusText(status), Headers: success.Headers}
	if status != http.StatusNotModified {
		response.Content = success.Content
	}
	return response
}

// openSchemas declares that later versions may add fields to the objects of responses, and that the last delivery of a
// webhook, the error of a deployment and the site of a project may be null. huma cannot derive this from the types.
func (d *document) openSchemas() {
	closed := map[*huma.Schema]bool{}
	for _, schema := range d.closed {
		d.visit(schema, closed)
	}
	for _, schema := range d.schemas.Map() {
		if schema.AdditionalProperties == false && !closed[schema] {
			schema.AdditionalProperties = true
		}
	}
	for _, name := range []string{"LastDelivery", "BuildError", "SiteRef"} {
		if schema := d.schemas.Map()[name]; schema != nil {
			schema.Nullable = true
		}
	}
}

// open registers a copy of a request's schema under another name, and returns a reference to the copy. The copy allows
// unknown fields, also in nested objects. Other operations that use the original schema reject unknown fields.
func (d *document) open(schema *huma.Schema, name string) *huma.Schema {
	d.schemas.Map()[name] = d.openCopy(schema)
	return &huma.Schema{Ref: schemasPrefix + name}
}

// openCopy returns a copy of a schema that allows unknown fields. It replaces references with copies.
func (d *document) openCopy(schema *huma.Schema) *huma.Schema {
	description := schema.Description
	if schema.Ref != "" {
		schema = d.schemas.SchemaFromRef(schema.Ref)
	}
	changed := *schema
	changed.Description = cmp.Or(description, schema.Description)
	if schema.Properties != nil {
		changed.AdditionalProperties, changed.Properties = true, map[string]*huma.Schema{}
	}
	for name, property := range schema.Properties {
		changed.Properties[name] = d.openCopy(property)
	}
	if schema.Items != nil {
		changed.Items = d.openCopy(schema.Items)
	}
	return &changed
}

// visit adds a schema, and the schemas that it refers to, to the set seen.
func (d *document) visit(schema *huma.Schema, seen map[*huma.Schema]bool) {
	if schema == nil || seen[schema] {
		return
	}
	seen[schema] = true
	if schema.Ref != "" {
		d.visit(d.schemas.SchemaFromRef(schema.Ref), seen)
	}
	d.visit(schema.Items, seen)
	for _, property := range schema.Properties {
		d.visit(property, seen)
	}
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

// operationsOf returns the operations of paths, sorted by path and method.
func operationsOf(paths map[string]*huma.PathItem) []*huma.Operation {
	var operations []*huma.Operation
	for _, key := range sortedKeys(paths) {
		item := paths[key]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if op != nil {
				operations = append(operations, op)
			}
		}
	}
	return operations
}
