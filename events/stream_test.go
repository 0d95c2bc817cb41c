package events_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers/pattern"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/cleanup"
)

// batch decodes a sample of stream records with the types of aws-lambda-go.
func batch(t *testing.T, sample string) events.DynamoDBEvent {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(read(t, sample+".json")))
	decoder.DisallowUnknownFields()
	var all events.DynamoDBEvent
	if err := decoder.Decode(&all); err != nil || len(all.Records) == 0 {
		t.Fatalf("%s: %d records, %v", sample, len(all.Records), err)
	}
	return all
}

// stored returns the events in the records of a sample.
func stored(t *testing.T, sample string) []event.Record {
	t.Helper()
	var raw struct {
		Records []struct {
			DynamoDB struct {
				NewImage json.RawMessage `json:"NewImage"`
			} `json:"dynamodb"`
		}
	}
	if err := json.Unmarshal(read(t, sample+".json"), &raw); err != nil {
		t.Fatal(err)
	}
	var all []event.Record
	for _, r := range raw.Records {
		item, err := db.ItemFromJSON(r.DynamoDB.NewImage)
		if err != nil {
			t.Fatalf("%s: %v", sample, err)
		}
		record, err := event.FromItem(item)
		if err != nil {
			t.Fatalf("%s: %v", sample, err)
		}
		want := db.ProjectEventKey(record.ProjectID, record.ID)
		if record.ProjectID == "" {
			want = db.WorkspaceEventKey(record.WorkspaceID, record.ID)
		}
		if want.IsZero() || db.KeyOf(item) != want {
			t.Errorf("%s: the event has the key %v, want %v", sample, db.KeyOf(item), want)
		}
		var payload event.Payload
		if err := json.Unmarshal([]byte(record.Payload), &payload); err != nil {
			t.Fatalf("%s: %v", sample, err)
		}
		if payload.ID != record.ID || payload.Type != record.Type || payload.Timestamp.Time().Add(event.Retention).Unix() != record.ExpiresAt {
			t.Errorf("%s: the event %+v has the payload %+v", sample, record, payload)
		}
		all = append(all, record)
	}
	return all
}

// TestStreamSamplesPassTheFilters checks that every record of a sample passes the filters of its function's event
// source mapping.
func TestStreamSamplesPassTheFilters(t *testing.T) {
	t.Parallel()
	template, err := stack.Load(filepath.Join("..", "template.yaml"), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	filters := map[string][]*pattern.Pattern{} // by function
	for _, mapping := range template.EventSourceMappings {
		for _, text := range mapping.Filters {
			filter, err := pattern.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			filters[mapping.Function] = append(filters[mapping.Function], filter)
		}
	}
	for _, sample := range streams {
		decoder := json.NewDecoder(bytes.NewReader(read(t, sample+".json")))
		decoder.UseNumber()
		var all struct{ Records []any }
		if err := decoder.Decode(&all); err != nil {
			t.Fatal(err)
		}
		for i, record := range all.Records {
			passes := false
			for _, filter := range filters[functionOf(sample)] {
				passes = passes || filter.Match(record)
			}
			if !passes {
				t.Errorf("%s: record %d does not pass the filters of the template", sample, i)
			}
		}
	}
}

// TestCleanupSamples checks that project-cleanup processes its samples.
func TestCleanupSamples(t *testing.T) {
	t.Parallel()
	system := newSystem(t)
	contents := system.tables["contents"]
	handler := lambdafn.Stream(slog.New(slog.DiscardHandler), cleanup.New(cleanup.Deps{
		DB: system.client, Projects: system.tables["projects"], Contents: contents, Conversations: system.tables["conversations"],
		Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
	}).Handle, nil)
	handle := func(sample string) {
		t.Helper()
		if len(batch(t, sample).Records) != len(stored(t, sample)) {
			t.Errorf("%s: not every record has an event", sample)
		}
		response, err := handler.Invoke(t.Context(), read(t, sample+".json"))
		if err != nil || string(response) != `{"batchItemFailures":[]}` {
			t.Errorf("%s: %s, %v", sample, response, err)
		}
	}
	replaced := stored(t, "project-cleanup-replaced")
	for _, r := range replaced {
		chunk := contents.Put(db.ChunkKey(r.ProjectID, r.Replaced.ID, 0), db.Item{"data": &types.AttributeValueMemberB{Value: []byte("x")}})
		if _, err := system.client.Do(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
	}
	handle("project-cleanup-replaced")
	for _, r := range replaced {
		// The sample's event is so old that its content has already expired.
		if _, err := contents.Get(t.Context(), db.ChunkKey(r.ProjectID, r.Replaced.ID, 0)); err == nil {
			t.Errorf("the content that %s replaced has not expired", r.ID)
		}
	}
	projectID := stored(t, "project-cleanup-project-deleted")[0].ProjectID
	comment := system.tables["projects"].Put(db.CommentKey(projectID, "cmt_01KGA52E40ABCDEFGHJKMNPQRS"), nil)
	if _, err := system.client.Do(t.Context(), comment); err != nil {
		t.Fatal(err)
	}
	handle("project-cleanup-project-deleted")
	remaining, err := system.tables["projects"].QueryAll(t.Context(), db.ProjectPartition(projectID))
	if err != nil || len(remaining) > 0 {
		t.Errorf("items remain in the partition of the deleted project: %v, %v", remaining, err)
	}
}
