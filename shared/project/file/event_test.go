package file_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/projecttest"
	"devplatform/shared/event"
)

func TestFileEvents(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	first := client.Save("/a", "secret one").Want(t, http.StatusCreated)
	second := client.Save("/a", "secret two").Want(t, http.StatusOK)
	renamed := client.Batch(object{"op": "rename", "path": "/a", "to": "/b"}).Want(t, http.StatusOK).List("files")[0]
	client.Remove("/b").Want(t, http.StatusOK)
	client.Save("/c", strings.Repeat("x", 1<<20+1)).Want(t, http.StatusBadRequest)
	client.Remove("/c").Want(t, http.StatusNotFound)

	eventFile := func(path string, item map[string]any) event.File {
		size, _ := item["size"].(float64)
		sum, _ := item["sha256"].(string)
		version, _ := item["version"].(string)
		return event.File{Path: path, Size: int(size), SHA256: sum, Version: version}
	}
	want := []struct {
		kind     event.Type
		file     event.File
		replaced bool // whether the event reports replaced content
	}{
		{event.FileCreated, eventFile("/a", first.Body), false},
		{event.FileUpdated, eventFile("/a", second.Body), true},
		{event.FileDeleted, eventFile("/a", second.Body), false}, // the content is in use at /b
		{event.FileCreated, eventFile("/b", renamed), false},
		{event.FileDeleted, eventFile("/b", renamed), true},
	}
	var records []event.Record
	for _, r := range f.StoredEvents() {
		if strings.Contains(string(r.Payload), "secret") {
			t.Errorf("an event contains file content: %s", r.Payload)
		}
		if strings.HasPrefix(string(r.Type), "file.") {
			records = append(records, r)
		}
	}
	if len(records) != len(want) {
		t.Fatalf("got %d file events, want %d", len(records), len(want))
	}
	for i, r := range records {
		p := projecttest.DecodePayload(t, r)
		expected := event.Data{
			Actor:   event.Actor{ID: client.UserID, Username: "ada"},
			Project: &event.Project{ID: client.ProjectID, Name: "ada's project"},
			File:    &want[i].file,
		}
		if diff := cmp.Diff(expected, p.Data); diff != "" || r.Type != want[i].kind || p.Type != r.Type {
			t.Errorf("event %d: got type %s, want %s; data mismatch (-want +got):\n%s", i, r.Type, want[i].kind, diff)
		}
		if (r.Replaced != nil) != want[i].replaced || r.ProjectID != client.ProjectID {
			t.Errorf("event %d: got replaced content %v of project %s, want replaced content: %v of project %s",
				i, r.Replaced, r.ProjectID, want[i].replaced, client.ProjectID)
		}
	}
	if records[1].Replaced.Chunks != 1 || records[1].Replaced.ID == records[4].Replaced.ID {
		t.Errorf("got replaced contents %+v and %+v, want one chunk, and different IDs",
			records[1].Replaced, records[4].Replaced)
	}
}
