package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
)

// world is the environment of the function: a DynamoDB behind a proxy that can block calls, and a queue.
type world struct {
	t      *testing.T
	sdk    *dynamodb.Client // not through the proxy
	client *db.Client
	ids    *id.Generator
	hold   atomic.Pointer[func(r *http.Request) bool] // reports whether to block a call until its client cancels it
	number int                                        // of the last stream record
	sqs    *sqs.Client
	queue  string // the URL of the queue of failures
}

// conversations is the table that only this function has.
const conversations = "conversations"

func newWorld(t *testing.T) (*world, *lambdafn.StreamHandler) {
	t.Helper()
	functiontest.SkipWithEndpoint(t)
	queues := sqstest.StartServer(t)
	w := &world{t: t, sdk: dynamotest.Start(t), ids: id.NewGenerator(time.Now, rand.Reader), sqs: sqstest.Client(queues)}
	w.queue = sqstest.CreateQueue(t, w.sqs, "failures", nil)
	w.client = db.Wrap(w.sdk, time.Now)
	for _, table := range []string{"projects", "contents", conversations, "events"} {
		dynamotest.CreateTable(t, w.sdk, table, "pk", "sk")
	}
	target, err := url.Parse(aws.ToString(w.sdk.Options().BaseEndpoint))
	if err != nil {
		t.Fatal(err)
	}
	next := httputil.NewSingleHostReverseProxy(target)
	next.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	endpoint := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if hold := w.hold.Load(); hold != nil && (*hold)(r) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
			<-r.Context().Done()
			return
		}
		next.ServeHTTP(out, r)
	}))
	t.Cleanup(endpoint.Close)
	for name, value := range map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_ENDPOINT_URL": endpoint.URL, "AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL_SQS": queues, "FAILURES_QUEUE": w.queue,
		"PROJECTS_TABLE": "projects", "CONTENTS_TABLE": "contents", "CONVERSATIONS_TABLE": conversations,
	} {
		t.Setenv(name, value)
	}
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	return w, functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler)))
}

// remains stores the data of a deleted project with a number of files, each with one chunk.
func (w *world) remains(files int) (projectID string) {
	w.t.Helper()
	projectID = w.ids.New(id.Project)
	w.put("projects", db.CommentKey(projectID, w.ids.New(id.Comment)), db.Item{})
	w.put(conversations, db.Key{PK: db.TreeKey(projectID).PK, SK: "CONVERSATION"}, db.Item{})
	for i := range files {
		contentID := fmt.Sprintf("CONTENT%d", i)
		w.put("projects", db.FileKey(projectID, fmt.Sprintf("/%d.ts", i)), db.Item{
			"content": &types.AttributeValueMemberS{Value: contentID}, "chunks": &types.AttributeValueMemberN{Value: "1"},
		})
		w.put("contents", db.ChunkKey(projectID, contentID, 0), db.Item{})
	}
	return projectID
}

func (w *world) put(table string, key db.Key, item db.Item) {
	w.t.Helper()
	if _, err := w.client.Do(w.t.Context(), w.client.Table(table).Put(key, item)); err != nil {
		w.t.Fatal(err)
	}
}

// left returns the number of items that are stored under a project's ID.
func (w *world) left(projectID string) (n int) {
	w.t.Helper()
	for _, table := range []string{"projects", "contents", conversations} {
		items, err := w.client.Table(table).QueryAll(w.t.Context(), db.ProjectPartition(projectID))
		if err != nil {
			w.t.Fatal(err)
		}
		n += len(items)
	}
	return n
}

