package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// eventDocument returns a document of an endpoint that returns events, and of the requests that webhooks receive.
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

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPayloadSchema checks that the schema names the types of events that changes emit, and allows null only where
// null occurs.
func TestPayloadSchema(t *testing.T) {
	t.Parallel()
	schemas := eventDocument(t).schemas
	types := schemas.Map()["EventPayload"].Properties["type"]
	want := []any{
		"comment.created", "file.created", "file.deleted", "file.updated", "member.added", "member.removed",
		"project.created", "project.deleted", "project.updated",
	}
	if diff := cmp.Diff(want, types.Enum); diff != "" || types.Type != huma.TypeString || types.Description == "" {
		t.Errorf("%+v %s", types, diff)
	}
	if changes := schemas.Map()["EventData"].Properties["changes"]; changes.Nullable {
		t.Errorf("%+v", changes)
	}
	data := marshal(t, schemas.Map()["EventData"])
	if strings.Contains(data, "deployment") || strings.Contains(data, "webhook") {
		t.Errorf("describes fields that no event of the feed has: %s", data)
	}
}

// TestTextHasThePayloadsSchema checks that an encoded event has the schema of the payload that it contains.
func TestTextHasThePayloadsSchema(t *testing.T) {
	t.Parallel()
	d := eventDocument(t)
	text := marshal(t, d.schemas.Schema(reflect.TypeFor[event.Text](), true, ""))
	payload := marshal(t, d.schemas.Schema(reflect.TypeFor[event.Payload](), true, ""))
	if text != payload || !strings.Contains(text, `"$ref"`) {
		t.Errorf("%s is documented as %s", payload, text)
	}
}

// TestEveryTypeHasItsSchema checks that the request of each type has exactly the data that all events of the type
// have, including the types that no change emits.
func TestEveryTypeHasItsSchema(t *testing.T) {
	t.Parallel()
	d := eventDocument(t)
	for name, want := range map[event.Type][]string{
		event.ProjectUpdated: {"actor", "project", "changes"}, event.FileDeleted: {"actor", "project", "file"},
		event.MemberAdded: {"actor", "workspace", "member"}, event.DeploymentCompleted: {"actor", "project", "deployment"},
		event.WebhookTest: {"actor", "webhook"},
	} {
		request := d.Webhooks[string(name)].Post.RequestBody.Content[jsonType]
		schema := d.schemas.SchemaFromRef(request.Schema.Ref)
		if schema == nil || schema.Properties["id"].Description == "" {
			t.Fatalf("%s: %+v", name, schema)
		}
		data := schema.Properties["data"]
		if diff := cmp.Diff(want, data.Required); diff != "" || len(data.Properties) != len(want) {
			t.Errorf("%s: %s %v", name, diff, data.Properties)
		}
		if diff := cmp.Diff([]any{name}, schema.Properties["type"].Enum); diff != "" {
			t.Error(diff)
		}
	}
}

// TestEmittedTypes checks that changes can emit exactly the emitted types.
func TestEmittedTypes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.January, 31, 8, 15, 30, 0, time.UTC)
	now := func() time.Time { return at }
	events := db.Wrap(nil, now).Table("events") // Add only builds the write
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
		if want := slices.Contains(emittedTypes(), name); (err == nil) != want {
			t.Errorf("%s is documented as emitted: %t, but %v", name, want, err)
		}
	}
}

// TestEnumsHaveTheValuesOfTheirTypes checks that the schemas that replace enums have the values that the edge accepts.
func TestEnumsHaveTheValuesOfTheirTypes(t *testing.T) {
	t.Parallel()
	checked := 0
	visitTypes(allRoutes(), func(typ reflect.Type) {
		enum, ok := reflect.Zero(typ).Interface().(httpapi.Enum)
		if alias := aliases[typ.String()]; ok && alias != nil {
			checked++
			provider, _ := reflect.Zero(alias).Interface().(huma.SchemaProvider)
			if diff := cmp.Diff(enumOf(enum.Values()).Enum, provider.Schema(nil).Enum); diff != "" {
				t.Errorf("%s: %s", typ, diff)
			}
		}
	})
	if checked != 2 {
		t.Errorf("%d enums were checked", checked)
	}
}
