package main

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/event"
)

// deliveryHeaders are the headers of a webhook delivery.
type deliveryHeaders struct {
	Signature         string `header:"X-Service-Signature" doc:"sha256= and, in hexadecimal, the HMAC-SHA256 of the raw body. The key is the newest secret as it was given: its UTF-8 bytes, including any prefix" example:"sha256=6c7ad1b0f0b6f0d0f1f2c8d3f2f1f8a9c55a9b1e3a8f4c70c1e7b1d8a5d2e3f4"`
	Event             string `header:"X-Service-Event" doc:"The event's type" example:"file.created"`
	Delivery          string `header:"X-Service-Delivery" doc:"The delivery's ID, the same for every attempt" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Timestamp         string `header:"X-Service-Timestamp" doc:"When the attempt was made" example:"2026-01-31T08:15:30.123Z"`
	StandardID        string `header:"webhook-id" doc:"The event's ID, by which a receiver recognizes a repetition (Standard Webhooks)" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	StandardTimestamp string `header:"webhook-timestamp" doc:"When the attempt was made, in seconds since 1970 (Standard Webhooks)" example:"1769847330"`
	StandardSignature string `header:"webhook-signature" doc:"v1, and the base64 of the HMAC-SHA256 of webhook-id.webhook-timestamp.body, one for every valid secret, separated by spaces. A secret with the prefix whsec_ is decoded as base64; any other secret is used as it is (Standard Webhooks)" example:"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="`
	UserAgent         string `header:"User-Agent" doc:"The service" example:"devplatform-webhooks/1"`
}

// deliveryResponses says what the responses of a receiver mean.
var deliveryResponses = map[string]string{
	"2XX":     "Success. The whole response must arrive within 15 seconds.",
	"410":     "Disables the webhook immediately.",
	"429":     "Failure. Retry-After is honoured, up to twice the wait of the current step.",
	"503":     "Failure. Retry-After is honoured, up to twice the wait of the current step.",
	"default": "Failure, as is any redirect, and no response at all. The next attempts follow after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each ±20 %.",
}

// notEmitted are the types that can be subscribed to and tested, but that nothing emits yet.
var notEmitted = []event.Type{event.ProjectDeployed, event.DeploymentCompleted}

// emittedTypes returns the types of events that changes emit.
func emittedTypes() []event.Type {
	var types []event.Type
	for _, name := range event.Subscribable() {
		if t := event.Type(name); !strings.HasSuffix(name, event.Everything) && !slices.Contains(notEmitted, t) {
			types = append(types, t)
		}
	}
	return types
}

// addEvents adds the requests that webhooks receive, one for each type of event. tag is the group of webhooks.
func (d *document) addEvents(tag string) error {
	types := slices.Concat(emittedTypes(), notEmitted, []event.Type{event.WebhookTest})
	d.Webhooks = map[string]*huma.PathItem{}
	for _, t := range types {
		example, err := event.Example(t, event.Scene{
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
			OperationID: "on" + pascal(t), Method: http.MethodPost, Path: "/" + string(t), Tags: []string{tag},
			Summary: "Sent on " + string(t),
			Description: occasion(t) + " Sent at least once and in no particular order. " +
				"`id` is the same for every attempt and every subscriber.",
			Security: []map[string][]string{{}}, Responses: map[string]*huma.Response{},
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				jsonType: {Schema: schema, Example: jsontext.Value(example)},
			}},
		}
		for _, field := range reflect.VisibleFields(reflect.TypeFor[deliveryHeaders]()) {
			op.Parameters = append(op.Parameters, d.param(field, field.Tag.Get("header"), "header", true))
		}
		for status, meaning := range deliveryResponses {
			op.Responses[status] = &huma.Response{Description: meaning}
		}
		d.Webhooks[string(t)] = &huma.PathItem{Post: op}
	}
	return nil
}

// occasion says when an event of a type occurs.
func occasion(t event.Type) string {
	switch t {
	case event.WebhookTest:
		return "A webhook was tested. It is sent to that webhook only, and once."
	case event.ProjectDeployed, event.DeploymentCompleted:
		return "About deployments, a later capability: webhooks can subscribe to it and be tested with it, and nothing emits it yet."
	case event.FileDeleted, event.FileCreated:
		return "A rename of a file is a deletion and a creation. The deletion of a project emits no events for its files."
	default:
		return "Something changed, as the type says. A request that changes nothing emits nothing."
	}
}

// eventSchema describes the payload of a type: data has the fields that the type's example has.
func (d *document) eventSchema(t event.Type, example event.Text) (*huma.Schema, error) {
	payload := d.schemas.Schema(reflect.TypeFor[event.Payload](), false, "")
	data, err := d.dataSchema(example)
	if err != nil {
		return nil, err
	}
	name := "Event" + pascal(t)
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

func (d *document) dataSchema(example event.Text) (*huma.Schema, error) {
	var shown struct {
		Data map[string]jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal([]byte(example), &shown); err != nil {
		return nil, fmt.Errorf("example: %w", err)
	}
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[event.Data]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if shown.Data[name] == nil {
			continue
		}
		described := *huma.SchemaFromField(d.schemas, field, "")
		if described.Ref != "" { // the schema that it refers to has a description
			described = huma.Schema{Ref: described.Ref}
		}
		schema.Properties[name] = &described
		schema.Required = append(schema.Required, name)
	}
	return schema, nil
}

// pascal converts file.created to FileCreated.
func pascal(t event.Type) string {
	var b strings.Builder
	for word := range strings.SplitSeq(string(t), ".") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
