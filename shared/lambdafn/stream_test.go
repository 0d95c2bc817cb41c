package lambdafn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/lambdafn"
)

var _ lambda.Handler = (*lambdafn.StreamHandler)(nil)

// streamEvent returns an event of a stream. The first record is like the one in AWS's documentation.
func streamEvent(records ...string) []byte {
	first := `{"eventID":"1","eventVersion":"1.0","eventName":"INSERT","eventSource":"aws:dynamodb","awsRegion":"us-east-1",
		"dynamodb":{"ApproximateCreationDateTime":1763640000.0,"Keys":{"pk":{"S":"a"}},"NewImage":{"pk":{"S":"a"},"n":{"N":"1"}},
		"SequenceNumber":"100","SizeBytes":26,"StreamViewType":"NEW_IMAGE"},
		"eventSourceARN":"arn:aws:dynamodb:us-east-1:123456789012:table/t/stream/2025-11-20T00:00:00.000"}`
	return []byte(`{"Records":[` + strings.Join(append([]string{first}, records...), ",") + `]}`)
}

// removal returns a record whose new image is null.
func removal(sequence int) string {
	return fmt.Sprintf(`{"eventName":"REMOVE","dynamodb":{"SequenceNumber":"%d","NewImage":null,"ApproximateCreationDateTime":1.76364E9}}`, sequence)
}

// run invokes a stream handler whose errors are those of fail. It returns the response, the records and the log.
func run(ctx context.Context, t *testing.T, payload []byte, fail func(lambdafn.StreamRecord) error) (response string, handled []lambdafn.StreamRecord, line map[string]any) {
	t.Helper()
	l := &log{}
	out, err := lambdafn.Stream(slog.New(slog.NewJSONHandler(l, nil)), func(_ context.Context, r lambdafn.StreamRecord) error {
		handled = append(handled, r)
		return fail(r)
	}, nil).Invoke(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	lines := l.lines(t)
	if len(lines) != 1 {
		t.Fatalf("%d lines in the log", len(lines))
	}
	return string(out), handled, lines[0]
}

func succeed(lambdafn.StreamRecord) error { return nil }

func TestStreamHandlesRecordsInOrder(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	response, handled, line := run(ctx, t, streamEvent(removal(200), removal(300)), succeed)
	if response != `{"batchItemFailures":[]}` {
		t.Error(response)
	}
	noon := time.Unix(1_763_640_000, 0).UTC()
	if len(handled) != 3 || handled[0].NewImage == nil {
		t.Fatalf("%+v", handled)
	}
	if pk, ok := handled[0].NewImage["pk"].(*types.AttributeValueMemberS); !ok || pk.Value != "a" || len(handled[0].NewImage) != 2 {
		t.Errorf("%v", handled[0].NewImage)
	}
	handled[0].NewImage = nil
	want := []lambdafn.StreamRecord{
		{SequenceNumber: "100", EventName: "INSERT", At: noon}, {SequenceNumber: "200", EventName: "REMOVE", At: noon},
		{SequenceNumber: "300", EventName: "REMOVE", At: noon},
	}
	if diff := cmp.Diff(want, handled); diff != "" {
		t.Error(diff)
	}
	if line["level"] != "INFO" || line["records"] != 3.0 || line["done"] != 3.0 || line["failed"] != 0.0 || line["requestId"] != "req-1" {
		t.Errorf("%v", line)
	}
}

func TestStreamStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		record  string // the second of three
		fail    error
		panics  bool
		handled int
		cause   string
	}{
		"error":             {record: removal(200), fail: errors.New("failed"), handled: 2, cause: "failed"},
		"panic":             {record: removal(200), panics: true, handled: 2, cause: "panic: broken"},
		"invalid image":     {record: `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":{"a":{"X":"hunter2"}}}}`, handled: 1, cause: "new image: db: not an item in DynamoDB's JSON"},
		"image is a string": {record: `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":"hunter2"}}`, handled: 1, cause: "new image: db: not an item in DynamoDB's JSON"},
		"no event name":     {record: `{"dynamodb":{"SequenceNumber":"200"}}`, handled: 1, cause: "not a record of a DynamoDB stream"},
		"invalid time":      {record: `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","ApproximateCreationDateTime":"hunter2"}}`, handled: 1, cause: "not a record of a DynamoDB stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, handled, line := run(t.Context(), t, streamEvent(tc.record, removal(300)), func(r lambdafn.StreamRecord) error {
				if r.SequenceNumber == "200" && tc.panics {
					panic("broken")
				}
				if r.SequenceNumber == "200" {
					return tc.fail
				}
				return nil
			})
			if response != `{"batchItemFailures":[{"itemIdentifier":"200"}]}` || len(handled) != tc.handled {
				t.Errorf("%s after %d", response, len(handled))
			}
			if line["level"] != "ERROR" || line["done"] != 1.0 || line["failed"] != 2.0 || line["failedAt"] != "200" {
				t.Errorf("%v", line)
			}
			if cause, ok := line["cause"].(string); !ok || !strings.HasPrefix(cause, tc.cause) || strings.Contains(cause, "hunter2") {
				t.Errorf("%v", line["cause"])
			}
		})
	}
}

