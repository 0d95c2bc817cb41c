package triggers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/triggers"
)

// patience limits the wait for a result that comes at once on an idle machine.
const patience = time.Minute

// These tests run on the engine, through its wire protocol, or on the endpoint in AWS_ENDPOINT_URL.

// receiver is a function that stores its records.
type receiver struct {
	mu      sync.Mutex
	records []events.DynamoDBEventRecord
	arrived chan struct{}
}

func newReceiver() *receiver { return &receiver{arrived: make(chan struct{}, 1)} }

func (r *receiver) invoke(_ context.Context, in runtime.Invocation) (*runtime.Response, error) {
	var event events.DynamoDBEvent
	if err := json.Unmarshal(in.Payload, &event); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	r.mu.Lock()
	r.records = append(r.records, event.Records...)
	r.mu.Unlock()
	select {
	case r.arrived <- struct{}{}:
	default:
	}
	return &runtime.Response{Body: io.NopCloser(strings.NewReader("")), Payload: []byte("null")}, nil
}

// await waits until this number of records has arrived, and returns them.
func (r *receiver) await(t *testing.T, n int) []events.DynamoDBEventRecord {
	t.Helper()
	timeout := time.After(patience)
	for {
		r.mu.Lock()
		records := slices.Clone(r.records)
		r.mu.Unlock()
		if len(records) >= n {
			return records
		}
		select {
		case <-r.arrived:
		case <-timeout:
			t.Fatalf("%d of %d records have arrived", len(records), n)
		}
	}
}

func start(t *testing.T, endpoint string, saved triggers.Positions, r *receiver, change func(*resources.EventSourceMapping)) *triggers.Triggers {
	t.Helper()
	m := resources.EventSourceMapping{
		Name: "FnEvents", Function: "Fn", Table: t.Name(), BatchSize: 10, ParallelizationFactor: 2, MaximumRecordAge: time.Hour,
	}
	if change != nil {
		change(&m)
	}
	opened, err := triggers.Open(triggers.Options{
		Mappings: []resources.EventSourceMapping{m}, Invoke: r.invoke, Endpoint: endpoint, Positions: saved, Now: time.Now, PollInterval: 5 * time.Millisecond,
		Region: os.Getenv("AWS_REGION"), AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	})
	if err != nil {
		t.Fatal(err)
	}
	opened.Start()
	t.Cleanup(func() { stop(t, opened) })
	return opened
}

func stop(t *testing.T, r *triggers.Triggers) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, client *dynamodb.Client, ids ...string) {
	t.Helper()
	table := t.Name()
	for _, id := range ids {
		item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}, "type": &types.AttributeValueMemberS{Value: id[:1]}}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(records []events.DynamoDBEventRecord) []string {
	var list []string
	for _, r := range records {
		list = append(list, r.Change.Keys["id"].String())
	}
	slices.Sort(list)
	return list
}

func TestEngine(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	client := dynamotest.Client(endpoint)
	arn := dynamotest.CreateStreamTable(t, client, types.StreamViewTypeNewAndOldImages, t.Name(), "id")
	put(t, client, "a")
	r := newReceiver()
	start(t, endpoint, triggers.NewMemory(), r, nil)
	got := r.await(t, 1)[0]
	want := events.DynamoDBEventRecord{
		AWSRegion: got.AWSRegion, EventName: "INSERT", EventSource: "aws:dynamodb", EventVersion: "1.1", EventSourceArn: arn,
		Change: events.DynamoDBStreamRecord{
			Keys:      map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute("a")},
			NewImage:  map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute("a"), "type": events.NewStringAttribute("a")},
			SizeBytes: got.Change.SizeBytes, StreamViewType: "NEW_AND_OLD_IMAGES", SequenceNumber: got.Change.SequenceNumber,
			ApproximateCreationDateTime: got.Change.ApproximateCreationDateTime,
		},
		EventID: got.EventID,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b events.DynamoDBAttributeValue) bool {
		return a.DataType() == b.DataType() && a.String() == b.String()
	})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if age := time.Since(got.Change.ApproximateCreationDateTime.Time); got.EventID == "" || got.Change.SequenceNumber == "" || age < 0 || age > time.Minute {
		t.Errorf("%+v", got)
	}
	table := t.Name()
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}}}); err != nil {
		t.Fatal(err)
	}
	if got := r.await(t, 2)[1]; got.EventName != "REMOVE" || len(got.Change.NewImage) > 0 || len(got.Change.OldImage) != 2 || got.UserIdentity != nil {
		t.Errorf("%+v", got)
	}
}

// After a restart, no record is lost or delivered twice.
func TestRestartOnEngine(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	client := dynamotest.Client(endpoint)
	dynamotest.CreateStreamTable(t, client, types.StreamViewTypeNewImage, t.Name(), "id")
	r, saved := newReceiver(), triggers.NewMemory()
	filter := func(m *resources.EventSourceMapping) {
		m.Filters = []string{`{"dynamodb": {"NewImage": {"type": {"S": ["y", "n"]}}}}`}
	}
	put(t, client, "n-before", "x-filtered")
	first := start(t, endpoint, saved, r, filter)
	put(t, client, "y-last")
	r.await(t, 2)
	stop(t, first)
	put(t, client, "n-down", "x-filtered", "y-down")
	start(t, endpoint, saved, r, filter)
	if diff := cmp.Diff([]string{"n-before", "n-down", "y-down", "y-last"}, ids(r.await(t, 4))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A new stream of a table is found.
func TestStreamOffAndOn(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.StartServer(t)
	client := dynamotest.Client(endpoint)
	first := dynamotest.CreateStreamTable(t, client, types.StreamViewTypeKeysOnly, t.Name(), "id")
	put(t, client, "a")
	r := newReceiver()
	start(t, endpoint, triggers.NewMemory(), r, nil)
	r.await(t, 1)
	for _, on := range []bool{false, true} {
		spec := &types.StreamSpecification{StreamEnabled: &on}
		if on {
			spec.StreamViewType = types.StreamViewTypeNewImage
		}
		table := t.Name()
		if _, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &table, StreamSpecification: spec}); err != nil {
			t.Fatal(err)
		}
		if err := dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	put(t, client, "b")
	if got := r.await(t, 2)[1]; got.EventSourceArn == first || len(got.Change.NewImage) != 2 {
		t.Errorf("%+v", got)
	}
}
