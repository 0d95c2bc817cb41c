package triggers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// This file converts records of streams into events of functions:
// https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html.

// recordEvent returns the event of a record, for the function and for filters.
func recordEvent(r types.Record, arn string) map[string]any {
	change := map[string]any{}
	if d := r.Dynamodb; d != nil {
		if d.ApproximateCreationDateTime != nil {
			change["ApproximateCreationDateTime"] = seconds(*d.ApproximateCreationDateTime)
		}
		images := map[string]map[string]types.AttributeValue{
			"Keys": d.Keys, "NewImage": d.NewImage, "OldImage": d.OldImage,
		}
		for name, image := range images {
			if len(image) > 0 {
				change[name] = attributes(image)
			}
		}
		change["SequenceNumber"] = aws.ToString(d.SequenceNumber)
		change["SizeBytes"] = json.Number(strconv.FormatInt(aws.ToInt64(d.SizeBytes), 10))
		change["StreamViewType"] = string(d.StreamViewType)
	}
	event := map[string]any{
		"eventID": aws.ToString(r.EventID), "eventName": string(r.EventName), "eventVersion": aws.ToString(r.EventVersion),
		"eventSource": "aws:dynamodb", "awsRegion": aws.ToString(r.AwsRegion), "dynamodb": change, "eventSourceARN": arn,
	}
	if user := r.UserIdentity; user != nil {
		event["userIdentity"] = map[string]any{"principalId": aws.ToString(user.PrincipalId), "type": aws.ToString(user.Type)}
	}
	return event
}

// seconds returns a Unix time with milliseconds, if there are any, as in AWS's events.
func seconds(t time.Time) json.Number {
	if t.Nanosecond() == 0 {
		return json.Number(strconv.FormatInt(t.Unix(), 10))
	}
	return json.Number(strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', -1, 64))
}

func attributes(image map[string]types.AttributeValue) map[string]any {
	m := make(map[string]any, len(image))
	for name, value := range image {
		m[name] = attribute(value)
	}
	return m
}

// attribute returns DynamoDB's JSON of a value.
func attribute(value types.AttributeValue) map[string]any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": base64.StdEncoding.EncodeToString(v.Value)}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberNULL:
		return map[string]any{"NULL": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": attributes(v.Value)}
	case *types.AttributeValueMemberL:
		return map[string]any{"L": list(v.Value, func(e types.AttributeValue) any { return attribute(e) })}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": list(v.Value, func(e string) any { return e })}
	case *types.AttributeValueMemberNS:
		return map[string]any{"NS": list(v.Value, func(e string) any { return e })}
	case *types.AttributeValueMemberBS:
		return map[string]any{"BS": list(v.Value, func(e []byte) any { return base64.StdEncoding.EncodeToString(e) })}
	}
	return map[string]any{} // a type that the SDK does not know
}

func list[T any](values []T, element func(T) any) []any {
	l := make([]any, len(values))
	for i, value := range values {
		l[i] = element(value)
	}
	return l
}

// encode returns the JSON of an event.
func encode(event any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(event); err != nil {
		panic(fmt.Sprintf("triggers: encode an event: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func sequence(r types.Record) string {
	if r.Dynamodb == nil {
		return ""
	}
	return aws.ToString(r.Dynamodb.SequenceNumber)
}

// laneOf returns the index of a record's lane, which is the same for all records of a partition key.
func laneOf(r types.Record, partitionKey string, n int) int {
	if n == 1 || r.Dynamodb == nil {
		return 0
	}
	hash := fnv.New32a()
	switch key := r.Dynamodb.Keys[partitionKey].(type) {
	case *types.AttributeValueMemberS:
		_, _ = hash.Write([]byte(key.Value))
	case *types.AttributeValueMemberN:
		_, _ = hash.Write([]byte(key.Value))
	case *types.AttributeValueMemberB:
		_, _ = hash.Write(key.Value)
	}
	return int(hash.Sum32() % uint32(n))
}
