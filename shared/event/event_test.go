package event_test

import (
	"bytes"
	"crypto/rand"
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
	sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	ver = "01K9ZQ3V7M8T5XW2ABCDEFGHJQ"
)

var at = time.Date(2026, 1, 31, 8, 15, 30, 123_456_789, time.FixedZone("CET", 3600))

// newIDs returns a generator of predictable IDs.
func newIDs() *id.Generator { return id.NewGenerator(now, bytes.NewReader(make([]byte, 1<<10))) }

func now() time.Time { return at }

// firstID is the ID of the first event of every test.
var firstID = newIDs().New(id.Event)

type store struct {
	client *db.Client
	table  db.Table
	outbox event.Outbox
}

func newStore(t *testing.T) store {
	t.Helper()
	sdk := dynamotest.Start(t)
	name := "events-" + rand.Text()
	dynamotest.CreateTable(t, sdk, name, "pk", "sk")
	client := db.Wrap(sdk, now)
	return store{client, client.Table(name), event.Outbox{Events: client.Table(name), IDs: newIDs()}}
}

func ptr[T any](v T) *T { return &v }

var (
	ada     = event.Actor{ID: usr, Username: "ada"}
	project = &event.Project{ID: prj, Name: "Café <1>", Slug: "cafe-1", Framework: "react", Visibility: "private", WorkspaceID: ws}
	named   = &event.Project{ID: prj, Name: "Café <1>"}
	file    = &event.File{Path: "/a#b.ts", Size: 0, SHA256: sha, Version: ver}
	team    = &event.Workspace{ID: ws, Name: "Team"}
	grace   = &event.Member{UserID: usr, Username: "grace", Role: "viewer"}
)

const (
	wholeProject = `"project":{"id":"` + prj + `","name":"Café <1>","slug":"cafe-1","framework":"react","visibility":"private","workspaceId":"` + ws + `"}`
	namedProject = `"project":{"id":"` + prj + `","name":"Café <1>"}`
	wholeFile    = `"file":{"path":"/a#b.ts","size":0,"sha256":"` + sha + `","version":"` + ver + `"}`
	wholeMember  = `"workspace":{"id":"` + ws + `","name":"Team"},"member":{"userId":"` + usr + `","username":"grace","role":"viewer"}`
)

