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

// This file is the shape in which functions get messages of queues:
// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html.

// messageEvent is a message as the function sees it.
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

// messageAttribute is a value that the sender attached. The lists are SQS's, which has never used them.
type messageAttribute struct {
	StringValue *string  `json:"stringValue,omitempty"`
	BinaryValue []byte   `json:"binaryValue,omitempty"`
	StringList  []string `json:"stringListValues"`
	BinaryList  [][]byte `json:"binaryListValues"`
	DataType    string   `json:"dataType"`
}

// message is one that was received and is not done.
type message struct {
	id, handle string
	payload    []byte    // the event, encoded
	hidden     time.Time // until then nobody else gets it
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

// filterable is the event as filters see it. They look into bodies that are JSON; a body that is plain text is a string
// to them. A pattern for the one never matches the other, so that such a message is deleted:
// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs-filtering.html. JSON means an object, or objects in an array:
// what else could be read as JSON, such as 17, is text.
func filterable(payload []byte, body string) map[string]any {
	var event map[string]any
	if err := decode(payload, &event); err != nil {
		panic(fmt.Sprintf("triggers: read an event of our own: %v", err))
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

// objects leaves out of a body that is an array what is no object: a pattern for plain text must not match it.
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

// decode reads one JSON value, numbers as they are written: patterns compare them so.
func decode(raw []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) { // More would take a bracket for an end
		return errors.New("decode: there is more behind the value")
	}
	return nil
}
