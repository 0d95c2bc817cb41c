package project

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
)

// cleaner is the Cleanup that handles the events of a fixture.
type cleaner struct {
	*cleanup.Cleanup
	f             *fixture
	conversations string // the name of the conversations table
}

func newCleaner(t *testing.T, f *fixture) *cleaner {
	t.Helper()
	c := &cleaner{f: f, conversations: slicetest.Table(t, f.sdk, "conversations")}
	c.Cleanup = c.withClient(f.sdk)
	return c
}

// withClient returns a cleanup that uses an SDK client and does not wait between attempts.
func (c *cleaner) withClient(sdk *dynamodb.Client) *cleanup.Cleanup {
	return c.withClients(sdk, c.f.s3, c.f.clock.Now)
}

// withClients returns a cleanup that uses SDK clients and does not wait between attempts. now is the clock by which the
// sweep computes the age of objects: S3 knows only the real time.
func (c *cleaner) withClients(sdk *dynamodb.Client, objects *s3.Client, now clock.Clock) *cleanup.Cleanup {
	client := db.Wrap(sdk, c.f.clock.Now)
	return cleanup.New(cleanup.Deps{
		DB: client, Projects: client.Table(c.f.tableNames.projects), Contents: client.Table(c.f.tableNames.contents),
		Conversations: client.Table(c.conversations), Bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(c.f.bucket),
		Clock: now, Logger: slog.New(c.f.log),
		Sleep: func(ctx context.Context, _ time.Duration) bool { return ctx.Err() == nil },
	})
}

// events returns the stored events as stream images, in order.
func (c *cleaner) events() []db.Item {
	c.f.t.Helper()
	stored := c.f.dump(c.f.tableNames.events)
	keys := slices.SortedFunc(maps.Keys(stored), func(a, b db.Key) int { return strings.Compare(a.SK, b.SK) })
	images := make([]db.Item, len(keys))
	for i, key := range keys {
		images[i] = stored[key]
	}
	return images
}

// handleAll handles all stored events.
func (c *cleaner) handleAll() {
	c.f.t.Helper()
	for _, image := range c.events() {
		if err := c.Handle(c.f.t.Context(), insertRecord(image)); err != nil {
			c.f.t.Fatal(err)
		}
	}
}

// storedItems returns all items of the tables that are cleaned up.
func (c *cleaner) storedItems() map[string]map[db.Key]db.Item {
	all := map[string]map[db.Key]db.Item{}
	for _, name := range []string{c.f.tableNames.projects, c.f.tableNames.contents, c.conversations} {
		all[name] = c.f.dump(name)
	}
	return all
}

// splitByProject returns the number of a project's items, and all other items. It ignores expired items.
func (f *fixture) splitByProject(
	all map[string]map[db.Key]db.Item, projectID string,
) (count int, rest map[string]map[db.Key]db.Item) {
	rest = map[string]map[db.Key]db.Item{}
	for name, items := range all {
		rest[name] = map[db.Key]db.Item{}
		for key, item := range items {
			expires, _ := item["expiresAt"].(*types.AttributeValueMemberN)
			switch {
			case expires != nil && expires.Value <= fmt.Sprint(f.clock.Now().Unix()):
			case key.PK == db.ProjectPartition(projectID).PK:
				count++
			default:
				rest[name][key] = item
			}
		}
	}
	return count, rest
}

// put writes items directly to DynamoDB.
func (f *fixture) put(table string, items map[db.Key]db.Item) {
	f.t.Helper()
	var requests []types.WriteRequest
	for key, item := range items {
		full := maps.Clone(item)
		full["pk"], full["sk"] = &types.AttributeValueMemberS{Value: key.PK}, &types.AttributeValueMemberS{Value: key.SK}
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: full}})
	}
	for batch := range slices.Chunk(requests, 25) {
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: batch}}
		out, err := f.sdk.BatchWriteItem(f.t.Context(), in)
		if err != nil || len(out.UnprocessedItems) > 0 {
			f.t.Fatalf("BatchWriteItem returned %v, %v", out, err)
		}
	}
}