// cases contains all types that changes emit, with the JSON of their data.
var cases = []struct {
	kind event.Type
	data event.Data
	want string // the JSON behind the actor
}{
	{"project.created", event.Data{Project: project}, wholeProject},
	{"project.updated", event.Data{Project: project, Changes: []string{"name", "slug"}}, wholeProject + `,"changes":["name","slug"]`},
	{"project.deleted", event.Data{Project: project}, wholeProject},
	{"file.created", event.Data{Project: named, File: file}, namedProject + "," + wholeFile},
	{"file.updated", event.Data{Project: named, File: file}, namedProject + "," + wholeFile},
	{"file.deleted", event.Data{Project: named, File: file}, namedProject + "," + wholeFile},
	{"member.added", event.Data{Workspace: team, Member: grace}, wholeMember},
	{"member.removed", event.Data{Workspace: team, Member: grace}, wholeMember},
	{"comment.created", event.Data{Project: named, Comment: &event.Comment{ID: cmt, Path: ptr("/a"), Line: ptr(12), Body: "“Nice” \"\n\x00"}},
		namedProject + `,"comment":{"id":"` + cmt + `","path":"/a","line":12,"body":"“Nice” \"\n\u0000"}`},
	{"comment.created", event.Data{Project: named, Comment: &event.Comment{ID: cmt, Body: "x"}},
		namedProject + `,"comment":{"id":"` + cmt + `","path":null,"line":null,"body":"x"}`},
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	for _, tc := range cases {
		t.Run(string(tc.kind), func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			projectID := prj
			if tc.data.Member != nil {
				projectID = ""
			}
			tc.data.Actor = ada
			write, err := s.outbox.Add(event.Change{Type: tc.kind, WorkspaceID: ws, ProjectID: projectID, Data: tc.data}, at)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.client.Transact(t.Context(), write); err != nil {
				t.Fatal(err)
			}
			key := db.ProjectEventKey(prj, firstID)
			if projectID == "" {
				key = db.WorkspaceEventKey(ws, firstID)
			}
			item, err := s.table.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			got, err := event.FromItem(item)
			if err != nil {
				t.Fatal(err)
			}
			want := event.Record{
				ID: firstID, Type: tc.kind, WorkspaceID: ws, ProjectID: projectID, ExpiresAt: at.Add(30 * 24 * time.Hour).Unix(),
				Payload: event.Text(`{"id":"` + firstID + `","type":"` + string(tc.kind) + `","timestamp":"2026-01-31T07:15:30.123Z",` +
					`"data":{"actor":{"id":"` + usr + `","username":"ada"},` + tc.want + `}}`),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			var payload event.Payload
			if err := jsonv2.Unmarshal([]byte(got.Payload), &payload, jsonv2.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			sent := event.Payload{ID: firstID, Type: tc.kind, Timestamp: clock.Stamp(at), Data: tc.data}
			if diff := cmp.Diff(sent, payload); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The cases include every type that changes emit.
func TestCasesAreComplete(t *testing.T) {
	t.Parallel()
	var tested []event.Type
	for _, tc := range cases {
		tested = append(tested, tc.kind)
	}
	all := []event.Type{
		event.ProjectCreated, event.ProjectUpdated, event.ProjectDeleted, event.FileCreated, event.FileUpdated, event.FileDeleted,
		event.MemberAdded, event.MemberRemoved, event.CommentCreated,
	}
	if diff := cmp.Diff(all, slices.Compact(tested)); diff != "" {
		t.Error(diff)
	}
}

func TestAddRejectsIncompleteEvents(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, tc := range cases {
		full := event.Change{Type: tc.kind, WorkspaceID: ws, ProjectID: prj, Data: tc.data}
		full.Data.Actor = ada
		for name, edit := range map[string]func(*event.Change){
			"no actor":     func(c *event.Change) { c.Data.Actor = event.Actor{} },
			"no workspace": func(c *event.Change) { c.WorkspaceID = "" },
			"no data":      func(c *event.Change) { c.Data = event.Data{Actor: ada} },
			"no type":      func(c *event.Change) { c.Type = "" },
			"other type":   func(c *event.Change) { c.Type = "project.deployed" },
			"type that nothing emits": func(c *event.Change) {
				c.Type, c.Data.Project, c.Data.Deployment = "project.deployed", project, &event.Deployment{ID: "dep_1"}
			},
			"type of a test": func(c *event.Change) { c.Type, c.Data.Webhook = "webhook.test", &event.Webhook{ID: "wh_1"} },
			"no subject": func(c *event.Change) {
				c.Data.File, c.Data.Member, c.Data.Comment, c.Data.Changes = nil, nil, nil, nil
				if c.Type == event.ProjectCreated || c.Type == event.ProjectDeleted {
					c.Data.Project = nil
				}
			},
		} {
			c := full
			edit(&c)
			if _, err := s.outbox.Add(c, at); err == nil {
				t.Errorf("%s, %s: was accepted", tc.kind, name)
			}
		}
	}
}

// A change that fails stores no event, and a change whose event cannot be stored fails.
func TestEventIsPartOfItsChange(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	add := func(projectID string) db.Write {
		write, err := s.outbox.Add(event.Change{Type: event.ProjectDeleted, WorkspaceID: ws, ProjectID: projectID, Data: event.Data{Actor: ada, Project: project}}, at)
		if err != nil {
			t.Fatal(err)
		}
		return write
	}
	change := s.table.Create(db.TreeKey(prj), nil)
	if err := s.client.Transact(t.Context(), change, add("prj_wrong")); err == nil {
		t.Error("an event with an invalid key was stored")
	}
	if err := s.client.Transact(t.Context(), change, add(prj)); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Transact(t.Context(), change, add(prj)); !db.FailedAt(err, 0) {
		t.Errorf("%v", err)
	}
	if items, err := s.table.QueryAll(t.Context(), db.EventsOf(prj)); err != nil || len(items) != 1 {
		t.Errorf("%d events, %v", len(items), err)
	}
}

func TestFromItem(t *testing.T) {
	t.Parallel()
	item, err := db.ItemFromJSON([]byte(`{"pk":{"S":"PROJECT#` + prj + `"},"sk":{"S":"` + firstID + `"},"id":{"S":"` + firstID + `"},
		"type":{"S":"file.updated"},"workspaceId":{"S":"` + ws + `"},"projectId":{"S":"` + prj + `"},"payload":{"S":"{}"},
		"replaced":{"M":{"id":{"S":"` + ver + `"},"chunks":{"N":"3"}}},"expiresAt":{"N":"1772443530"},"later":{"S":"unknown today"}}`))
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
		t.Error(diff)
	}
	for _, name := range []string{"id", "type", "workspaceId", "payload"} {
		incomplete, err := db.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		delete(incomplete, name)
		if got, err := event.FromItem(incomplete); err == nil {
			t.Errorf("without %s: %+v", name, got)
		}
	}
	for name, item := range map[string]db.Item{"removed": nil, "of wrong types": {"id": db.ExpiresAt(1), "replaced": db.ExpiresAt(1)}} {
		if got, err := event.FromItem(item); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The feed contains the stored bytes, even those that this version of the code would not write.
func TestTextIsNotChanged(t *testing.T) {
	t.Parallel()
	const stored = `{"id":"evt_1","type":"project.renamed","timestamp":"2020-01-01T00:00:00.000Z","data":{"later":"<é>\u0000"}}`
	var out strings.Builder
	err := jsonv2.MarshalWrite(&out, struct {
		Events []event.Text `json:"events"`
	}{[]event.Text{stored, stored}})
	if want := `{"events":[` + stored + `,` + stored + `]}`; err != nil || out.String() != want {
		t.Errorf("%s, %v", out.String(), err)
	}
}

func TestHappened(t *testing.T) {
	t.Parallel()
	text, err := event.Example(event.FileCreated, scene)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (event.Record{Payload: text}).Timestamp(); err != nil || !got.Equal(clock.Stamp(at).Time()) {
		t.Errorf("%v, %v", got, err)
	}
	for _, broken := range []event.Text{"", "{", "{}", "null", "[]", `{"timestamp":null}`, `{"timestamp":"today"}`, `{"timestamp":1}`} {
		if got, err := (event.Record{Payload: broken}).Timestamp(); err == nil || !got.IsZero() {
			t.Errorf("%s: %v, %v", broken, got, err)
		}
	}
}
