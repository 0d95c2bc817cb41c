package triggers

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

func TestRecordAsFunctionsSeeIt(t *testing.T) {
	t.Parallel()
	image := map[string]types.AttributeValue{
		"s": &types.AttributeValueMemberS{Value: "<é>"}, "n": &types.AttributeValueMemberN{Value: "1.50"}, "b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"bool": &types.AttributeValueMemberBOOL{Value: true}, "null": &types.AttributeValueMemberNULL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"x", "y"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}}, "emptyList": &types.AttributeValueMemberL{}, "emptyMap": &types.AttributeValueMemberM{},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"deep": &types.AttributeValueMemberN{Value: "-1"}}},
		}},
	}
	record := types.Record{
		EventID: aws.String("c4ca"), EventName: types.OperationTypeRemove, EventVersion: aws.String("1.1"), EventSource: aws.String("aws:dynamodb"),
		AwsRegion: aws.String("eu-central-1"), UserIdentity: &types.Identity{PrincipalId: aws.String("dynamodb.amazonaws.com"), Type: aws.String("Service")},
		Dynamodb: &types.StreamRecord{
			ApproximateCreationDateTime: aws.Time(time.Unix(1700000000, 0)), Keys: map[string]types.AttributeValue{"s": image["s"]}, OldImage: image,
			SequenceNumber: aws.String("4421584500000000017450439091"), SizeBytes: aws.Int64(59), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}
	raw := encode(recordEvent(record, fakeARN))
	equal(t, "JSON", string(raw), `{"awsRegion":"eu-central-1","dynamodb":{"ApproximateCreationDateTime":1700000000,"Keys":{"s":{"S":"<é>"}},`+
		`"OldImage":{"b":{"B":"AP8="},"bool":{"BOOL":true},"bs":{"BS":["AQ==","Ag=="]},"emptyList":{"L":[]},"emptyMap":{"M":{}},`+
		`"l":{"L":[{"M":{"deep":{"N":"-1"}}}]},"n":{"N":"1.50"},"ns":{"NS":["1","2"]},"null":{"NULL":true},"s":{"S":"<é>"},"ss":{"SS":["x","y"]}},`+
		`"SequenceNumber":"4421584500000000017450439091","SizeBytes":59,"StreamViewType":"NEW_AND_OLD_IMAGES"},`+
		`"eventID":"c4ca","eventName":"REMOVE","eventSource":"aws:dynamodb","eventSourceARN":"`+fakeARN+`","eventVersion":"1.1",`+
		`"userIdentity":{"principalId":"dynamodb.amazonaws.com","type":"Service"}}`)
	var event events.DynamoDBEvent
	if err := json.Unmarshal([]byte(payloadHead+string(raw)+payloadTail), &event); err != nil {
		t.Fatal(err)
	}
	got := event.Records[0]
	equal(t, "decoded", []any{got.EventName, got.UserIdentity.Type, got.Change.ApproximateCreationDateTime.Unix(), got.Change.OldImage["b"].Binary(),
		got.Change.OldImage["l"].List()[0].Map()["deep"].Number()}, []any{"REMOVE", "Service", int64(1700000000), []byte{0, 255}, "-1"})
}
