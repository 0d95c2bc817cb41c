package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
)

// fixture is the environment of the function: a DynamoDB, a bucket and a queue.
type fixture struct {
	t      *testing.T
	sdk    *dynamodb.Client
	client *db.Client
	ids    *id.Generator
	number int // sequence number of the last stream record
	sqs    *sqs.Client
	queue  string // URL of the failure queue
	s3     *s3.Client
	bucket string
}

// conversations is the name of the conversations table.
const conversations = "conversations"

func newFixture(t *testing.T) (*fixture, *lambdafn.StreamHandler) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	queues := sqstest.StartServer(t)
	f := &fixture{t: t, sdk: dynamotest.Start(t), ids: id.NewGenerator(time.Now, rand.Reader), sqs: sqstest.Client(queues)}
	f.queue = sqstest.CreateQueue(t, f.sqs, "failures", nil)
	f.client = db.Wrap(f.sdk, time.Now)
	objects := s3test.StartServer(t)
	f.s3 = s3test.Client(objects)
	f.bucket = s3test.CreateBucket(t, f.s3, "files")
	for _, table := range []string{"projects", "contents", conversations, "events"} {
		dynamotest.CreateTable(t, f.sdk, table, "pk", "sk")
	}
	functiontest.SetEnv(t, aws.ToString(f.sdk.Options().BaseEndpoint), map[string]string{
		"AWS_ENDPOINT_URL_SQS": queues, "FAILURES_QUEUE": f.queue,
		"AWS_ENDPOINT_URL_S3": objects, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"FILES_BUCKET":   f.bucket,
		"ACCOUNTS_TABLE": "accounts", "EVENTS_TABLE": "events", "PROJECTS_TABLE": "projects",
		"CONTENTS_TABLE": "contents", "CONVERSATIONS_TABLE": conversations,
		"SITES_TABLE": "sites", "WEBHOOKS_TABLE": "webhooks", "METRICS_NAMESPACE": "test",
	})
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	return f, functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler)))
}

// storeDeletedProject stores the data of a deleted project with a number of files, each with one chunk.
func (f *fixture) storeDeletedProject(files int) (projectID string) {
	f.t.Helper()
	projectID = f.ids.New(id.Project)
	f.put("projects", db.CommentKey(projectID, f.ids.New(id.Comment)), db.Item{})
	f.put(conversations, db.Key{PK: db.TreeKey(projectID).PK, SK: "CONVERSATION"}, db.Item{})
	for i := range files {
		contentID := fmt.Sprintf("CONTENT%d", i)
		f.put("projects", db.FileKey(projectID, fmt.Sprintf("/%d.ts", i)), db.Item{
			"content": &types.AttributeValueMemberS{Value: contentID}, "chunks": &types.AttributeValueMemberN{Value: "1"},
		})
		f.put("contents", db.ChunkKey(projectID, contentID), db.Item{})
	}
	return projectID
}

func (f *fixture) put(table string, key db.Key, item db.Item) {
	f.t.Helper()
	if _, err := f.client.Do(f.t.Context(), f.client.Table(table).Put(key, item)); err != nil {
		f.t.Fatal(err)
	}
}

// itemCount returns the number of items that are stored under a project's ID.
func (f *fixture) itemCount(projectID string) (n int) {
	f.t.Helper()
	for _, table := range []string{"projects", "contents", conversations} {
		items, err := f.client.Table(table).QueryAll(f.t.Context(), db.ProjectPartition(projectID))
		if err != nil {
			f.t.Fatal(err)
		}
		n += len(items)
	}
	return n
}

// storeEvent stores the event of a change. It returns the stream record of this event, as Lambda sends it.
func (f *fixture) storeEvent(c event.Change) events.DynamoDBEventRecord {
	f.t.Helper()
	c.WorkspaceID = f.ids.New(id.Workspace)
	c.Data = event.Data{
		Actor:   event.Actor{ID: f.ids.New(id.User), Username: "ada"},
		Project: &event.Project{ID: c.ProjectID, Name: "Todo list"},
		File:    &event.File{Path: "/a.ts"}, Comment: &event.Comment{Body: "Nice."},
	}
	table := f.client.Table("events")
	write, err := event.Outbox{Events: table, IDs: f.ids}.Add(c, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.client.Do(f.t.Context(), write); err != nil {
		f.t.Fatal(err)
	}
	page, err := table.Query(f.t.Context(), db.Query{Prefix: db.EventsOf(c.ProjectID), Descending: true, Limit: 1})
	if err != nil || len(page.Items) != 1 {
		f.t.Fatalf("reading the stored event: got items %v, error %v, want one item", page.Items, err)
	}
	image := attributes(page.Items[0])
	f.number++
	return events.DynamoDBEventRecord{
		EventID: rand.Text(), EventName: "INSERT", EventVersion: "1.1", EventSource: "aws:dynamodb", AWSRegion: "us-east-1",
		EventSourceArn: "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/2026-01-30T10:02:44.871",
		Change: events.DynamoDBStreamRecord{
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: time.Now()},
			Keys:                        map[string]events.DynamoDBAttributeValue{"pk": image["pk"], "sk": image["sk"]},
			NewImage:                    image,
			SequenceNumber:              fmt.Sprint(1000 + f.number),
			SizeBytes:                   1,
			StreamViewType:              "NEW_IMAGE",
		},
	}
}

// deletionRecord returns the stream record of a project's deletion.
func (f *fixture) deletionRecord(projectID string) events.DynamoDBEventRecord {
	f.t.Helper()
	return f.storeEvent(event.Change{Type: event.ProjectDeleted, ProjectID: projectID})
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
func (f *fixture) invoke(handler *lambdafn.StreamHandler, records ...events.DynamoDBEventRecord) []string {
	f.t.Helper()
	payload, err := json.Marshal(events.DynamoDBEvent{Records: records})
	if err != nil {
		f.t.Fatal(err)
	}
	out, err := handler.Invoke(f.t.Context(), payload)
	if err != nil {
		f.t.Fatal(err)
	}
	var response events.DynamoDBEventResponse
	if err := json.Unmarshal(out, &response); err != nil || response.BatchItemFailures == nil {
		f.t.Fatalf("got the response %s (error %v), want a batch response", out, err)
	}
	failed := []string{}
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	return failed
}

// failures returns the messages in the failure queue.
func (f *fixture) failures() []string {
	f.t.Helper()
	out, err := f.sqs.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &f.queue, MaxNumberOfMessages: 10})
	if err != nil {
		f.t.Fatal(err)
	}
	var bodies []string
	for _, m := range out.Messages {
		bodies = append(bodies, aws.ToString(m.Body))
	}
	slices.Sort(bodies)
	return bodies
}
