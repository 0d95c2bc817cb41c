package triggers

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// TestMessageShape compares the event with the one in AWS's documentation, and with the type of aws-lambda-go.
func TestMessageShape(t *testing.T) {
	t.Parallel()
	q := &queue{arn: "arn:aws:sqs:us-east-2:123456789012:my-queue", region: "us-east-2"}
	m := types.Message{
		MessageId: aws.String("059f36b4-87a3-44ab-83d2-661975830a7d"), ReceiptHandle: aws.String("AQEB+/="), Body: aws.String("<é> & \"x\"\n"),
		MD5OfBody: aws.String("e4e68fb7bd0e697a0ae8f1bb342846b3"), MD5OfMessageAttributes: aws.String("00484c68ba10ce9b52d52a95d9c73e9e"),
		Attributes: map[string]string{
			"ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183", "SenderId": "AIDAIENQZJOLO23YVJ4VO",
			"ApproximateFirstReceiveTimestamp": "1545082649185", "MessageGroupId": "g",
		},
		MessageAttributes: map[string]types.MessageAttributeValue{
			"text":  {DataType: aws.String("String.x"), StringValue: aws.String("v")},
			"bytes": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255}},
		},
	}
	raw := encode(newMessageEvent(m, q))
	equal(t, "JSON", string(raw), `{"messageId":"059f36b4-87a3-44ab-83d2-661975830a7d","receiptHandle":"AQEB+/=","body":"<é> & \"x\"\n",`+
		`"attributes":{"ApproximateFirstReceiveTimestamp":"1545082649185","ApproximateReceiveCount":"1","MessageGroupId":"g",`+
		`"SenderId":"AIDAIENQZJOLO23YVJ4VO","SentTimestamp":"1545082649183"},`+
		`"messageAttributes":{"bytes":{"binaryValue":"AP8=","stringListValues":[],"binaryListValues":[],"dataType":"Binary"},`+
		`"text":{"stringValue":"v","stringListValues":[],"binaryListValues":[],"dataType":"String.x"}},`+
		`"md5OfMessageAttributes":"00484c68ba10ce9b52d52a95d9c73e9e","md5OfBody":"e4e68fb7bd0e697a0ae8f1bb342846b3",`+
		`"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:us-east-2:123456789012:my-queue","awsRegion":"us-east-2"}`)
	var read events.SQSMessage
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	equal(t, "bytes", read.MessageAttributes["bytes"].BinaryValue, []byte{0, 255})
	m.MessageAttributes, m.MD5OfMessageAttributes, m.Attributes = nil, nil, nil
	equal(t, "nothing attached", string(encode(newMessageEvent(m, q))), `{"messageId":"059f36b4-87a3-44ab-83d2-661975830a7d",`+
		`"receiptHandle":"AQEB+/=","body":"<é> & \"x\"\n","attributes":{},"messageAttributes":{},"md5OfBody":"e4e68fb7bd0e697a0ae8f1bb342846b3",`+
		`"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:us-east-2:123456789012:my-queue","awsRegion":"us-east-2"}`)
}
