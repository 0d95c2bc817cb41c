package dynamodb

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/awsjson"
)

// streaming is an engine with the real SDK's two clients in front of it.
type streaming struct {
	db      *DB
	clock   *testClock
	tables  *sdk.Client
	streams *dynamodbstreams.Client
}

func openStreaming(t testing.TB, change func(*Options)) *streaming {
	t.Helper()
	clock := newTestClock()
	db := openTest(t, func(o *Options) {
		o.Now = clock.Now
		if change != nil {
			change(o)
		}
	})
	return streamingOf(t, db, clock)
}

func streamingOf(t testing.TB, db *DB, clock *testClock) *streaming {
	t.Helper()
	server := httptest.NewServer(db)
	t.Cleanup(server.Close)
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: aws.String(server.URL),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	return &streaming{db, clock, clientOf(t, db), streams}
}

// create creates a table with a stream and returns the stream's ARN.
func (s *streaming) create(t testing.TB, name string, view types.StreamViewType) string {
	t.Helper()
	made, err := s.tables.CreateTable(t.Context(), &sdk.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *made.TableDescription.LatestStreamArn
}

// switchStream enables a table's stream with a view, or disables it if view is empty, and returns the ARN of the latest
// stream.
func (s *streaming) switchStream(t testing.TB, name string, view types.StreamViewType) string {
	t.Helper()
	updated, err := s.tables.UpdateTable(t.Context(), &sdk.UpdateTableInput{
		TableName:           &name,
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(view != ""), StreamViewType: view},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *updated.TableDescription.LatestStreamArn
}

func (s *streaming) put(t testing.TB, table string, item sdkItem) {
	t.Helper()
	if _, err := s.tables.PutItem(t.Context(), &sdk.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

func (s *streaming) remove(t testing.TB, table, key string) {
	t.Helper()
	if _, err := s.tables.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: &table, Key: sdkItem{"pk": str(key)}}); err != nil {
		t.Fatal(err)
	}
}

func (s *streaming) describe(t testing.TB, arn string) *streamtypes.StreamDescription {
	t.Helper()
	described, err := s.streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	return described.StreamDescription
}

// iterator requests an iterator of the stream's shard. change, if it is not nil, changes the request.
func (s *streaming) iterator(t testing.TB, arn string, kind streamtypes.ShardIteratorType, change func(*dynamodbstreams.GetShardIteratorInput)) string {
	t.Helper()
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &arn, ShardId: s.describe(t, arn).Shards[0].ShardId, ShardIteratorType: kind}
	if change != nil {
		change(in)
	}
	out, err := s.streams.GetShardIterator(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return *out.ShardIterator
}

func (s *streaming) get(t testing.TB, iterator string, limit int32) ([]streamtypes.Record, string) {
	t.Helper()
	in := &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator}
	if limit > 0 {
		in.Limit = &limit
	}
	out, err := s.streams.GetRecords(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out.Records, aws.ToString(out.NextShardIterator)
}

// all reads a stream from its oldest record to its present end.
func (s *streaming) all(t testing.TB, arn string) []streamtypes.Record {
	t.Helper()
	var records []streamtypes.Record
	for iterator := s.iterator(t, arn, streamtypes.ShardIteratorTypeTrimHorizon, nil); ; {
		got, next := s.get(t, iterator, 0)
		records = append(records, got...)
		if len(got) == 0 || next == "" {
			return records
		}
		iterator = next
	}
}

// brief returns records as "INSERT a".
func brief(records []streamtypes.Record) string {
	texts := make([]string, len(records))
	for i, r := range records {
		texts[i] = string(r.EventName) + " " + r.Dynamodb.Keys["pk"].(*streamtypes.AttributeValueMemberS).Value
	}
	return strings.Join(texts, ", ")
}

// TestStreamRecords checks the example of AWS's developer guide, with its sizes in bytes, for each view.
func TestStreamRecords(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, func(o *Options) { o.Region = "eu-west-1" })
	const table = `{"TableName":"%s","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"Id","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"Id","KeyType":"HASH"}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"%s"}}`
	const (
		item   = `{"Id":{"N":"101"},"Message":{"S":"New item!"}}`
		edited = `{"Id":{"N":"101"},"Message":{"S":"This item has changed"}}`
	)
	for view, want := range map[string][]string{
		"KEYS_ONLY":          {`"SequenceNumber":"100000000000000000001","SizeBytes":5`, `"SequenceNumber":"100000000000000000002","SizeBytes":5`, `"SequenceNumber":"100000000000000000003","SizeBytes":5`},
		"NEW_IMAGE":          {`"NewImage":` + item + `,"SequenceNumber":"100000000000000000001","SizeBytes":26`, `"NewImage":` + edited + `,"SequenceNumber":"100000000000000000002","SizeBytes":38`, `"SequenceNumber":"100000000000000000003","SizeBytes":5`},
		"OLD_IMAGE":          {`"SequenceNumber":"100000000000000000001","SizeBytes":5`, `"OldImage":` + item + `,"SequenceNumber":"100000000000000000002","SizeBytes":26`, `"OldImage":` + edited + `,"SequenceNumber":"100000000000000000003","SizeBytes":38`},
		"NEW_AND_OLD_IMAGES": {`"NewImage":` + item + `,"SequenceNumber":"100000000000000000001","SizeBytes":26`, `"NewImage":` + edited + `,"OldImage":` + item + `,"SequenceNumber":"100000000000000000002","SizeBytes":59`, `"OldImage":` + edited + `,"SequenceNumber":"100000000000000000003","SizeBytes":38`},
	} {
		must(t, s.db, "CreateTable", fmt.Sprintf(table, view, view))
		for _, message := range []string{"New item!", "This item has changed"} {
			must(t, s.db, "PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{"Id":{"N":"101"},"Message":{"S":"%s"}}}`, view, message))
		}
		must(t, s.db, "DeleteItem", fmt.Sprintf(`{"TableName":"%s","Key":{"Id":{"N":"101"}}}`, view))
		got := mustStream(t, s.db, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, s.iterator(t, s.latest(t, view), streamtypes.ShardIteratorTypeTrimHorizon, nil)))
		records, _, _ := strings.Cut(strings.TrimPrefix(got.raw, `{"Records":[`), `],"NextShardIterator"`)
		var wanted []string
		for i, name := range []string{"INSERT", "MODIFY", "REMOVE"} {
			id := got.body["Records"].([]any)[i].(map[string]any)["eventID"].(string)
			if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
				t.Errorf("event id %q", id)
			}
			wanted = append(wanted, fmt.Sprintf(`{"eventID":%q,"eventName":%q,"eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-west-1",`+
				`"dynamodb":{"ApproximateCreationDateTime":%d,"Keys":{"Id":{"N":"101"}},%s,"StreamViewType":%q}}`, id, name, s.clock.Now().Unix(), want[i], view))
		}
		if diff := cmp.Diff(strings.Join(wanted, ","), records); diff != "" {
			t.Errorf("%s: %s", view, diff)
		}
	}
}

