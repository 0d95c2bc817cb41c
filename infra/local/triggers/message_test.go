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
		MD5OfBody: aws.String("e4e68fb7bd0e697a0ae8f1bb342846b3"),
		Attributes: map[string]string{
			"ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183", "SenderId": "AIDAIENQZJOLO23YVJ4VO",
			"ApproximateFirstReceiveTimestamp": "1545082649185", "MessageGroupId": "g",
		},
	}
	raw := encode(newMessageEvent(m, q))
	equal(t, "JSON", string(raw), `{"messageId":"059f36b4-87a3-44ab-83d2-661975830a7d","receiptHandle":"AQEB+/=","body":"<é> & \"x\"\n",`+
		`"attributes":{"ApproximateFirstReceiveTimestamp":"1545082649185","ApproximateReceiveCount":"1","MessageGroupId":"g",`+
		`"SenderId":"AIDAIENQZJOLO23YVJ4VO","SentTimestamp":"1545082649183"},`+
		`"messageAttributes":{},"md5OfBody":"e4e68fb7bd0e697a0ae8f1bb342846b3",`+
		`"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:us-east-2:123456789012:my-queue","awsRegion":"us-east-2"}`)
	var read events.SQSMessage
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	equal(t, "body", read.Body, *m.Body)
}