// storeDeletedProject stores the items of a deleted project: files (each with a replaced version, and some with a
// second chunk), comments, an expired version, chunks without a record, and a conversation.
func (c *cleaner) storeDeletedProject(projectID string, files, comments int) {
	f := c.f
	f.t.Helper()
	records, chunks, messages := map[db.Key]db.Item{}, map[db.Key]db.Item{}, map[db.Key]db.Item{}
	addChunks := func(contentID string, n int) {
		for i := range n {
			chunks[db.ChunkKey(projectID, contentID, i)] = encode(f.t, chunk{[]byte("some bytes")})
		}
	}
	at := clock.Stamp(f.clock.Now())
	for i := range files {
		path := fmt.Sprintf("/src/components/file-%05d.tsx", i)
		current := file.File{
			Size: 12, SHA256: make([]byte, 32), Encoding: file.UTF8, Version: f.newVersion(),
			Ref:       content.Ref{ContentID: f.newVersion(), Chunks: 1 + min(i%10, 1)},
			CreatedAt: at, UpdatedAt: at, UpdatedBy: f.ids.New(id.User),
		}
		replaced := current
		replaced.Version = f.newVersion()
		if i%3 > 0 { // for the other files, both records refer to the same content, as after a rename
			replaced.ContentID = f.newVersion()
			addChunks(replaced.ContentID, replaced.Chunks)
		}
		addChunks(current.ContentID, current.Chunks)
		records[db.FileKey(projectID, path)] = encode(f.t, current)
		replaced.ExpiresAt = f.clock.Now().Add(content.Retention).Unix()
		if i == 0 {
			replaced.ExpiresAt = f.clock.Now().Add(-time.Hour).Unix()
		}
		records[db.VersionKey(projectID, hexSum([]byte(path)), replaced.Version)] = encode(f.t, replaced)
	}
	for range comments { // a page of 1 MB has three of these comments
		comment := commentRecord{ID: f.ids.New(id.Comment), Body: strings.Repeat("long ", 76_000), CreatedAt: at}
		records[db.CommentKey(projectID, comment.ID)] = encode(f.t, comment)
	}
	addChunks(f.newVersion(), 3)
	pk := db.ProjectPartition(projectID).PK
	// An item of an unknown kind, with a content attribute of another type.
	records[db.Key{PK: pk, SK: "UNKNOWN#1"}] = db.Item{"content": &types.AttributeValueMemberBOOL{Value: true}}
	messages[db.Key{PK: pk, SK: "CONVERSATION"}] = db.Item{}
	messages[db.Key{PK: pk, SK: "MSG#01KGA50XJ0ABCDEFGHJKMNPQRS#0"}] = db.Item{}
	f.put(f.tableNames.projects, records)
	f.put(f.tableNames.contents, chunks)
	f.put(c.conversations, messages)
}

// deletionRecord returns the stream record of a project.deleted event.
func (f *fixture) deletionRecord(projectID string) lambdafn.StreamRecord {
	f.t.Helper()
	return insertRecord(f.eventImage(event.Record{
		ID: f.ids.New(id.Event), Type: event.ProjectDeleted, ProjectID: projectID,
	}))
}

// insertRecord returns the stream record of a new item.
func insertRecord(image db.Item) lambdafn.StreamRecord {
	return lambdafn.StreamRecord{SequenceNumber: "1", EventName: "INSERT", NewImage: image}
}

// eventImage returns the stream image of an event.
func (f *fixture) eventImage(r event.Record) db.Item {
	f.t.Helper()
	if r.WorkspaceID = f.ids.New(id.Workspace); r.Payload == "" {
		r.Payload = event.Text(`{"timestamp":"` + clock.Stamp(f.clock.Now()).String() + `"}`)
	}
	item, err := db.Encode(r)
	if err != nil {
		f.t.Fatal(err)
	}
	return item
}

func TestCleanupOfDeletedProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	ada := f.newUser("ada")
	deletedID, otherID := ada.project("", "Deleted", Private), ada.project("", "Other", Private)
	for _, projectID := range []string{deletedID, otherID} {
		client := ada.filesOf(projectID)
		client.saveBytes("/big.bin", randomBytes(1<<20)).Want(t, http.StatusCreated)
		client.save("/a.ts", "1").Want(t, http.StatusCreated)
		client.save("/a.ts", "2").Want(t, http.StatusOK)
		client.batch(renaming("/big.bin", "/bigger.bin"), creation("/b.ts", "")).Want(t, http.StatusOK)
		client.remove("/a.ts").Want(t, http.StatusOK)
		ada.comment(projectID)
		ada.setVariables(projectID, []object{variable("VITE_A", "1", "all")}).Want(t, http.StatusOK)
	}
	ada.Do(http.MethodDelete, projectURL(deletedID), nil).Want(t, http.StatusOK)
	before, wantRest := f.splitByProject(c.storedItems(), deletedID)
	if before == 0 {
		t.Fatal("the deleted project has no items to clean up")
	}
	eventCount := len(c.events())
	c.handleAll()
	count, rest := f.splitByProject(c.storedItems(), deletedID)
	if count != 0 {
		t.Errorf("%d of %d items remain, want 0", count, before)
	}
	// The cleanup has set the expiry of the replaced contents of the other project.
	for key, item := range rest[f.tableNames.contents] {
		delete(item, "expiresAt")
		rest[f.tableNames.contents][key] = item
	}
	if diff := cmp.Diff(wantRest, rest, unexported); diff != "" {
		t.Errorf("items of the other project: mismatch (-want +got):\n%s", diff)
	}
	if got := len(c.events()); got != eventCount {
		t.Errorf("got %d events, want %d: the cleanup must not delete events", got, eventCount)
	}
	c.handleAll() // events can be delivered more than once
	if count, _ := f.splitByProject(c.storedItems(), deletedID); count != 0 {
		t.Errorf("%d items exist after the second delivery of the events, want 0", count)
	}
	ada.filesOf(otherID).read("/bigger.bin").Want(t, http.StatusOK)
}

// An invalid event must not delete an existing project.
func TestCleanupRejectsExistingProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	ada := f.newUser("ada")
	projectID := ada.project("", "Existing", Private)
	ada.filesOf(projectID).save("/a.ts", "1").Want(t, http.StatusCreated)
	before := c.storedItems()
	err := c.Handle(t.Context(), f.deletionRecord(projectID))
	if !errors.Is(err, lambdafn.ErrPoison) || !strings.Contains(err.Error(), projectID) {
		t.Errorf("got error %v, want ErrPoison with the project ID", err)
	}
	if diff := cmp.Diff(before, c.storedItems(), unexported); diff != "" {
		t.Errorf("the event changed stored items (-before +after):\n%s", diff)
	}
}

func TestCleanupIgnoresOrRejectsEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	projectID, version := f.ids.New(id.Project), f.newVersion()
	c.storeDeletedProject(projectID, 1, 1)
	before := c.storedItems()
	record := func(change func(*event.Record)) db.Item {
		r := event.Record{
			ID: f.ids.New(id.Event), Type: event.FileUpdated, ProjectID: projectID,
			Replaced: &event.Content{ID: version, Chunks: 1},
		}
		change(&r)
		return f.eventImage(r)
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
		"project ID of another kind": {record(func(r *event.Record) { r.ProjectID = f.ids.New(id.User) }), true},
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
		err := c.Handle(t.Context(), insertRecord(tt.image))
		if err != nil && strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: the error is not formatted correctly: %v", name, err)
		}
		if errors.Is(err, lambdafn.ErrPoison) != tt.poison || (err == nil) == tt.poison {
			t.Errorf("%s: got error %v, want ErrPoison: %v", name, err, tt.poison)
		}
	}
	if diff := cmp.Diff(before, c.storedItems(), unexported); diff != "" {
		t.Errorf("the events changed stored items (-before +after):\n%s", diff)
	}
}