// latest is the ARN of a table's latest stream.
func (s *streaming) latest(t testing.TB, table string) string {
	t.Helper()
	described, err := s.tables.DescribeTable(t.Context(), &sdk.DescribeTableInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(described.Table.LatestStreamArn)
}

// TestStreamOfEveryWrite checks that all kinds of writes add records, unless they change nothing.
func TestStreamOfEveryWrite(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn := s.create(t, "things", types.StreamViewTypeNewAndOldImages)
	for _, step := range []struct{ operation, body, want string }{
		{"PutItem", `{"TableName":"things","Item":{"pk":{"S":"a"},"set":{"SS":["x","y"]}}}`, "INSERT a"},
		{"PutItem", `{"TableName":"things","Item":{"pk":{"S":"a"},"set":{"SS":["y","x"]}}}`, ""},
		{"PutItem", `{"TableName":"things","Item":{"pk":{"S":"a"},"set":{"SS":["y"]}}}`, "MODIFY a"},
		{"UpdateItem", `{"TableName":"things","Key":{"pk":{"S":"a"}}}`, ""},
		{"UpdateItem", `{"TableName":"things","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`, "MODIFY a"},
		{"UpdateItem", `{"TableName":"things","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1.0"}}}`, ""},
		{"UpdateItem", `{"TableName":"things","Key":{"pk":{"S":"b"}}}`, "INSERT b"},
		{"DeleteItem", `{"TableName":"things","Key":{"pk":{"S":"b"}}}`, "REMOVE b"},
		{"DeleteItem", `{"TableName":"things","Key":{"pk":{"S":"b"}}}`, ""},
		{"BatchWriteItem", `{"RequestItems":{"things":[{"PutRequest":{"Item":{"pk":{"S":"c"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"z"}}}}]}}`, "INSERT c, REMOVE a"},
		{"TransactWriteItems", `{"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":"d"}}}},{"Delete":{"TableName":"things","Key":{"pk":{"S":"c"}}}},` +
			`{"Update":{"TableName":"things","Key":{"pk":{"S":"e"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}},` +
			`{"ConditionCheck":{"TableName":"things","Key":{"pk":{"S":"f"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`, "INSERT d, REMOVE c, INSERT e"},
		{"TransactWriteItems", `{"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":"d"}}}},{"Delete":{"TableName":"things","Key":{"pk":{"S":"c"}}}},` +
			`{"Update":{"TableName":"things","Key":{"pk":{"S":"e"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}},` +
			`{"ConditionCheck":{"TableName":"things","Key":{"pk":{"S":"f"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`, ""},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":"g"}}}},{"ConditionCheck":{"TableName":"things","Key":{"pk":{"S":"d"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`, ""},
		{"PutItem", `{"TableName":"things","Item":{"pk":{"S":"d"},"n":{"N":"1"}},"ConditionExpression":"attribute_not_exists(pk)"}`, ""},
	} {
		iterator := s.iterator(t, arn, streamtypes.ShardIteratorTypeLatest, nil)
		call(t, s.db, step.operation, step.body)
		records, next := s.get(t, iterator, 0)
		if got := brief(records); got != step.want {
			t.Errorf("%s %s: got %q, want %q", step.operation, step.body, got, step.want)
		}
		if again, _ := s.get(t, next, 0); len(again) > 0 {
			t.Errorf("%s: then got %s again", step.operation, brief(again))
		}
	}
	if got := brief(s.all(t, arn)); got != "INSERT a, MODIFY a, MODIFY a, INSERT b, REMOVE b, INSERT c, REMOVE a, INSERT d, REMOVE c, INSERT e" {
		t.Errorf("all: %s", got)
	}
}

// TestStreamOfExpiry checks that the record of an expired item names the service as the user.
func TestStreamOfExpiry(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn := s.create(t, "things", types.StreamViewTypeOldImage)
	must(t, s.db, "UpdateTimeToLive", `{"TableName":"things","TimeToLiveSpecification":{"AttributeName":"e","Enabled":true}}`)
	s.put(t, "things", sdkItem{"pk": str("expires"), "e": num(int(s.clock.Now().Unix()) + 10)})
	s.put(t, "things", sdkItem{"pk": str("deleted"), "e": num(int(s.clock.Now().Unix()) + 10)})
	s.remove(t, "things", "deleted")
	s.clock.advance(time.Minute)
	if err := s.db.sweep(); err != nil {
		t.Fatal(err)
	}
	records := s.all(t, arn)
	if got := brief(records); got != "INSERT expires, INSERT deleted, REMOVE deleted, REMOVE expires" {
		t.Fatalf("got %s", got)
	}
	want := &streamtypes.Identity{Type: aws.String("Service"), PrincipalId: aws.String("dynamodb.amazonaws.com")}
	for i, record := range records {
		if expired := i == 3; expired != (record.UserIdentity != nil) || expired && (*record.UserIdentity.Type != *want.Type || *record.UserIdentity.PrincipalId != *want.PrincipalId) {
			t.Errorf("record %d: identity %v", i, record.UserIdentity)
		}
	}
	if e := records[3].Dynamodb.OldImage["e"]; e == nil {
		t.Error("no old image")
	}
	// Filters of triggers match these names.
	raw := mustStream(t, s.db, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, s.iterator(t, arn, streamtypes.ShardIteratorTypeTrimHorizon, nil))).raw
	if !strings.Contains(raw, `"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}`) {
		t.Errorf("got %s", raw)
	}
}

// callStream is call for DynamoDB Streams.
func callStream(t testing.TB, db *DB, operation, body string) answer {
	t.Helper()
	request := httptest.NewRequest("POST", "/", strings.NewReader(body))
	request.Header.Set("Content-Type", awsjson.Version10)
	request.Header.Set("X-Amz-Target", streamsPrefix+operation)
	request.Header.Set("X-Amz-Date", "20261120T120000Z")
	request.Header.Set("Authorization", testAuthorization)
	return send(t, db, request)
}

func mustStream(t testing.TB, db *DB, operation, body string) answer {
	t.Helper()
	result := callStream(t, db, operation, body)
	if result.status != 200 {
		t.Fatalf("%s %s: %d %s", operation, body, result.status, result.raw)
	}
	return result
}

func sequences(records []streamtypes.Record) []string {
	var numbers []string
	for _, record := range records {
		numbers = append(numbers, *record.Dynamodb.SequenceNumber)
	}
	return slices.Clip(numbers)
}
