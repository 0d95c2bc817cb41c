package event_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
)

const (
	usr = "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	prj = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJM"
	ws  = "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJN"
	cmt = "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJP"
	dpl = "dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJQ"
	sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	ver = "01K9ZQ3V7M8T5XW2ABCDEFGHJQ"
)

var at = time.Date(2026, 1, 31, 8, 15, 30, 123_456_789, time.FixedZone("CET", 3600))

// newIDs returns a generator of predictable IDs.
func newIDs() *id.Generator { return id.NewGenerator(now, bytes.NewReader(make([]byte, 1<<10))) }

func now() time.Time { return at }

// firstID is the ID of the first event that each generator of newIDs generates.
var firstID = newIDs().New(id.Event)

// fixture is an outbox with an empty events table.
type fixture struct {
	client *db.Client
	table  db.Table
	outbox event.Outbox
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	sdk := dynamotest.Start(t)
	name := "events-" + rand.Text()
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	client := db.Wrap(sdk, now)
	table := client.Table(name)
	return fixture{client: client, table: table, outbox: event.Outbox{Events: table, IDs: newIDs()}}
}

var (
	ada     = event.Actor{ID: usr, Username: "ada"}
	project = &event.Project{
		ID: prj, Name: "Café <1>", Slug: "cafe-1", Framework: "react", Visibility: "private", WorkspaceID: ws,
	}
	projectName = &event.Project{ID: prj, Name: "Café <1>"}
	file        = &event.File{Path: "/a#b.ts", Size: 0, SHA256: sha, Version: ver}
	workspace   = &event.Workspace{ID: ws, Name: "Team"}
	deployment  = &event.Deployment{
		ID: dpl, Status: "ready", URL: "https://cafe-1--k3j5n2m4p6q7r2s4.example.app", Version: 3, Target: "preview",
	}
	member = &event.Member{UserID: usr, Username: "grace", Role: "viewer"}
)

// The JSON of the fields in the data of a payload.
const (
	projectJSON = `"project":{"id":"` + prj + `","name":"Café <1>","slug":"cafe-1","framework":"react",` +
		`"visibility":"private","workspaceId":"` + ws + `"}`
	projectNameJSON = `"project":{"id":"` + prj + `","name":"Café <1>"}`
	fileJSON        = `"file":{"path":"/a#b.ts","size":0,"sha256":"` + sha + `","version":"` + ver + `"}`
	deploymentJSON  = `"deployment":{"id":"` + dpl + `","status":"ready",` +
		`"url":"https://cafe-1--k3j5n2m4p6q7r2s4.example.app","version":3,"target":"preview"}`
	memberJSON = `"workspace":{"id":"` + ws + `","name":"Team"},` +
		`"member":{"userId":"` + usr + `","username":"grace","role":"viewer"}`
)

