package main

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/event"
)

// deliveryHeaders are the headers of a webhook delivery.
type deliveryHeaders struct {
	Signature         string `header:"X-Service-Signature" required:"true" doc:"sha256= followed by the HMAC-SHA256 of the raw body in hexadecimal. The key is the UTF-8 bytes of the newest secret, including its prefix if it has one" example:"sha256=6c7ad1b0f0b6f0d0f1f2c8d3f2f1f8a9c55a9b1e3a8f4c70c1e7b1d8a5d2e3f4"`
	Event             string `header:"X-Service-Event" required:"true" doc:"The type of the event" example:"file.created"`
	Delivery          string `header:"X-Service-Delivery" required:"true" doc:"The ID of the delivery. It is the same for every attempt" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Timestamp         string `header:"X-Service-Timestamp" required:"true" doc:"The time of the attempt" example:"2026-01-31T08:15:30.123Z"`
	StandardID        string `header:"webhook-id" required:"true" doc:"The ID of the event. Receivers use it to detect duplicates (Standard Webhooks)" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	StandardTimestamp string `header:"webhook-timestamp" required:"true" doc:"The time of the attempt in seconds since 1970 (Standard Webhooks)" example:"1769847330"`
	StandardSignature string `header:"webhook-signature" required:"true" doc:"One signature for each valid secret, separated by spaces. A signature is v1, a comma, and the base64 of the HMAC-SHA256 of webhook-id.webhook-timestamp.body. If a secret has the prefix whsec_, the rest of it is decoded as base64 to get the key. Any other secret is used as it is (Standard Webhooks)" example:"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="`
	UserAgent         string `header:"User-Agent" required:"true" doc:"The name and version of the sender" example:"devplatform-webhooks/1"`
}

// deliveryResponses maps the status of a receiver's response to its meaning for the service.
var deliveryResponses = map[string]string{
	"2XX": "Success. The whole response must arrive within 15 seconds.",
	"410": "Disables the webhook immediately.",
	"429": retryAfterFailure,
	"503": retryAfterFailure,
	"default": "Failure. A redirect and a missing response are failures too. The service tries again " +
		"5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h after the previous attempt, each ±20%.",
}

const retryAfterFailure = "Failure. The next attempt respects Retry-After, up to twice the normal delay."

// webhookTag is the group of the webhook operations.
const webhookTag = "Webhooks"

// subscribableTypes returns the types that webhooks can subscribe to, sorted.
func subscribableTypes() []event.Type {
	var types []event.Type
	for _, p := range event.Subscribable() {
		if !strings.HasSuffix(p, event.Everything) {
			types = append(types, event.Type(p))
		}
	}
	return types
}

// addEvents adds the requests that webhooks send, one for each type of event.
func (d *document) addEvents() error {
	d.Webhooks = map[string]*huma.PathItem{}
	for _, t := range append(subscribableTypes(), event.WebhookTest) {
		example, err := event.Example(t, event.ExampleValues{
			EventID: "evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
			At:      time.Date(2026, time.January, 31, 8, 15, 30, 123_000_000, time.UTC),
			Actor:   event.Actor{ID: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", Username: "ada"},
			Webhook: event.Webhook{ID: "wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK", URL: "https://example.com/hooks"},
		})
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		schema, err := d.eventSchema(t, example)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		op := &huma.Operation{
			OperationID: "on" + pascal(string(t)), Method: http.MethodPost, Path: "/" + string(t),
			Tags:    []string{webhookTag},
			Summary: "Sent on " + string(t), Description: describeEvent(t),
			Security: []map[string][]string{{}}, Responses: map[string]*huma.Response{},
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				jsonType: {Schema: schema, Example: jsontext.Value(example)},
			}},
		}
		for _, field := range reflect.VisibleFields(reflect.TypeFor[deliveryHeaders]()) {
			op.Parameters = append(op.Parameters, d.param(field, "header"))
		}
		for status, meaning := range deliveryResponses {
			op.Responses[status] = &huma.Response{Description: meaning}
		}
		d.Webhooks[string(t)] = &huma.PathItem{Post: op}
	}
	return nil
}

// describeEvent returns the description of the request that a webhook sends for an event of this type.
func describeEvent(t event.Type) string {
	var cause string
	switch t {
	case event.WebhookTest:
		return "A user tested the webhook. Only this webhook sends the request, and it is not retried."
	case event.DeploymentCompleted:
		cause = "Emitted once for each deployment, when it is ready, has failed or was canceled."
	case event.ProjectDeployed:
		cause = "Emitted each time a deployment goes live at the address of the site: " +
			"after a build, a promotion or a rollback."
	case event.FileDeleted, event.FileCreated:
		cause = "Renaming a file emits file.deleted and file.created. Deleting a project emits no events for its files."
	default:
		cause = "Emitted after the change. A request that changes nothing emits no event."
	}
	return cause + " Each event is sent at least once, and events can arrive in any order. `id` is the same for " +
		"every attempt and for every webhook."
}

// eventSchema adds the schema of a type's payload, and returns a reference to it. The schema of data has the fields of
// the type's example.
func (d *document) eventSchema(t event.Type, example event.Text) (*huma.Schema, error) {
	payload := d.schemas.Schema(reflect.TypeFor[event.Payload](), false, "")
	data, err := d.dataSchema(example)
	if err != nil {
		return nil, err
	}
	name := "Event" + pascal(string(t))
	d.schemas.Map()[name] = &huma.Schema{
		Type: huma.TypeObject,
		Properties: map[string]*huma.Schema{
			"id": payload.Properties["id"], "timestamp": payload.Properties["timestamp"],
			"type": {Type: huma.TypeString, Enum: []any{t}, Description: payload.Properties["type"].Description},
			"data": data,
		},
		Required: []string{"id", "type", "timestamp", "data"},
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}, nil
}

// dataSchema returns the schema of the field data of an event.
func (d *document) dataSchema(example event.Text) (*huma.Schema, error) {
	var decoded struct {
		Data map[string]jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal([]byte(example), &decoded); err != nil {
		return nil, fmt.Errorf("example: %w", err)
	}
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[event.Data]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if decoded.Data[name] == nil {
			continue
		}
		property := huma.SchemaFromField(d.schemas, field, "")
		if property.Ref != "" { // the referenced schema has its own description
			property = &huma.Schema{Ref: property.Ref}
		}
		schema.Properties[name] = property
		schema.Required = append(schema.Required, name)
	}
	return schema, nil
}
