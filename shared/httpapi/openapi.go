package httpapi

import (
	"devplatform/shared/fault"
	_ "embed"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// description tells the readers of the document what holds for every operation (API.md §1 and §2).
//
//go:embed openapi.md
var description string

// OpenAPI is the OpenAPI 3.1 document of everything that registers: JSON, indented, the same
// bytes for the same operations. cfg needs a name and a version only.
//
// Functions register the same operations whenever they start, but write no document. So registering leaves out of it what
// takes time, and it is added here: errors, examples, and what is said of headers. Error: an example that can't be written.
func OpenAPI(cfg Config, register ...func(huma.API)) ([]byte, error) {
	e := &edge{cfg: cfg, mux: http.NewServeMux()}
	d := &document{OpenAPI: e.newAPI(register).OpenAPI(), schemas: e.schemas}
	d.Info.Description = description
	d.Components.Headers = commonHeaders()
	for _, op := range d.operations() {
		if err := d.complete(op); err != nil {
			return nil, fmt.Errorf("api: document: %s: %w", op.OperationID, err)
		}
	}
	for _, op := range operationsOf(d.Webhooks) {
		d.describe(op)
	}
	d.closeErrors()
	d.share()
	data, err := d.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("api: document: %w", err)
	}
	value := jsontext.Value(data)
	if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("api: document: %w", err)
	}
	return append(value, '\n'), nil
}

// document is an OpenAPI document that is being made.
type document struct {
	*huma.OpenAPI

	schemas huma.Registry
}

// operations are all operations, by path and method.
func (d *document) operations() []*huma.Operation { return operationsOf(d.Paths) }

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

// complete adds to an operation what registering has left out.
func (d *document) complete(op *huma.Operation) error {
	declared, ok := op.Metadata[declaredAs].(*Operation)
	if !ok {
		return nil // not registered by Register: as it is
	}
	delete(op.Responses, "default") // huma's, for want of errors
	success := op.Responses[strconv.Itoa(declared.Status)]
	if declared.Events {
		success.Content = map[string]*huma.MediaType{eventStreamType: {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	d.describe(op)
	d.documentHeaders(success, declared)
	var examples Examples
	if declared.Examples != nil {
		examples = declared.Examples()
	}
	if op.RequestBody != nil {
		if err := d.addExamples(op.RequestBody.Content, examples.Request); err != nil {
			return err
		}
	}
	if err := d.addExamples(success.Content, examples.Response); err != nil {
		return err
	}
	for _, status := range declared.Also {
		op.Responses[strconv.Itoa(status)] = also(status, success)
	}
	for status, answer := range d.errorResponses(op, declared) {
		op.Responses[strconv.Itoa(status)] = answer
	}
	return nil
}

// also is a success with another status than the usual one's.
func also(status int, success *huma.Response) *huma.Response {
	answer := &huma.Response{Description: http.StatusText(status), Headers: success.Headers}
	if status != http.StatusNotModified {
		answer.Content = success.Content
	}
	return answer
}

// describe puts what the tags of a field say of a parameter where readers and their tools look for it: huma leaves its example, and its
// description once more, in the schema.
func (d *document) describe(op *huma.Operation) {
	for _, p := range op.Parameters {
		lift(p)
	}
	for _, answer := range op.Responses {
		for _, header := range answer.Headers {
			lift(header)
		}
	}
}

func lift(p *huma.Param) {
	if p.Schema == nil {
		return
	}
	schema := *p.Schema
	if p.Description == "" {
		p.Description = schema.Description
	}
	schema.Description = ""
	if len(schema.Examples) > 0 {
		p.Example, schema.Examples = schema.Examples[0], nil
	}
	p.Schema = &schema
}

// closeErrors says that an error has exactly two fields, and which codes there are.
func (d *document) closeErrors() {
	schema, ok := d.schemas.Map()["Error"]
	if !ok {
		return
	}
	schema.AdditionalProperties = false
	code := schema.Properties["code"]
	code.Enum = nil
	for _, known := range fault.Codes() {
		code.Enum = append(code.Enum, known)
	}
}
