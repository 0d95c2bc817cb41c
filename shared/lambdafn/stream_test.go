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

// streamEvent is what Lambda hands a function of a table's stream: the first record as AWS's documentation shows one.
func streamEvent(records ...string) []byte {
	first := `{"eventID":"1","eventVersion":"1.0","eventName":"INSERT","eventSource":"aws:dynamodb","awsRegion":"us-east-1",
		"dynamodb":{"ApproximateCreationDateTime":1763640000.0,"Keys":{"pk":{"S":"a"}},"NewImage":{"pk":{"S":"a"},"n":{"N":"1"}},
		"SequenceNumber":"100","SizeBytes":26,"StreamViewType":"NEW_IMAGE"},
		"eventSourceARN":"arn:aws:dynamodb:us-east-1:123456789012:table/t/stream/2025-11-20T00:00:00.000"}`
	return []byte(`{"Records":[` + strings.Join(append([]string{first}, records...), ",") + `]}`)
}

// removal is a record with no new image, and one that says so.
func removal(sequence int) string {
	return fmt.Sprintf(`{"eventName":"REMOVE","dynamodb":{"SequenceNumber":"%d","NewImage":null,"ApproximateCreationDateTime":1.76364E9}}`, sequence)
}

// run invokes a stream function with a handler that fails as fail says and gives back the answer, what was handled, and the log.
func run(ctx context.Context, t *testing.T, payload []byte, fail func(lambdafn.StreamRecord) error) (answer string, handled []lambdafn.StreamRecord, line map[string]any) {
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

func fine(lambdafn.StreamRecord) error { return nil }

func TestAStreamIsHandledInItsOrder(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	answer, handled, line := run(ctx, t, streamEvent(removal(200), removal(300)), fine)
	if answer != `{"batchItemFailures":[]}` {
		t.Error(answer)
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

func TestAStreamStopsAtItsFirstFailure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		record string // the second of three
		fail   error
		panics bool
		tried  int
		cause  string
	}{
		"an error":           {record: removal(200), fail: errors.New("no luck"), tried: 2, cause: "no luck"},
		"a panic":            {record: removal(200), panics: true, tried: 2, cause: "panic: at the disco"},
		"a wrong image":      {record: `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":{"a":{"X":"hunter2"}}}}`, tried: 1, cause: "new image: db: not an item in DynamoDB's JSON"},
		"no image at all":    {record: `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":"hunter2"}}`, tried: 1, cause: "new image: db: not an item in DynamoDB's JSON"},
		"no name":            {record: `{"dynamodb":{"SequenceNumber":"200"}}`, tried: 1, cause: "this is no record of a DynamoDB stream"},
		"a time of no sense": {record: `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","ApproximateCreationDateTime":"hunter2"}}`, tried: 1, cause: "this is no record of a DynamoDB stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, handled, line := run(t.Context(), t, streamEvent(tc.record, removal(300)), func(r lambdafn.StreamRecord) error {
				if r.SequenceNumber == "200" && tc.panics {
					panic("at the disco")
				}
				if r.SequenceNumber == "200" {
					return tc.fail
				}
				return nil
			})
			if answer != `{"batchItemFailures":[{"itemIdentifier":"200"}]}` || len(handled) != tc.tried {
				t.Errorf("%s after %d", answer, len(handled))
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

// An empty identifier makes Lambda take the whole batch for failed, which is right for a record without a number.
func TestARecordWithoutNumberFailsTheBatch(t *testing.T) {
	t.Parallel()
	for _, record := range []string{`{}`, `null`, `7`, `{"eventName":"INSERT"}`, `{"eventName":"INSERT","dynamodb":{}}`, `{"eventName":"INSERT","dynamodb":null}`} {
		answer, handled, _ := run(t.Context(), t, []byte(`{"Records":[`+record+`]}`), fine)
		if answer != `{"batchItemFailures":[{"itemIdentifier":""}]}` || len(handled) != 0 {
			t.Errorf("%s: %s", record, answer)
		}
	}
}

func TestAStreamEndsBeforeItsTime(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	var left []time.Duration
	h := lambdafn.Stream(discardLog, func(ctx context.Context, _ lambdafn.StreamRecord) error {
		own, _ := ctx.Deadline()
		left = append(left, deadline.Sub(own))
		return nil
	}, nil)
	if _, err := h.Invoke(ctx, streamEvent()); err != nil || len(left) != 1 || left[0] < 100*time.Millisecond {
		t.Errorf("%v is kept for the answer, %v", left, err)
	}
	late, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	answer, handled, line := run(late, t, streamEvent(removal(200)), fine)
	if answer != `{"batchItemFailures":[{"itemIdentifier":"100"}]}` || len(handled) != 0 || line["failed"] != 2.0 || line["level"] != "WARN" {
		t.Errorf("%s after %d: %v", answer, len(handled), line)
	}
}

func TestWhatIsNoStreamEventFails(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{``, `null`, `{}`, `[]`, `{"Records":null}`, `{"Records":"hunter2"}`, `{"records":[]}`} {
		out, err := lambdafn.Stream(discardLog, func(context.Context, lambdafn.StreamRecord) error { return nil }, nil).Invoke(t.Context(), []byte(payload))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %s, %v", payload, out, err)
		}
	}
	if answer, _, _ := run(t.Context(), t, []byte(`{"Records":[]}`), fine); answer != `{"batchItemFailures":[]}` {
		t.Error(answer)
	}
}

// Whatever Lambda hands over, the answer is one that it reads.
func FuzzStream(f *testing.F) {
	f.Add(streamEvent(removal(200)))
	f.Add([]byte(`{"Records":[{"eventName":"INSERT","dynamodb":{"SequenceNumber":"1","NewImage":{"a":{"L":[{"S":"x"}]}}}},7]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		out, err := lambdafn.Stream(discardLog, func(context.Context, lambdafn.StreamRecord) error { return nil }, nil).Invoke(t.Context(), payload)
		if err != nil {
			return
		}
		var answer struct {
			BatchItemFailures []struct{ ItemIdentifier *string }
		}
		if err := json.Unmarshal(out, &answer); err != nil || len(answer.BatchItemFailures) > 1 {
			t.Fatalf("%s: %v", out, err)
		}
		for _, failure := range answer.BatchItemFailures {
			if failure.ItemIdentifier == nil {
				t.Errorf("%s", out)
			}
		}
	})
}