// cases contains all types of events that are emitted by a change, with the JSON of their data.
var cases = []struct {
	kind event.Type
	data event.Data
	want string // the JSON of the data after the actor
}{
	{"project.created", event.Data{Project: project}, projectJSON},
	{
		"project.updated",
		event.Data{Project: project, Changes: []string{"name", "slug"}},
		projectJSON + `,"changes":["name","slug"]`,
	},
	{"project.deleted", event.Data{Project: project}, projectJSON},
	{
		"project.deployed", event.Data{Project: projectName, Deployment: deployment, Reason: "promote"},
		projectNameJSON + "," + deploymentJSON + `,"reason":"promote"`,
	},
	{"file.created", event.Data{Project: projectName, File: file}, projectNameJSON + "," + fileJSON},
	{"file.updated", event.Data{Project: projectName, File: file}, projectNameJSON + "," + fileJSON},
	{"file.deleted", event.Data{Project: projectName, File: file}, projectNameJSON + "," + fileJSON},
	{"member.added", event.Data{Workspace: workspace, Member: member}, memberJSON},
	{"member.removed", event.Data{Workspace: workspace, Member: member}, memberJSON},
	{
		"comment.created",
		event.Data{Project: projectName, Comment: &event.Comment{
			ID: cmt, Path: new("/a"), Line: new(12), Body: "“Nice” \"\n\x00",
		}},
		projectNameJSON + `,"comment":{"id":"` + cmt + `","path":"/a","line":12,"body":"“Nice” \"\n\u0000"}`,
	},
	{
		"comment.created",
		event.Data{Project: projectName, Comment: &event.Comment{ID: cmt, Body: "x"}},
		projectNameJSON + `,"comment":{"id":"` + cmt + `","path":null,"line":null,"body":"x"}`,
	},
	{
		"deployment.completed", event.Data{Project: projectName, Deployment: deployment},
		projectNameJSON + "," + deploymentJSON,
	},
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	for _, tc := range cases {
		t.Run(string(tc.kind), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			projectID := prj
			if tc.data.Member != nil {
				projectID = ""
			}
			tc.data.Actor = ada
			change := event.Change{Type: tc.kind, WorkspaceID: ws, ProjectID: projectID, Data: tc.data}
			write, err := f.outbox.Add(change, at)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.client.Tx(write).Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			key := db.ProjectEventKey(prj, firstID)
			if projectID == "" {
				key = db.WorkspaceEventKey(ws, firstID)
			}
			item, err := f.table.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			got, err := event.FromItem(item)
			if err != nil {
				t.Fatal(err)
			}
			want := event.Record{
				ID:          firstID,
				Type:        tc.kind,
				WorkspaceID: ws,
				ProjectID:   projectID,
				ExpiresAt:   at.Add(30 * 24 * time.Hour).Unix(),
				Payload: event.Text(`{"id":"` + firstID + `","type":"` + string(tc.kind) + `",` +
					`"timestamp":"2026-01-31T07:15:30.123Z",` +
					`"data":{"actor":{"id":"` + usr + `","username":"ada"},` + tc.want + `}}`),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			var payload event.Payload
			if err := jsonv2.Unmarshal([]byte(got.Payload), &payload, jsonv2.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			wantPayload := event.Payload{ID: firstID, Type: tc.kind, Timestamp: clock.Stamp(at), Data: tc.data}
			if diff := cmp.Diff(wantPayload, payload); diff != "" {
				t.Errorf("decoded payload (-want +got):\n%s", diff)
			}
		})
	}
}

// The cases include every type of event that is emitted by a change.
func TestCasesAreComplete(t *testing.T) {
	t.Parallel()
	var got []event.Type
	for _, tc := range cases {
		got = append(got, tc.kind)
	}
	want := []event.Type{
		event.ProjectCreated, event.ProjectUpdated, event.ProjectDeleted, event.ProjectDeployed,
		event.FileCreated, event.FileUpdated, event.FileDeleted,
		event.MemberAdded, event.MemberRemoved, event.CommentCreated, event.DeploymentCompleted,
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("types of the cases (-want +got):\n%s", diff)
	}
}

func TestAddRejectsIncompleteEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, tc := range cases {
		complete := event.Change{Type: tc.kind, WorkspaceID: ws, ProjectID: prj, Data: tc.data}
		complete.Data.Actor = ada
		for name, edit := range map[string]func(*event.Change){
			"no actor":     func(c *event.Change) { c.Data.Actor = event.Actor{} },
			"no workspace": func(c *event.Change) { c.WorkspaceID = "" },
			"no data":      func(c *event.Change) { c.Data = event.Data{Actor: ada} },
			"no type":      func(c *event.Change) { c.Type = "" },
			"other type":   func(c *event.Change) { c.Type = "webhook.test" },
			"no reason": func(c *event.Change) {
				c.Type, c.Data.Project, c.Data.Deployment, c.Data.Reason = "project.deployed", project, deployment, ""
			},
			"webhook test": func(c *event.Change) { c.Type, c.Data.Webhook = "webhook.test", &event.Webhook{ID: "wh_1"} },
			"no subject": func(c *event.Change) {
				c.Data.File, c.Data.Member, c.Data.Comment, c.Data.Changes, c.Data.Deployment = nil, nil, nil, nil, nil
				if c.Type == event.ProjectCreated || c.Type == event.ProjectDeleted {
					c.Data.Project = nil
				}
			},
		} {
			change := complete
			edit(&change)
			if _, err := f.outbox.Add(change, at); err == nil {
				t.Errorf("%s, %s: got no error", tc.kind, name)
			}
		}
	}
}

