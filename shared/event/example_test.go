package event_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

const (
	evt = "evt_01K9ZQ3V7M8T5XW2ABCDEFGHJR"
	wh  = "wh_01K9ZQ3V7M8T5XW2ABCDEFGHJS"
)

var values = event.ExampleValues{
	EventID:     evt,
	At:          at,
	Actor:       ada,
	WorkspaceID: ws,
	ProjectID:   prj,
	Webhook:     event.Webhook{ID: wh, URL: "https://example.com/hook"},
}

// dataFields contains the fields of the data of each type, except the actor.
var dataFields = map[string][]string{
	"project.created":      {"project"},
	"project.updated":      {"changes", "project"},
	"project.deleted":      {"project"},
	"file.created":         {"file", "project"},
	"file.updated":         {"file", "project"},
	"file.deleted":         {"file", "project"},
	"member.added":         {"member", "workspace"},
	"member.removed":       {"member", "workspace"},
	"comment.created":      {"comment", "project"},
	"project.deployed":     {"deployment", "project", "reason"},
	"deployment.completed": {"deployment", "project"},
	"webhook.test":         {"webhook"},
}

// allTypes returns all types, sorted.
func allTypes() []string { return slices.Sorted(maps.Keys(dataFields)) }

func TestExamples(t *testing.T) {
	t.Parallel()
	for _, kind := range allTypes() {
		text, err := event.Example(event.Type(kind), values)
		if err != nil {
			t.Fatal(err)
		}
		var payload event.Payload
		if err := jsonv2.Unmarshal([]byte(text), &payload, jsonv2.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("the example %s is not a valid payload: %v", text, err)
		}
		payload.Data = event.Data{Actor: payload.Data.Actor}
		want := event.Payload{
			ID: evt, Type: event.Type(kind), Timestamp: clock.Stamp(at), Data: event.Data{Actor: ada},
		}
		if diff := cmp.Diff(want, payload); diff != "" {
			t.Errorf("%s: payload without data (-want +got):\n%s", kind, diff)
		}
		checkDataFields(t, kind, text)
	}
}

// checkDataFields checks that the data of an example has the fields of its type, and that they contain no empty values.
func checkDataFields(t *testing.T, kind string, text event.Text) {
	t.Helper()
	var payload struct {
		Data map[string]any `json:"data"`
	}
	if err := jsonv2.Unmarshal([]byte(text), &payload); err != nil {
		t.Fatal(err)
	}
	delete(payload.Data, "actor")
	got := slices.Sorted(maps.Keys(payload.Data))
	if diff := cmp.Diff(dataFields[kind], got); diff != "" {
		t.Errorf("%s: fields of the data (-want +got):\n%s", kind, diff)
	}
	for name, value := range payload.Data {
		object, _ := value.(map[string]any) // nil for changes, which is a list
		for field, value := range object {
			if value == "" || value == nil {
				t.Errorf("%s: %s.%s is empty", kind, name, field)
			}
		}
	}
}

func TestExamplesContainTheValues(t *testing.T) {
	t.Parallel()
	for kind, want := range map[event.Type]string{
		"webhook.test": `"webhook":{"id":"` + wh + `","url":"https://example.com/hook"}`,
		"project.created": `"project":{"id":"` + prj + `","name":"Todo list","slug":"todo-list",` +
			`"framework":"react","visibility":"private","workspaceId":"` + ws + `"}`,
		"file.updated": `"project":{"id":"` + prj + `","name":"Todo list"},` +
			`"file":{"path":"/src/app.ts","size":4,"sha256":"` + sha + `",`,
		"project.updated": `"changes":["name"]`,
		"member.added":    `"workspace":{"id":"` + ws + `","name":"Team"}`,
	} {
		if text, err := event.Example(kind, values); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: got example %s, %v, want it to contain %s", kind, text, err, want)
		}
	}
	withoutIDs := values
	withoutIDs.ProjectID, withoutIDs.WorkspaceID = "", ""
	text, err := event.Example(event.ProjectUpdated, withoutIDs)
	if err != nil {
		t.Fatal(err)
	}
	var payload event.Payload
	if err := jsonv2.Unmarshal([]byte(text), &payload); err != nil {
		t.Fatal(err)
	}
	if p := payload.Data.Project; !id.Project.Valid(p.ID) || !id.Workspace.Valid(p.WorkspaceID) {
		t.Errorf("got example %s, want placeholders for the project and the workspace", text)
	}
}

func TestInvalidExamples(t *testing.T) {
	t.Parallel()
	withoutActor := values
	withoutActor.Actor = event.Actor{}
	if text, err := event.Example(event.ProjectCreated, withoutActor); err == nil {
		t.Errorf("without an actor: got example %s, want an error", text)
	}
	for _, kind := range []event.Type{"", "*", "project.*", "project.renamed"} {
		if text, err := event.Example(kind, values); err == nil {
			t.Errorf("type %q: got example %s, want an error", kind, text)
		}
	}
}