// happens stores the event of a change, and returns its stream record as Lambda sends it.
func (w *world) happens(c event.Change) events.DynamoDBEventRecord {
	w.t.Helper()
	c.WorkspaceID = w.ids.New(id.Workspace)
	c.Data = event.Data{
		Actor:   event.Actor{ID: w.ids.New(id.User), Username: "ada"},
		Project: &event.Project{ID: c.ProjectID, Name: "Todo list"},
		File:    &event.File{Path: "/a.ts"}, Comment: &event.Comment{Body: "Nice."},
	}
	table := w.client.Table("events")
	write, err := event.Outbox{Events: table, IDs: w.ids}.Add(c, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client.Do(w.t.Context(), write); err != nil {
		w.t.Fatal(err)
	}
	page, err := table.Query(w.t.Context(), db.Query{Prefix: db.EventsOf(c.ProjectID), Descending: true, Limit: 1})
	if err != nil || len(page.Items) != 1 {
		w.t.Fatalf("%v, %v", page.Items, err)
	}
	image := attributes(page.Items[0])
	w.number++
	return events.DynamoDBEventRecord{
		EventID: rand.Text(), EventName: "INSERT", EventVersion: "1.1", EventSource: "aws:dynamodb", AWSRegion: "us-east-1",
		EventSourceArn: "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/2026-01-30T10:02:44.871",
		Change: events.DynamoDBStreamRecord{
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: time.Now()},
			Keys:                        map[string]events.DynamoDBAttributeValue{"pk": image["pk"], "sk": image["sk"]},
			NewImage:                    image, SequenceNumber: fmt.Sprint(1000 + w.number), SizeBytes: 1, StreamViewType: "NEW_IMAGE",
		},
	}
}

// deleted returns the stream record of a project's deletion.
func (w *world) deleted(projectID string) events.DynamoDBEventRecord {
	w.t.Helper()
	return w.happens(event.Change{Type: event.ProjectDeleted, ProjectID: projectID})
}

// attributes converts an item to the types of Lambda's events.
func attributes(item db.Item) map[string]events.DynamoDBAttributeValue {
	all := map[string]events.DynamoDBAttributeValue{}
	for name, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			all[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberN:
			all[name] = events.NewNumberAttribute(v.Value)
		case *types.AttributeValueMemberM:
			all[name] = events.NewMapAttribute(attributes(v.Value))
		}
	}
	return all
}

// invoke sends the function a batch of records, and returns the sequence numbers that it reports as failed.
func (w *world) invoke(ctx context.Context, handler *lambdafn.StreamHandler, records ...events.DynamoDBEventRecord) []string {
	w.t.Helper()
	payload, err := json.Marshal(events.DynamoDBEvent{Records: records})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := handler.Invoke(ctx, payload)
	if err != nil {
		w.t.Fatal(err)
	}
	var answer events.DynamoDBEventResponse
	if err := json.Unmarshal(out, &answer); err != nil || answer.BatchItemFailures == nil {
		w.t.Fatalf("%s: %v", out, err)
	}
	failed := []string{}
	for _, f := range answer.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed
}

func TestBatch(t *testing.T) {
	w, handler := newWorld(t)
	first, second, neighbour := w.remains(60), w.remains(3), w.remains(3)
	kept := w.left(neighbour)
	replaced := w.happens(event.Change{
		Type: event.FileUpdated, ProjectID: neighbour, Replaced: &event.Content{ID: "CONTENT0", Chunks: 1},
	})
	expired := w.deleted(neighbour) // the record of an event that the table's TTL deletes
	expired.EventName, expired.Change.NewImage = "REMOVE", nil
	changed := w.deleted(neighbour)
	changed.EventName = "MODIFY"
	batch := []events.DynamoDBEventRecord{
		w.deleted(first), replaced, expired, changed,
		w.happens(event.Change{Type: event.CommentCreated, ProjectID: neighbour}), w.deleted(second),
	}
	for range 2 { // the stream delivers at least once
		if failed := w.invoke(t.Context(), handler, batch...); len(failed) > 0 {
			t.Errorf("failed: %v", failed)
		}
		if a, b, c := w.left(first), w.left(second), w.left(neighbour); a != 0 || b != 0 || c != kept {
			t.Errorf("left are %d, %d and %d items, want none, none and %d", a, b, c, kept)
		}
		chunk, err := w.client.Table("contents").Get(t.Context(), db.ChunkKey(neighbour, "CONTENT0", 0))
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
			t.Errorf("the replaced content expires in %v", in)
		}
	}
}

