package cleanup_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/content"
	"devplatform/shared/workspace"
)

// Content expires 30 days after it was replaced, and content in use never expires, even if events are late or repeated.
func TestReplacedContentExpires(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	ada := f.NewUser("ada")
	projectID := ada.Project("", "Replaced", workspace.Private)
	files := "/api/projects/" + projectID + "/files"
	want := map[string]int64{}
	save := func(path, text string) (contentID string) {
		t.Helper()
		if r := ada.Do(http.MethodPost, files, object{"path": path, "content": text}); r.Status > 201 {
			t.Fatalf("saving %s: got %d %s, want success", path, r.Status, r.Raw)
		}
		contentID = ada.FilesOf(projectID).Record(path).ContentID
		want[contentID+"#0"] = 0
		return contentID
	}
	// expectExpiry expects that content expires 30 days from now, and advances the clock.
	expectExpiry := func(contentID string) {
		want[contentID+"#0"] = f.Clock.Now().Add(content.Retention).Unix()
		f.Clock.Advance(36 * time.Hour)
	}
	batch := func(operations ...object) {
		t.Helper()
		ada.Do(http.MethodPost, files+"/batch", object{"operations": operations}).Want(t, http.StatusOK)
	}

	first := save("/a.ts", "first")
	second := save("/a.ts", "second")
	expectExpiry(first)
	save("/a.ts", "second") // the content does not change
	batch(object{"op": "rename", "path": "/a.ts", "to": "/b.ts"})
	if got := ada.FilesOf(projectID).Record("/b.ts").ContentID; got != second {
		t.Fatalf("after a rename the content ID is %s, want %s", got, second)
	}
	f.Clock.Advance(time.Hour)
	third := save("/a.ts", "first") // the content of the first version, at a path from which a file was renamed
	batch(projecttest.Renaming("/b.ts", "/c.ts"), projecttest.Update("/a.ts", "fourth"))
	expectExpiry(third)
	fourth := ada.FilesOf(projectID).Record("/a.ts").ContentID
	want[fourth+"#0"] = 0
	batch(object{"op": "delete", "path": "/a.ts"})
	expectExpiry(fourth)
	fifth := save("/a.ts", "fourth") // the file was deleted and is created again
	batch(projecttest.Deletion("/a.ts"), projecttest.Renaming("/c.ts", "/d/a.ts"))
	expectExpiry(fifth)

	c.HandleAll()
	if diff := cmp.Diff(want, f.Expiries(projectID)); diff != "" {
		t.Errorf("expiries mismatch (-want +got):\n%s", diff)
	}
	for range 2 {
		f.Clock.Advance(400 * 24 * time.Hour) // after every expiry, but DynamoDB has not deleted the items
		c.HandleAll()
		if diff := cmp.Diff(want, f.Expiries(projectID)); diff != "" {
			t.Errorf("expiries after repeated events: mismatch (-want +got):\n%s", diff)
		}
		if r := ada.Get(files+"?path=/d/a.ts").Want(t, http.StatusOK); r.Text("content") != "second" {
			t.Errorf("current version: got %s, want the content %q", r.Raw, "second")
		}
	}
}

// A version is readable as long as the history lists it.
func TestVersionIsReadableUntilItExpires(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	ada := f.NewUser("ada")
	files := "/api/projects/" + ada.Project("", "History", workspace.Private) + "/files"
	first := ada.Do(http.MethodPost, files, object{"path": "/a.ts", "content": "first"}).Want(t, http.StatusCreated)
	version := first.Text("version")
	ada.Do(http.MethodPost, files, object{"path": "/a.ts", "content": "second"}).Want(t, http.StatusOK)
	c.HandleAll()
	f.Clock.Advance(content.Retention - time.Second)
	for _, want := range []int{http.StatusOK, http.StatusNotFound} {
		ada.Get(files+"?path=/a.ts&version="+version).Want(t, want)
		f.Clock.Advance(time.Second)
	}
}

// A chunk that already expires later keeps its expiry. A chunk that does not exist was removed with its project, or has
// expired.
func TestChunkExpiry(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	c := projecttest.NewCleaner(t, f)
	projectID, month := f.IDs.New(id.Project), f.Clock.Now().Add(content.Retention).Unix()
	chunks, want := map[db.Key]db.Item{}, map[string]int64{}
	contentIDs := []string{f.NewVersion()} // does not exist
	for _, expires := range []int64{0, month + 1, month - 1} {
		contentID := f.NewVersion()
		item := db.Item{"data": &types.AttributeValueMemberB{Value: []byte("x")}}
		if expires > 0 {
			item["expiresAt"] = db.ExpiresAt(expires)
		}
		chunks[db.ChunkKey(projectID, contentID)] = item
		contentIDs, want[contentID+"#0"] = append(contentIDs, contentID), max(expires, month)
	}
	f.Put(f.Tables.Contents, chunks)
	replaced := func(contentID string) lambdafn.StreamRecord {
		return projecttest.InsertRecord(eventImage(f, event.Record{
			ID: f.IDs.New(id.Event), Type: event.FileDeleted, ProjectID: projectID,
			Replaced: &event.Content{ID: contentID, Chunks: 1},
		}))
	}
	for _, contentID := range contentIDs {
		if err := c.Handle(t.Context(), replaced(contentID)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, f.Expiries(projectID)); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if err := c.WithClient(failingClient(f, 0, false)).Handle(t.Context(), replaced(contentIDs[1])); err == nil {
		t.Error("got no error although DynamoDB was not available")
	}
}
