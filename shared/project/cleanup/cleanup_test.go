package cleanup_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// storedItems returns all items of the tables that are cleaned up.
func storedItems(c *cleaner) map[string]map[db.Key]db.Item {
	all := map[string]map[db.Key]db.Item{}
	for _, name := range []string{c.Fixture.Tables.Projects, c.Fixture.Tables.Contents, c.Conversations} {
		all[name] = c.Fixture.Dump(name)
	}
	return all
}

// splitByProject returns the number of a project's items, and all other items. It ignores expired items.
func splitByProject(
	f *fixture, all map[string]map[db.Key]db.Item, projectID string,
) (count int, rest map[string]map[db.Key]db.Item) {
	rest = map[string]map[db.Key]db.Item{}
	for name, items := range all {
		rest[name] = map[db.Key]db.Item{}
		for key, item := range items {
			expires, _ := item["expiresAt"].(*types.AttributeValueMemberN)
			switch {
			case expires != nil && expires.Value <= fmt.Sprint(f.Clock.Now().Unix()):
			case key.PK == db.ProjectPartition(projectID).PK:
				count++
			default:
				rest[name][key] = item
			}
		}
	}
	return count, rest
}

// longRecord is a record that is so long that three of them are a page of 1 MB.
var longRecord = map[string]string{"body": strings.Repeat("long ", 76_000)}

// storeDeletedProject stores the items of a deleted project: files, each with a replaced version, comments, an expired
// version, chunks without a record, and a conversation.
func storeDeletedProject(c *cleaner, projectID string, files, comments int) {
	f := c.Fixture
	f.T.Helper()
	records, chunks, messages := map[db.Key]db.Item{}, map[db.Key]db.Item{}, map[db.Key]db.Item{}
	addChunk := func(contentID string) {
		chunks[db.ChunkKey(projectID, contentID)] = projecttest.Encode(f.T, projecttest.Chunk{Data: []byte("some bytes")})
	}
	at := clock.Stamp(f.Clock.Now())
	for i := range files {
		path := fmt.Sprintf("/src/components/file-%05d.tsx", i)
		current := file.File{
			Size: 12, SHA256: make([]byte, 32), Encoding: file.UTF8, Version: f.NewVersion(),
			Ref:       content.Ref{ContentID: f.NewVersion(), Chunks: 1},
			CreatedAt: at, UpdatedAt: at, UpdatedBy: f.IDs.New(id.User),
		}
		replaced := current
		replaced.Version = f.NewVersion()
		if i%3 > 0 { // for the other files, both records refer to the same content, as after a rename
			replaced.ContentID = f.NewVersion()
			addChunk(replaced.ContentID)
		}
		addChunk(current.ContentID)
		records[db.FileKey(projectID, path)] = projecttest.Encode(f.T, current)
		replaced.ExpiresAt = f.Clock.Now().Add(content.Retention).Unix()
		if i == 0 {
			replaced.ExpiresAt = f.Clock.Now().Add(-time.Hour).Unix()
		}
		version := db.VersionKey(projectID, projecttest.HexSum([]byte(path)), replaced.Version)
		records[version] = projecttest.Encode(f.T, replaced)
	}
	for range comments {
		records[db.CommentKey(projectID, f.IDs.New(id.Comment))] = projecttest.Encode(f.T, longRecord)
	}
	for range 3 {
		addChunk(f.NewVersion())
	}
	pk := db.ProjectPartition(projectID).PK
	// An item of an unknown kind, with a content attribute of another type.
	records[db.Key{PK: pk, SK: "UNKNOWN#1"}] = db.Item{"content": &types.AttributeValueMemberBOOL{Value: true}}
	messages[db.Key{PK: pk, SK: "CONVERSATION"}] = db.Item{}
	messages[db.Key{PK: pk, SK: "MSG#01KGA50XJ0ABCDEFGHJKMNPQRS#0"}] = db.Item{}
	f.Put(f.Tables.Projects, records)
	f.Put(f.Tables.Contents, chunks)
	f.Put(c.Conversations, messages)
}

// deletionRecord returns the stream record of a project.deleted event.
func deletionRecord(f *fixture, projectID string) lambdafn.StreamRecord {
	f.T.Helper()
	return projecttest.InsertRecord(eventImage(f, event.Record{
		ID: f.IDs.New(id.Event), Type: event.ProjectDeleted, ProjectID: projectID,
	}))
}

// eventImage returns the stream image of an event.
func eventImage(f *fixture, r event.Record) db.Item {
	f.T.Helper()
	r.WorkspaceID = f.IDs.New(id.Workspace)
	if r.Payload == "" {
		r.Payload = event.Text(`{"timestamp":"` + clock.Stamp(f.Clock.Now()).String() + `"}`)
	}
	item, err := db.Encode(r)
	if err != nil {
		f.T.Fatal(err)
	}
	return item
}

