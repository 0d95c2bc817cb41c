package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers/pattern"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/removal"
)

// decodeStream decodes a sample with stream records. It rejects fields that the types of aws-lambda-go do not have.
func decodeStream(t *testing.T, sample string) events.DynamoDBEvent {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(read(t, sample+".json")))
	decoder.DisallowUnknownFields()
	var decoded events.DynamoDBEvent
	if err := decoder.Decode(&decoded); err != nil || len(decoded.Records) == 0 {
		t.Fatalf("%s: got %d records, error %v, want records", sample, len(decoded.Records), err)
	}
	return decoded
}

// storedEvents returns the events in the records of a sample. It checks their keys and payloads.
func storedEvents(t *testing.T, sample string) []event.Record {
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
	var records []event.Record
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
		expiresAt := payload.Timestamp.Time().Add(event.Retention).Unix()
		if payload.ID != record.ID || payload.Type != record.Type || expiresAt != record.ExpiresAt {
			t.Errorf("%s: the payload %+v does not match the event %+v", sample, payload, record)
		}
		records = append(records, record)
	}
	return records
}

// TestStreamSamplesPassTheFilters checks that every record of a sample passes the filters of its function's event
// source mapping.
func TestStreamSamplesPassTheFilters(t *testing.T) {
	t.Parallel()
	options := stack.Options{Parameters: map[string]string{
		"AiProvider": "scaffold", "MailFrom": "no-reply@example.com", "AppUrl": "https://app.example.com",
	}}
	template, err := stack.Load(filepath.Join("..", "template.yaml"), options)
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
		var decoded struct{ Records []map[string]any }
		if err := decoder.Decode(&decoded); err != nil {
			t.Fatal(err)
		}
		for i, record := range decoded.Records {
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

// runRemovals checks that the sample of a schedule runs the removals that are due.
func (f *fixture) runRemovals(t *testing.T, handler *lambdafn.StreamHandler) {
	t.Helper()
	const workspaceID = "ws_01KGA4V5N4ABCDEFGHJKMNPQRS"
	projects, logger := f.tables["projects"], slog.New(slog.DiscardHandler)
	ended := removal.Create(projects, removal.Workspace, workspaceID, time.Now().Add(-removal.Delay))
	if _, err := f.client.Do(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	var removed []string
	worker := removal.NewWorker(removal.Deps{
		DB: f.client, Projects: projects, Clock: time.Now, Logger: logger, Metrics: metric.New(logger, "", time.Now),
		Removers: map[removal.Kind]removal.Remover{removal.Workspace: func(_ context.Context, id string) error {
			removed = append(removed, id)
			return nil
		}},
	})
	sample := read(t, "project-cleanup-removals-schedule.json")
	for range 2 {
		if response, err := handler.WithTask("removals", worker.Run).Invoke(t.Context(), sample); err != nil ||
			string(response) != "null" || !slices.Equal(removed, []string{workspaceID}) {
			t.Errorf("project-cleanup-removals-schedule: got %s, error %v and the removals %q, want null and one",
				response, err, removed)
		}
	}
}

// TestCleanupSamples checks that project-cleanup processes its samples.
func TestCleanupSamples(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	contents := f.tables["contents"]
	c := cleanup.New(cleanup.Deps{
		DB: f.client, Projects: f.tables["projects"], Contents: contents, Conversations: f.tables["conversations"],
		Bucket: f.bucket, Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	handler := lambdafn.Stream(slog.New(slog.DiscardHandler), c.Handle, nil).WithSchedule(c.Sweep)
	handle := func(sample string) {
		t.Helper()
		if len(decodeStream(t, sample).Records) != len(storedEvents(t, sample)) {
			t.Errorf("%s: some records do not contain an event", sample)
		}
		response, err := handler.Invoke(t.Context(), read(t, sample+".json"))
		if err != nil || string(response) != `{"batchItemFailures":[]}` {
			t.Errorf("%s: got %s, error %v, want no failures", sample, response, err)
		}
	}
	replaced := storedEvents(t, "project-cleanup-replaced")
	for _, r := range replaced {
		data := &types.AttributeValueMemberB{Value: []byte("x")}
		chunk := contents.Put(db.ChunkKey(r.ProjectID, r.Replaced.ID, 0), db.Item{"data": data})
		if _, err := f.client.Do(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
	}
	handle("project-cleanup-replaced")
	for _, r := range replaced {
		// The event of the sample is so old that the replaced content expires immediately.
		if _, err := contents.Get(t.Context(), db.ChunkKey(r.ProjectID, r.Replaced.ID, 0)); err == nil {
			t.Errorf("the content that the event %s replaced has not expired", r.ID)
		}
	}
	projectID := storedEvents(t, "project-cleanup-project-deleted")[0].ProjectID
	comment := f.tables["projects"].Put(db.CommentKey(projectID, "cmt_01KGA52E40ABCDEFGHJKMNPQRS"), nil)
	if _, err := f.client.Do(t.Context(), comment); err != nil {
		t.Fatal(err)
	}
	handle("project-cleanup-project-deleted")
	remaining, err := f.tables["projects"].QueryAll(t.Context(), db.ProjectPartition(projectID))
	if err != nil || len(remaining) > 0 {
		t.Errorf("got the items %v, error %v, want an empty partition of the deleted project", remaining, err)
	}
	response, err := handler.Invoke(t.Context(), read(t, "project-cleanup-schedule.json"))
	if err != nil || string(response) != "null" {
		t.Errorf("project-cleanup-schedule: got %s, error %v, want null", response, err)
	}
	if _, err := contents.Get(t.Context(), db.SweepKey()); err != nil {
		t.Errorf("the sweep has no position: %v", err)
	}
	f.runRemovals(t, handler)
}
