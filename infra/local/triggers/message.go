package triggers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// This file converts messages of queues into events of functions:
// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html.

// messageEvent is the event of a message.
type messageEvent struct {
	ID             string                      `json:"messageId"`
	ReceiptHandle  string                      `json:"receiptHandle"`
	Body           string                      `json:"body"`
	Attributes     map[string]string           `json:"attributes"`
	Custom         map[string]messageAttribute `json:"messageAttributes"`
	MD5OfCustom    string                      `json:"md5OfMessageAttributes,omitempty"`
	MD5OfBody      string                      `json:"md5OfBody"`
	EventSource    string                      `json:"eventSource"`
	EventSourceARN string                      `json:"eventSourceARN"`
	Region         string                      `json:"awsRegion"`
}

// messageAttribute is an attribute that the sender has set. SQS does not use the lists.
type messageAttribute struct {
	StringValue *string  `json:"stringValue,omitempty"`
	BinaryValue []byte   `json:"binaryValue,omitempty"`
	StringList  []string `json:"stringListValues"`
	BinaryList  [][]byte `json:"binaryListValues"`
	DataType    string   `json:"dataType"`
}

// message is a received message that is not done.
type message struct {
	id, handle string
	payload    []byte    // the event, encoded
	hidden     time.Time // until then, no other reader receives it
}

func newMessageEvent(m types.Message, q *queue) messageEvent {
	event := messageEvent{
		ID: aws.ToString(m.MessageId), ReceiptHandle: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body),
		Attributes: map[string]string{}, Custom: make(map[string]messageAttribute, len(m.MessageAttributes)),
		MD5OfCustom: aws.ToString(m.MD5OfMessageAttributes), MD5OfBody: aws.ToString(m.MD5OfBody),
		EventSource: "aws:sqs", EventSourceARN: q.arn, Region: q.region,
	}
	maps.Copy(event.Attributes, m.Attributes)
	for name, value := range m.MessageAttributes {
		event.Custom[name] = messageAttribute{
			StringValue: value.StringValue, BinaryValue: value.BinaryValue,
			StringList: []string{}, BinaryList: [][]byte{}, DataType: aws.ToString(value.DataType),
		}
	}
	return event
}

// filterable returns the event for filters: a body that is a JSON object, or an array of objects, is decoded, any other
// body is a string. A pattern for one kind never matches the other, so that such a message is deleted:
// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs-filtering.html.
func filterable(payload []byte, body string) map[string]any {
	var event map[string]any
	if err := decode(payload, &event); err != nil {
		panic(fmt.Sprintf("triggers: decode an event of this package: %v", err))
	}
	var content any
	if err := decode([]byte(body), &content); err != nil {
		return event
	}
	switch c := content.(type) {
	case map[string]any:
		event["body"] = c
	case []any:
		event["body"] = objects(c)
	}
	return event
}

// objects returns the objects in an array: a pattern for plain text must not match other elements.
func objects(elements []any) (found []any) {
	for _, element := range elements {
		switch e := element.(type) {
		case map[string]any:
			found = append(found, e)
		case []any:
			found = append(found, objects(e)...)
		}
	}
	return found
}

// decode decodes one JSON value, with numbers as they are written, which patterns need.
func decode(raw []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) { // More reports no more before a bracket
		return errors.New("decode: there is more after the value")
	}
	return nil
}
