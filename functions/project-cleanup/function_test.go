package main

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/shared/db"
	"devplatform/shared/event"
)

func TestBatch(t *testing.T) {
	f, handler := newFixture(t)
	first, second, other := f.storeDeletedProject(60), f.storeDeletedProject(3), f.storeDeletedProject(3)
	otherCount := f.itemCount(other)
	replaced := f.storeEvent(event.Change{
		Type: event.FileUpdated, ProjectID: other, Replaced: &event.Content{ID: "CONTENT0", Chunks: 1},
	})
	expired := f.deletionRecord(other) // the record of an event that the table's TTL deletes
	expired.EventName, expired.Change.NewImage = "REMOVE", nil
	changed := f.deletionRecord(other)
	changed.EventName = "MODIFY"
	batch := []events.DynamoDBEventRecord{
		f.deletionRecord(first), replaced, expired, changed,
		f.storeEvent(event.Change{Type: event.CommentCreated, ProjectID: other}), f.deletionRecord(second),
	}
	for range 2 { // a stream can deliver a record more than once
		if failed := f.invoke(handler, batch...); len(failed) > 0 {
			t.Errorf("got the failed records %v, want none", failed)
		}
		if a, b, c := f.itemCount(first), f.itemCount(second), f.itemCount(other); a != 0 || b != 0 || c != otherCount {
			t.Errorf("%d, %d and %d items remain, want 0, 0 and %d", a, b, c, otherCount)
		}
		chunk, err := f.client.Table("contents").Get(t.Context(), db.ChunkKey(other, "CONTENT0"))
		if err != nil {
			t.Fatal(err)
		}
		when, err := db.Decode[struct {
			ExpiresAt int64 `dynamodbav:"expiresAt"`
		}](chunk)
		if err != nil {
			t.Fatal(err)
		}
		if in := time.Until(time.Unix(when.ExpiresAt, 0)); in > 30*24*time.Hour || in < 30*24*time.Hour-time.Minute {
			t.Errorf("the replaced content expires in %v, want 30 days", in)
		}
	}
}

// Invalid records go to the failure queue unchanged, and do not block the stream.
func TestPoison(t *testing.T) {
	f, handler := newFixture(t)
	projectID, existing := f.storeDeletedProject(2), f.storeDeletedProject(2)
	f.put("projects", db.TreeKey(existing), db.Item{})
	existingCount := f.itemCount(existing)
	noEventName := f.deletionRecord(projectID)
	noEventName.EventName = ""
	notAnEvent := f.deletionRecord(projectID)
	notAnEvent.Change.NewImage = map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("x")}
	ofExisting := f.deletionRecord(existing)
	failed := f.invoke(handler, noEventName, notAnEvent, ofExisting, f.deletionRecord(projectID))
	if len(failed) > 0 {
		t.Errorf("got the failed records %v, want none", failed)
	}
	if a, b := f.itemCount(projectID), f.itemCount(existing); a != 0 || b != existingCount {
		t.Errorf("%d and %d items remain, want 0 and %d", a, b, existingCount)
	}
	reasons := map[string]string{} // by sequence number
	for _, body := range f.failures() {
		var got struct {
			Reason string
			Record events.DynamoDBEventRecord
		}
		if err := json.Unmarshal([]byte(body), &got, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		reasons[got.Record.Change.SequenceNumber] = got.Reason
	}
	for number, reason := range map[string]string{
		noEventName.Change.SequenceNumber: "not a record",
		notAnEvent.Change.SequenceNumber:  "is missing",
		ofExisting.Change.SequenceNumber:  "the project exists",
	} {
		if !strings.Contains(reasons[number], reason) {
			t.Errorf("record %s: got reason %q, want %q", number, reasons[number], reason)
		}
	}
	if len(reasons) != 3 {
		t.Errorf("got the reasons %v, want 3", reasons)
	}
}

// The event of the schedule runs the sweep. It keeps an object that is younger than a day. The deletion of the project
// removes the object.
func TestObjects(t *testing.T) {
	f, handler := newFixture(t)
	projectID := f.storeDeletedProject(1)
	key := "contents/" + projectID + "/CONTENT"
	in := &s3.PutObjectInput{Bucket: &f.bucket, Key: &key, Body: strings.NewReader("x")}
	if _, err := f.s3.PutObject(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		t.Helper()
		out, err := f.s3.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &f.bucket})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Contents)
	}
	if out, err := handler.Invoke(t.Context(), []byte(`{"source":"aws.scheduler"}`)); err != nil || string(out) != "null" {
		t.Errorf("sweep: got %s, %v, want null", out, err)
	}
	position, err := f.client.Table("contents").Get(t.Context(), db.SweepKey())
	if err != nil || count() != 1 {
		t.Errorf("after the sweep: got %d objects, position %v, error %v, want 1 object and a position",
			count(), position, err)
	}
	if failed := f.invoke(handler, f.deletionRecord(projectID)); len(failed) > 0 || count() != 0 {
		t.Errorf("deletion: got the failed records %v and %d objects, want none", failed, count())
	}
}
