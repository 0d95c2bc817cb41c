package main

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/workspace"
)

// The function handles the events of the stream, which can be delivered twice. Invalid records go to the failure queue
// unchanged, and do not block the stream. The event of the schedule runs the sweep.
func TestFunction(t *testing.T) {
	functiontest.SkipIfEndpointIsSet(t)
	f := projecttest.New(t)
	queues := sqstest.StartServer(t)
	client := sqstest.Client(queues)
	failures := sqstest.CreateQueue(t, client, "failures", nil)
	conversations := slicetest.Table(t, f.SDK, "conversations")
	functiontest.SetEnv(t, f.Endpoint, map[string]string{
		"AWS_ENDPOINT_URL_SQS": queues, "FAILURES_QUEUE": failures,
		"AWS_ENDPOINT_URL_S3": aws.ToString(f.S3.Options().BaseEndpoint), "AWS_ACCESS_KEY_ID": "local",
		"AWS_SECRET_ACCESS_KEY": "local", "FILES_BUCKET": f.Bucket,
		"ACCOUNTS_TABLE": "accounts", "EVENTS_TABLE": f.Tables.Events, "PROJECTS_TABLE": f.Tables.Projects,
		"CONTENTS_TABLE": f.Tables.Contents, "CONVERSATIONS_TABLE": conversations, "SITES_TABLE": "sites",
		"WEBHOOKS_TABLE": "webhooks", "METRICS_NAMESPACE": "test",
	})
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	handler := functiontest.Must(newHandler(cfg, f.Clock.Now, slog.New(slog.DiscardHandler)))
	ada := f.NewUser("ada")
	deleted, kept := ada.FilesOf(""), ada.FilesOf(ada.Project("", "Kept", workspace.Private))
	deleted.ProjectID = ada.Project("", "Deleted", workspace.Private)
	for _, files := range []projecttest.FilesClient{deleted, kept} {
		files.SaveBytes("/large", projecttest.RandomBytes(10_000)).Want(t, http.StatusCreated)
		files.Save("/a", "1").Want(t, http.StatusCreated)
		files.Save("/a", "2").Want(t, http.StatusOK)
	}
	ada.Do(http.MethodDelete, projecttest.URL(deleted.ProjectID), nil).Want(t, http.StatusOK)
	f.Put(conversations, map[db.Key]db.Item{{PK: db.ProjectPartition(deleted.ProjectID).PK, SK: "CONVERSATION"}: {}})

	if out, err := handler.Invoke(t.Context(), []byte(`{"source":"aws.scheduler"}`)); err != nil || string(out) != "null" {
		t.Errorf("sweep: got %s, %v, want null", out, err)
	}
	if _, err := f.Contents.Get(t.Context(), db.SweepKey()); err != nil || len(f.Objects()) != 2 {
		t.Errorf("after the sweep: got %d objects and error %v, want 2, which are young, and a position",
			len(f.Objects()), err)
	}

	var batch []events.DynamoDBEventRecord
	add := func(eventName string, image map[string]events.DynamoDBAttributeValue) {
		batch = append(batch, events.DynamoDBEventRecord{EventName: eventName, Change: events.DynamoDBStreamRecord{
			NewImage: image, SequenceNumber: fmt.Sprint(1000 + len(batch)),
		}})
	}
	for _, item := range f.Dump(f.Tables.Events) {
		image := attributes(item)
		if add("INSERT", image); image["type"].String() == string(event.ProjectDeleted) {
			image = maps.Clone(image)
			image["projectId"] = events.NewStringAttribute(kept.ProjectID)
			add("REMOVE", nil) // by the TTL of the table
			add("MODIFY", image)
			add("INSERT", image)
			add("", image)
			add("INSERT", map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("x")})
		}
	}
	payload, err := json.Marshal(events.DynamoDBEvent{Records: batch})
	if err != nil {
		t.Fatal(err)
	}
	tree := kept.Tree()
	for range 2 {
		out, err := handler.Invoke(t.Context(), payload)
		if err != nil || string(out) != `{"batchItemFailures":[]}` {
			t.Errorf("got the response %s and error %v, want no failed record", out, err)
		}
	}
	for _, table := range []string{f.Tables.Projects, f.Tables.Contents, conversations} {
		for key := range f.Dump(table) {
			if key.PK == db.ProjectPartition(deleted.ProjectID).PK {
				t.Errorf("the item %v of the deleted project remains", key)
			}
		}
	}
	want := kept.Record("/large").ObjectKey(kept.ProjectID)
	if got := f.Objects(); len(got) != 1 || got[0] != want || kept.Tree() != tree {
		t.Errorf("got the objects %v and the tree %+v, want %s and %+v", got, kept.Tree(), want, tree)
	}
	expiring := 0
	for _, at := range f.Expiries(kept.ProjectID) {
		if at > 0 {
			expiring++
		}
	}
	if expiring != 1 {
		t.Errorf("got %d chunks that expire, want the content that was replaced", expiring)
	}
	queued, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &failures, MaxNumberOfMessages: 10})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, m := range queued.Messages {
		bodies = append(bodies, aws.ToString(m.Body))
	}
	for _, reason := range []string{"not a record", "is missing", "the project exists"} {
		if all := strings.Join(bodies, "\n"); len(bodies) != 6 || strings.Count(all, reason) != 2 {
			t.Errorf("got the messages %s, want 6, 2 with the reason %q", all, reason)
		}
	}
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