// The record that fails is reported, and no later record is processed.
func TestPartialFailure(t *testing.T) {
	w, handler := newWorld(t)
	projects := []string{w.remains(2), w.remains(30), w.remains(2)}
	var batch []events.DynamoDBEventRecord
	for _, projectID := range projects {
		batch = append(batch, w.deleted(projectID))
	}
	var refuse atomic.Int64
	hold := func(r *http.Request) bool {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchWriteItem") {
			return false
		}
		return refuse.Add(1) > 4 // chunks, record and conversation of the first; a part of the second's chunks
	}
	w.hold.Store(&hold)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	failed := w.invoke(ctx, handler, batch...)
	if diff := cmp.Diff([]string{batch[1].Change.SequenceNumber}, failed); diff != "" {
		t.Errorf("failed: %s", diff)
	}
	if ctx.Err() != nil {
		t.Error("the function returned after its deadline")
	}
	if a, c := w.left(projects[0]), w.left(projects[2]); a != 0 || c == 0 {
		t.Errorf("left are %d items of the first project, and %d of the last", a, c)
	}
	w.hold.Store(nil)
	if failed := w.invoke(t.Context(), handler, batch[1:]...); len(failed) > 0 {
		t.Errorf("failed again: %v", failed)
	}
	for i, projectID := range projects {
		if n := w.left(projectID); n != 0 {
			t.Errorf("left are %d items of project %d", n, i)
		}
	}
}

// If storage does not respond, the function returns before its time limit.
func TestDeadline(t *testing.T) {
	w, handler := newWorld(t)
	projectID := w.remains(1)
	always := func(*http.Request) bool { return true }
	w.hold.Store(&always)
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	record := w.deleted(projectID)
	failed := w.invoke(ctx, handler, record)
	if diff := cmp.Diff([]string{record.Change.SequenceNumber}, failed); diff != "" || ctx.Err() != nil {
		t.Errorf("failed: %s, %v", diff, ctx.Err())
	}
}

// failures returns the messages in the failure queue.
func (w *world) failures() []string {
	w.t.Helper()
	out, err := w.sqs.ReceiveMessage(w.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &w.queue, MaxNumberOfMessages: 10})
	if err != nil {
		w.t.Fatal(err)
	}
	var bodies []string
	for _, m := range out.Messages {
		bodies = append(bodies, aws.ToString(m.Body))
	}
	slices.Sort(bodies)
	return bodies
}

// Invalid records go to the failure queue unchanged, and do not block the stream.
func TestPoison(t *testing.T) {
	w, handler := newWorld(t)
	projectID, live := w.remains(2), w.remains(2)
	w.put("projects", db.TreeKey(live), db.Item{})
	kept := w.left(live)
	unreadable := w.deleted(projectID)
	unreadable.EventName = ""
	noEvent := w.deleted(projectID)
	noEvent.Change.NewImage = map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("x")}
	mistaken := w.deleted(live)
	if failed := w.invoke(t.Context(), handler, unreadable, noEvent, mistaken, w.deleted(projectID)); len(failed) > 0 {
		t.Errorf("failed: %v", failed)
	}
	if a, b := w.left(projectID), w.left(live); a != 0 || b != kept {
		t.Errorf("left are %d and %d items, want none and %d", a, b, kept)
	}
	numbers := map[string]string{}
	for _, body := range w.failures() {
		var got struct {
			Reason string
			Record events.DynamoDBEventRecord
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		numbers[got.Record.Change.SequenceNumber] = got.Reason
	}
	for number, reason := range map[string]string{
		unreadable.Change.SequenceNumber: "not a record", noEvent.Change.SequenceNumber: "is missing", mistaken.Change.SequenceNumber: "the project exists",
	} {
		if !strings.Contains(numbers[number], reason) {
			t.Errorf("%s: %q", number, numbers[number])
		}
	}
	if len(numbers) != 3 {
		t.Errorf("%v", numbers)
	}
}

// A record that cannot be sent to the failure queue is reported as failed.
func TestUnavailableFailureQueue(t *testing.T) {
	w, _ := newWorld(t)
	t.Setenv("FAILURES_QUEUE", w.queue+"-gone")
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	projectID := w.remains(2)
	unreadable := w.deleted(projectID)
	unreadable.EventName = ""
	failed := w.invoke(t.Context(), functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))), unreadable, w.deleted(projectID))
	if diff := cmp.Diff([]string{unreadable.Change.SequenceNumber}, failed); diff != "" || w.left(projectID) == 0 {
		t.Errorf("failed: %s", diff)
	}
}

func TestRequiredVariables(t *testing.T) {
	newWorld(t)
	functiontest.CheckRequiredVariables[settings](t, "PROJECTS_TABLE", "CONTENTS_TABLE", "CONVERSATIONS_TABLE", "FAILURES_QUEUE")
}