// If the write of a change fails, its event is not stored. If the event cannot be stored, the change fails.
func TestChangeAndEventAreAtomic(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	eventWrite := func(projectID string) db.Write {
		change := event.Change{
			Type:        event.ProjectDeleted,
			WorkspaceID: ws,
			ProjectID:   projectID,
			Data:        event.Data{Actor: ada, Project: project},
		}
		write, err := f.outbox.Add(change, at)
		if err != nil {
			t.Fatal(err)
		}
		return write
	}
	changeWrite := f.table.Create(db.TreeKey(prj), nil)
	if err := f.client.Tx(changeWrite, eventWrite("prj_invalid")).Commit(t.Context()); err == nil {
		t.Error("got no error for an event with an invalid key")
	}
	if err := f.client.Tx(changeWrite, eventWrite(prj)).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.client.Tx(changeWrite, eventWrite(prj)).Commit(t.Context()); !errors.Is(err, db.ErrConditionFailed) {
		t.Errorf("got error %v for a repeated change, want a failed condition of its write", err)
	}
	if items, err := f.table.QueryAll(t.Context(), db.EventsOf(prj)); err != nil || len(items) != 1 {
		t.Errorf("got %d events, %v, want 1", len(items), err)
	}
}

func TestFromItem(t *testing.T) {
	t.Parallel()
	item, err := db.ItemFromJSON([]byte(`{
		"pk": {"S": "PROJECT#` + prj + `"},
		"sk": {"S": "` + firstID + `"},
		"id": {"S": "` + firstID + `"},
		"type": {"S": "file.updated"},
		"workspaceId": {"S": "` + ws + `"},
		"projectId": {"S": "` + prj + `"},
		"payload": {"S": "{}"},
		"replaced": {"M": {"id": {"S": "` + ver + `"}, "chunks": {"N": "3"}}},
		"expiresAt": {"N": "1772443530"},
		"unknownAttribute": {"S": "x"}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := event.FromItem(item)
	if err != nil {
		t.Fatal(err)
	}
	want := event.Record{
		ID: firstID, Type: event.FileUpdated, WorkspaceID: ws, ProjectID: prj, Payload: "{}",
		Replaced: &event.Content{ID: ver, Chunks: 3}, ExpiresAt: 1_772_443_530,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	for _, name := range []string{"id", "type", "workspaceId", "payload"} {
		incomplete, err := db.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		delete(incomplete, name)
		if got, err := event.FromItem(incomplete); err == nil {
			t.Errorf("without %s: got record %+v, want an error", name, got)
		}
	}
	for name, item := range map[string]db.Item{
		"nil":         nil,
		"wrong types": {"id": db.ExpiresAt(1), "replaced": db.ExpiresAt(1)},
	} {
		if got, err := event.FromItem(item); err == nil {
			t.Errorf("%s: got record %+v, want an error", name, got)
		}
	}
}

// Text is encoded as the stored bytes, even if this version of the code does not know the type or a field.
func TestTextIsNotChanged(t *testing.T) {
	t.Parallel()
	const stored = `{"id":"evt_1","type":"project.renamed","timestamp":"2020-01-01T00:00:00.000Z",` +
		`"data":{"unknownField":"<é>\u0000"}}`
	var out strings.Builder
	err := jsonv2.MarshalWrite(&out, struct {
		Events []event.Text `json:"events"`
	}{[]event.Text{stored, stored}})
	if want := `{"events":[` + stored + `,` + stored + `]}`; err != nil || out.String() != want {
		t.Errorf("got %s, %v, want %s", out.String(), err, want)
	}
}

func TestRecordTimestamp(t *testing.T) {
	t.Parallel()
	text, err := event.Example(event.FileCreated, values)
	if err != nil {
		t.Fatal(err)
	}
	want := clock.Stamp(at).Time()
	if got, err := (event.Record{Payload: text}).Timestamp(); err != nil || !got.Equal(want) {
		t.Errorf("got timestamp %v, %v, want %v", got, err, want)
	}
	for _, invalid := range []event.Text{
		"", "{", "{}", "null", "[]", `{"timestamp":null}`, `{"timestamp":"today"}`, `{"timestamp":1}`,
	} {
		if got, err := (event.Record{Payload: invalid}).Timestamp(); err == nil || !got.IsZero() {
			t.Errorf("payload %s: got timestamp %v, %v, want an error", invalid, got, err)
		}
	}
}
