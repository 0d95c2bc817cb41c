package httpapi

import (
	"bytes"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// Webhook is a request that the service makes, and somebody else answers. It is in the document alone.
type Webhook struct {
	// Name is what it tells of, such as "file.created"; ID is the operation's name in the document.
	Name, ID             string
	Tag                  Tag
	Summary, Description string
	// Payload is the schema of the body, Example one that is written as JSON.
	Payload *huma.Schema
	Example any
	// Answers say what answers mean to the service, by their statuses.
	Answers map[string]string
}

// DescribeWebhook adds a webhook whose headers are the fields of Headers. A function has no use for it. An example that can't be written
// panics: it is a mistake in the program.
func DescribeWebhook[Headers any](h huma.API, hook Webhook) {
	var example bytes.Buffer
	if err := marshal(&example, hook.Example); err != nil {
		panic(err)
	}
	declared := huma.Operation{
		OperationID: hook.ID, Method: http.MethodPost, Path: "/" + hook.Name, Tags: []string{hook.Tag.Name},
		Summary: hook.Summary, Description: hook.Description,
		DefaultStatus: http.StatusOK,
		Security:      []map[string][]string{{}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			jsonType: {Schema: hook.Payload, Example: jsontext.Value(example.Bytes())},
		}},
	}
	huma.Register[Headers, struct{}](unserved{h, hook}, declared, nil)
}

// unserved is an API that describes a webhook and serves nothing.
type unserved struct {
	huma.API

	hook Webhook
}

// DocumentOperation implements huma.OperationDocumenter.
func (u unserved) DocumentOperation(op *huma.Operation) {
	op.Responses = map[string]*huma.Response{}
	for status, meaning := range u.hook.Answers {
		op.Responses[status] = &huma.Response{Description: meaning}
	}
	document := u.OpenAPI()
	if document.Webhooks == nil {
		document.Webhooks = map[string]*huma.PathItem{}
	}
	document.Webhooks[u.hook.Name] = &huma.PathItem{Post: op}
}

// Adapter implements huma.API.
func (u unserved) Adapter() huma.Adapter { return unrouted{u.API.Adapter()} }

type unrouted struct{ huma.Adapter }

// Handle implements huma.Adapter: nobody sends such requests here.
func (unrouted) Handle(*huma.Operation, func(huma.Context)) {}
