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

var scene = event.ExampleValues{
	EventID: evt, At: at, Actor: ada, WorkspaceID: ws, ProjectID: prj, Webhook: event.Webhook{ID: wh, URL: "https://example.com/hook"},
}

// members contains the members of data of each type, except the actor.
var members = map[string][]string{
	"project.created": {"project"}, "project.updated": {"changes", "project"}, "project.deleted": {"project"},
	"file.created": {"file", "project"}, "file.updated": {"file", "project"}, "file.deleted": {"file", "project"},
	"member.added": {"member", "workspace"}, "member.removed": {"member", "workspace"}, "comment.created": {"comment", "project"},
	"project.deployed": {"deployment", "project"}, "deployment.completed": {"deployment", "project"}, "webhook.test": {"webhook"},
}

// allTypes returns all types, sorted.
func allTypes() []string { return slices.Sorted(maps.Keys(members)) }

func TestExamples(t *testing.T) {
	t.Parallel()
	for _, kind := range allTypes() {
		text, err := event.Example(event.Type(kind), scene)
		if err != nil {
			t.Fatal(err)
		}
		var payload event.Payload
		if err := jsonv2.Unmarshal([]byte(text), &payload, jsonv2.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if payload.ID != evt || payload.Type != event.Type(kind) || payload.Timestamp != clock.Stamp(at) || payload.Data.Actor != ada {
			t.Errorf("%s", text)
		}
		var loose struct {
			Data map[string]map[string]any `json:"data"`
		}
		_ = jsonv2.Unmarshal([]byte(strings.Replace(string(text), `"changes":["name"]`, `"changes":{"name":1}`, 1)), &loose)
		var got []string
		for _, member := range []string{"changes", "comment", "deployment", "file", "member", "project", "webhook", "workspace"} {
			if fields, ok := loose.Data[member]; ok {
				got = append(got, member)
				for field, value := range fields {
					if value == "" || value == nil {
						t.Errorf("%s: %s.%s is empty", kind, member, field)
					}
				}
			}
		}
		if diff := cmp.Diff(members[kind], got); diff != "" || len(loose.Data) != len(got)+1 {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

func TestExamplesContainTheScene(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ kind, want string }{
		{"webhook.test", `"webhook":{"id":"` + wh + `","url":"https://example.com/hook"}`},
		{"project.created", `"project":{"id":"` + prj + `","name":"Todo list","slug":"todo-list","framework":"react","visibility":"private","workspaceId":"` + ws + `"}`},
		{"file.updated", `"project":{"id":"` + prj + `","name":"Todo list"},"file":{"path":"/src/app.ts","size":4,"sha256":"` + sha + `",`},
		{"member.added", `"workspace":{"id":"` + ws + `","name":"Team"}`},
	} {
		if text, err := event.Example(event.Type(tc.kind), scene); err != nil || !strings.Contains(string(text), tc.want) {
			t.Errorf("%s: %s, %v", tc.kind, text, err)
		}
	}
	empty := scene
	empty.ProjectID, empty.WorkspaceID = "", ""
	text, err := event.Example(event.ProjectUpdated, empty)
	if err != nil {
		t.Fatal(err)
	}
	var payload event.Payload
	if err := jsonv2.Unmarshal([]byte(text), &payload); err != nil || !id.Project.Valid(payload.Data.Project.ID) || !id.Workspace.Valid(payload.Data.Project.WorkspaceID) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestInvalidExamples(t *testing.T) {
	t.Parallel()
	withoutActor := scene
	withoutActor.Actor = event.Actor{}
	if text, err := event.Example(event.ProjectCreated, withoutActor); err == nil {
		t.Errorf("without actor: %s", text)
	}
	for _, kind := range []event.Type{"", "*", "project.*", "project.renamed"} {
		if text, err := event.Example(kind, scene); err == nil {
			t.Errorf("of %q: %s", kind, text)
		}
	}
}