func TestCleanupOfDeletedProject(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	ada := f.NewUser("ada")
	deletedID, otherID := ada.Project("", "Deleted", workspace.Private), ada.Project("", "Other", workspace.Private)
	for _, projectID := range []string{deletedID, otherID} {
		client := ada.FilesOf(projectID)
		client.SaveBytes("/big.bin", projecttest.RandomBytes(1<<20)).Want(t, http.StatusCreated)
		client.Save("/a.ts", "1").Want(t, http.StatusCreated)
		client.Save("/a.ts", "2").Want(t, http.StatusOK)
		client.Batch(projecttest.Renaming("/big.bin", "/bigger.bin"), projecttest.Creation("/b.ts", "")).
			Want(t, http.StatusOK)
		client.Remove("/a.ts").Want(t, http.StatusOK)
		ada.Comment(projectID)
		ada.SetVariables(projectID, []object{{"name": "VITE_A", "value": "1", "target": "all"}}).Want(t, http.StatusOK)
	}
	ada.Do(http.MethodDelete, projecttest.URL(deletedID), nil).Want(t, http.StatusOK)
	before, wantRest := splitByProject(f, storedItems(c), deletedID)
	if before == 0 {
		t.Fatal("the deleted project has no items to clean up")
	}
	eventCount := len(c.Events())
	c.HandleAll()
	count, rest := splitByProject(f, storedItems(c), deletedID)
	if count != 0 {
		t.Errorf("%d of %d items remain, want 0", count, before)
	}
	// The cleanup has set the expiry of the replaced contents of the other project.
	for key, item := range rest[f.Tables.Contents] {
		delete(item, "expiresAt")
		rest[f.Tables.Contents][key] = item
	}
	if diff := cmp.Diff(wantRest, rest, projecttest.Unexported); diff != "" {
		t.Errorf("items of the other project: mismatch (-want +got):\n%s", diff)
	}
	if got := len(c.Events()); got != eventCount {
		t.Errorf("got %d events, want %d: the cleanup must not delete events", got, eventCount)
	}
	c.HandleAll() // events can be delivered more than once
	if count, _ := splitByProject(f, storedItems(c), deletedID); count != 0 {
		t.Errorf("%d items exist after the second delivery of the events, want 0", count)
	}
	ada.FilesOf(otherID).Read("/bigger.bin").Want(t, http.StatusOK)
}

// An invalid event must not delete an existing project, nor any objects.
func TestCleanupRejectsExistingProject(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "Existing", workspace.Private)
	ada.FilesOf(projectID).Save("/a.ts", "1").Want(t, http.StatusCreated)
	ada.FilesOf(projectID).SaveBytes("/large", projecttest.RandomBytes(5_000)).Want(t, http.StatusCreated)
	before := storedItems(c)
	for _, invalid := range []string{"", "x", projectID[:20], projectID} {
		err := c.Handle(t.Context(), deletionRecord(f, invalid))
		if !errors.Is(err, lambdafn.ErrPoison) || !strings.Contains(err.Error(), invalid) {
			t.Errorf("project ID %q: got error %v, want ErrPoison with the project ID", invalid, err)
		}
	}
	if n := len(f.Objects()); n != 1 {
		t.Errorf("got %d objects, want 1", n)
	}
	if diff := cmp.Diff(before, storedItems(c), projecttest.Unexported); diff != "" {
		t.Errorf("the events changed stored items (-before +after):\n%s", diff)
	}
}

func TestCleanupIgnoresOrRejectsEvent(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	projectID, version := f.IDs.New(id.Project), f.NewVersion()
	storeDeletedProject(c, projectID, 1, 1)
	before := storedItems(c)
	record := func(change func(*event.Record)) db.Item {
		r := event.Record{
			ID: f.IDs.New(id.Event), Type: event.FileUpdated, ProjectID: projectID,
			Replaced: &event.Content{ID: version, Chunks: 1},
		}
		change(&r)
		return eventImage(f, r)
	}
	for name, tt := range map[string]struct {
		image  db.Item
		poison bool
	}{
		"an item that is not an event": {db.Item{}, true},
		"attributes of wrong types": {
			db.Item{"type": &types.AttributeValueMemberBOOL{}, "expiresAt": &types.AttributeValueMemberS{Value: "x"}}, true,
		},
		"another type":               {record(func(r *event.Record) { r.Type = event.FileCreated }), false},
		"nothing replaced":           {record(func(r *event.Record) { r.Replaced = nil }), false},
		"an empty content":           {record(func(r *event.Record) { r.Replaced.Chunks = 0 }), false},
		"missing chunk":              {record(func(*event.Record) {}), false},
		"no project":                 {record(func(r *event.Record) { r.ProjectID = "" }), true},
		"project ID of another kind": {record(func(r *event.Record) { r.ProjectID = f.IDs.New(id.User) }), true},
		"no content":                 {record(func(r *event.Record) { r.Replaced.ID = "" }), true},
		"invalid content ID":         {record(func(r *event.Record) { r.Replaced.ID = version + "#0" }), true},
		"too many chunks":            {record(func(r *event.Record) { r.Replaced.Chunks = 1 << 40 }), true},
		"negative number of chunks":  {record(func(r *event.Record) { r.Replaced.Chunks = -1 }), true},
		"no timestamp":               {record(func(r *event.Record) { r.Payload = "{}" }), true},
		"zero timestamp": {
			record(func(r *event.Record) { r.Payload = `{"timestamp":"0001-01-01T00:00:00.000Z"}` }), true,
		},
		"invalid payload": {record(func(r *event.Record) { r.Payload = "x" }), true},
		"deletion without a project ID": {
			record(func(r *event.Record) { r.Type, r.ProjectID = event.ProjectDeleted, "" }), true,
		},
		"deletion with an invalid project ID": {
			record(func(r *event.Record) { r.Type, r.ProjectID = event.ProjectDeleted, projectID+"#x" }), true,
		},
	} {
		err := c.Handle(t.Context(), projecttest.InsertRecord(tt.image))
		if err != nil && strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: the error is not formatted correctly: %v", name, err)
		}
		if errors.Is(err, lambdafn.ErrPoison) != tt.poison || (err == nil) == tt.poison {
			t.Errorf("%s: got error %v, want ErrPoison: %v", name, err, tt.poison)
		}
	}
	if diff := cmp.Diff(before, storedItems(c), projecttest.Unexported); diff != "" {
		t.Errorf("the events changed stored items (-before +after):\n%s", diff)
	}
}
