package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/routes"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// eventDocument returns a document with an endpoint that returns events, and with the requests that webhooks send.
func eventDocument(t *testing.T) *document {
	t.Helper()
	type output struct {
		Body struct {
			Events []event.Text `json:"events" nullable:"false"`
		}
	}
	var routes httpapi.Routes
	httpapi.Public(&routes, httpapi.Operation{ID: "feed", Method: http.MethodGet, Path: "/api/feed"},
		func(context.Context, *struct{}) (*output, error) { return &output{}, nil })
	d, err := newDocument(&routes, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.addEvents(); err != nil {
		t.Fatal(err)
	}
	return d
}

// marshal returns the JSON of a value.
func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPayloadSchema checks that the schema lists the types of events that the service emits, and allows null only where
// null occurs.
func TestPayloadSchema(t *testing.T) {
	t.Parallel()
	schemas := eventDocument(t).schemas
	types := schemas.Map()["EventPayload"].Properties["type"]
	want := []any{
		"comment.created", "deployment.completed", "file.created", "file.deleted", "file.updated", "member.added",
		"member.removed", "project.created", "project.deleted", "project.deployed", "project.updated",
	}
	if diff := cmp.Diff(want, types.Enum); diff != "" {
		t.Errorf("wrong event types (-want +got):\n%s", diff)
	}
	if types.Type != huma.TypeString || types.Description == "" {
		t.Errorf("got the schema %+v, want a string with a description", types)
	}
	if changes := schemas.Map()["EventData"].Properties["changes"]; changes.Nullable {
		t.Errorf("the schema of changes allows null: %+v", changes)
	}
	data := marshal(t, schemas.Map()["EventData"])
	if !strings.Contains(data, "deployment") || strings.Contains(data, "webhook") {
		t.Errorf("the schema EventData does not have exactly the fields of emitted events: %s", data)
	}
}

// TestEncodedEventSchema checks that an encoded event has the same schema as its payload.
func TestEncodedEventSchema(t *testing.T) {
	t.Parallel()
	d := eventDocument(t)
	text := marshal(t, d.schemas.Schema(reflect.TypeFor[event.Text](), true, ""))
	payload := marshal(t, d.schemas.Schema(reflect.TypeFor[event.Payload](), true, ""))
	if text != payload || !strings.Contains(text, `"$ref"`) {
		t.Errorf("got the schema %s for an encoded event, want %s", text, payload)
	}
}

// TestEventTypeSchemas checks that the schema of an event type requires exactly the fields that its events have.
func TestEventTypeSchemas(t *testing.T) {
	t.Parallel()
	d := eventDocument(t)
	for name, want := range map[event.Type][]string{
		event.ProjectUpdated:      {"actor", "project", "changes"},
		event.FileDeleted:         {"actor", "project", "file"},
		event.MemberAdded:         {"actor", "workspace", "member"},
		event.DeploymentCompleted: {"actor", "project", "deployment"},
		event.ProjectDeployed:     {"actor", "project", "deployment", "reason"},
		event.WebhookTest:         {"actor", "webhook"},
	} {
		request := d.Webhooks[string(name)].Post.RequestBody.Content[jsonType]
		schema := d.schemas.SchemaFromRef(request.Schema.Ref)
		if schema == nil || schema.Properties["id"].Description == "" {
			t.Fatalf("%s: got the schema %+v, want one that describes id", name, schema)
		}
		data := schema.Properties["data"]
		if diff := cmp.Diff(want, data.Required); diff != "" || len(data.Properties) != len(want) {
			t.Errorf("%s: got the data %v, wrong required fields (-want +got):\n%s", name, data.Properties, diff)
		}
		if diff := cmp.Diff([]any{name}, schema.Properties["type"].Enum); diff != "" {
			t.Errorf("%s: wrong values of type (-want +got):\n%s", name, diff)
		}
	}
}

// TestEmittedTypes checks that Outbox.Add accepts exactly the types to which webhooks can subscribe.
func TestEmittedTypes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.January, 31, 8, 15, 30, 0, time.UTC)
	now := func() time.Time { return at }
	events := db.Wrap(nil, now).Table("events") // no client: Add only returns a write
	outbox := event.Outbox{Events: events, IDs: id.NewGenerator(now, rand.Reader)}
	for _, name := range append(subscribableTypes(), event.WebhookTest) {
		text, err := event.Example(name, event.ExampleValues{At: at, Actor: event.Actor{ID: "usr_1", Username: "ada"}})
		if err != nil {
			t.Fatal(err)
		}
		var payload event.Payload
		if err := jsonv2.Unmarshal([]byte(text), &payload); err != nil {
			t.Fatal(err)
		}
		_, err = outbox.Add(event.Change{Type: name, WorkspaceID: "ws_1", ProjectID: "prj_1", Data: payload.Data}, at)
		if want := name != event.WebhookTest; (err == nil) != want {
			t.Errorf("%s: Add returned %v, but the document lists the type as emitted: %t", name, err, want)
		}
	}
}

// TestEnumValues checks each enum type that has an alias in the document. The alias's schema must list exactly the
// values that the HTTP edge accepts.
func TestEnumValues(t *testing.T) {
	t.Parallel()
	checked := 0
	visitTypes(routes.All(), func(typ reflect.Type) {
		enum, ok := reflect.Zero(typ).Interface().(httpapi.Enum)
		if alias := aliases[typ.String()]; ok && alias != nil {
			checked++
			provider, _ := reflect.Zero(alias).Interface().(huma.SchemaProvider)
			if diff := cmp.Diff(enumOf(enum.Values()).Enum, provider.Schema(nil).Enum); diff != "" {
				t.Errorf("%s: wrong values (-accepted +documented):\n%s", typ, diff)
			}
		}
	})
	if checked != 2 {
		t.Errorf("%d enums were checked, want 2", checked)
	}
}