// An empty identifier makes Lambda retry the whole batch, which is right for a record without a sequence number.
func TestRecordWithoutSequenceNumberFailsTheBatch(t *testing.T) {
	t.Parallel()
	for _, record := range []string{`{}`, `null`, `7`, `{"eventName":"INSERT"}`, `{"eventName":"INSERT","dynamodb":{}}`, `{"eventName":"INSERT","dynamodb":null}`} {
		response, handled, _ := run(t.Context(), t, []byte(`{"Records":[`+record+`]}`), succeed)
		if response != `{"batchItemFailures":[{"itemIdentifier":""}]}` || len(handled) != 0 {
			t.Errorf("%s: %s", record, response)
		}
	}
}

func TestStreamEndsBeforeTheTimeLimit(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	var margins []time.Duration
	h := lambdafn.Stream(discardLog, func(ctx context.Context, _ lambdafn.StreamRecord) error {
		own, _ := ctx.Deadline()
		margins = append(margins, deadline.Sub(own))
		return nil
	}, nil)
	if _, err := h.Invoke(ctx, streamEvent()); err != nil || len(margins) != 1 || margins[0] < 100*time.Millisecond {
		t.Errorf("%v is reserved for the response, %v", margins, err)
	}
	late, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	response, handled, line := run(late, t, streamEvent(removal(200)), succeed)
	if response != `{"batchItemFailures":[{"itemIdentifier":"100"}]}` || len(handled) != 0 || line["failed"] != 2.0 || line["level"] != "WARN" {
		t.Errorf("%s after %d: %v", response, len(handled), line)
	}
}

func TestStreamRejectsOtherEvents(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{``, `null`, `{}`, `[]`, `{"Records":null}`, `{"Records":"hunter2"}`, `{"records":[]}`} {
		out, err := lambdafn.Stream(discardLog, func(context.Context, lambdafn.StreamRecord) error { return nil }, nil).Invoke(t.Context(), []byte(payload))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %s, %v", payload, out, err)
		}
	}
	if response, _, _ := run(t.Context(), t, []byte(`{"Records":[]}`), succeed); response != `{"batchItemFailures":[]}` {
		t.Error(response)
	}
}

// FuzzStream checks that every response is valid.
func FuzzStream(f *testing.F) {
	f.Add(streamEvent(removal(200)))
	f.Add([]byte(`{"Records":[{"eventName":"INSERT","dynamodb":{"SequenceNumber":"1","NewImage":{"a":{"L":[{"S":"x"}]}}}},7]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		out, err := lambdafn.Stream(discardLog, func(context.Context, lambdafn.StreamRecord) error { return nil }, nil).Invoke(t.Context(), payload)
		if err != nil {
			return
		}
		var response struct {
			BatchItemFailures []struct{ ItemIdentifier *string }
		}
		if err := json.Unmarshal(out, &response); err != nil || len(response.BatchItemFailures) > 1 {
			t.Fatalf("%s: %v", out, err)
		}
		for _, failure := range response.BatchItemFailures {
			if failure.ItemIdentifier == nil {
				t.Errorf("%s", out)
			}
		}
	})
}
