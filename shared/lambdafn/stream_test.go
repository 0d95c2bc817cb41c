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

// streamEvent returns an event of a stream. Its first record is similar to the example of AWS's documentation and has
// the sequence number 100.
func streamEvent(records ...string) []byte {
	first := `{"eventID":"1","eventVersion":"1.0","eventName":"INSERT","eventSource":"aws:dynamodb",
		"awsRegion":"us-east-1",
		"dynamodb":{"ApproximateCreationDateTime":1763640000.0,"Keys":{"pk":{"S":"a"}},
		"NewImage":{"pk":{"S":"a"},"n":{"N":"1"}},"SequenceNumber":"100","SizeBytes":26,"StreamViewType":"NEW_IMAGE"},
		"eventSourceARN":"arn:aws:dynamodb:us-east-1:123456789012:table/t/stream/2025-11-20T00:00:00.000"}`
	return []byte(`{"Records":[` + strings.Join(append([]string{first}, records...), ",") + `]}`)
}

// removal returns the record of a deletion, whose new image is null.
func removal(sequence int) string {
	return fmt.Sprintf(`{"eventName":"REMOVE","dynamodb":{"SequenceNumber":"%d","NewImage":null,`+
		`"ApproximateCreationDateTime":1.76364E9}}`, sequence)
}

// invokeStream invokes a stream handler that calls handle for each record. It returns the response, the records that
// handle received, and the log line.
func invokeStream(
	ctx context.Context, t *testing.T, payload []byte, handle func(lambdafn.StreamRecord) error,
) (response string, handled []lambdafn.StreamRecord, line map[string]any) {
	t.Helper()
	l := &log{}
	logger := slog.New(slog.NewJSONHandler(l, nil))
	out, err := lambdafn.Stream(logger, func(_ context.Context, r lambdafn.StreamRecord) error {
		handled = append(handled, r)
		return handle(r)
	}, nil).Invoke(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	lines := l.lines(t)
	if len(lines) != 1 {
		t.Fatalf("got %d log lines, want 1", len(lines))
	}
	return string(out), handled, lines[0]
}

func succeed(lambdafn.StreamRecord) error { return nil }

func TestStreamHandlesRecordsInOrder(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	response, handled, line := invokeStream(ctx, t, streamEvent(removal(200), removal(300)), succeed)
	if response != noFailures {
		t.Errorf("got the response %s, want %s", response, noFailures)
	}
	noon := time.Unix(1_763_640_000, 0).UTC()
	if len(handled) != 3 || handled[0].NewImage == nil {
		t.Fatalf("got the records %+v, want three, the first with an image", handled)
	}
	image := handled[0].NewImage
	if pk, ok := image["pk"].(*types.AttributeValueMemberS); !ok || pk.Value != "a" || len(image) != 2 {
		t.Errorf("got the image %v, want pk a and a number", image)
	}
	handled[0].NewImage = nil
	want := []lambdafn.StreamRecord{
		{SequenceNumber: "100", EventName: "INSERT", At: noon},
		{SequenceNumber: "200", EventName: "REMOVE", At: noon},
		{SequenceNumber: "300", EventName: "REMOVE", At: noon},
	}
	if diff := cmp.Diff(want, handled); diff != "" {
		t.Errorf("wrong records (-want +got):\n%s", diff)
	}
	delete(line, "time")
	if diff := cmp.Diff(map[string]any{
		"level": "INFO", "msg": "stream batch", "requestId": "req-1", "records": 3.0, "done": 3.0, "failed": 0.0,
	}, line); diff != "" {
		t.Errorf("wrong log line (-want +got):\n%s", diff)
	}
}

func TestStreamStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		record  string // the second of three records
		err     error  // the handler's error for the second record
		panics  bool   // whether the handler panics at the second record
		handled int    // the number of records that the handler receives
		cause   string // the beginning of the logged cause
	}{
		"error": {record: removal(200), err: errors.New("failed"), handled: 2, cause: "failed"},
		"panic": {record: removal(200), panics: true, handled: 2, cause: "panic: broken"},
		"invalid image": {
			record:  `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":{"a":{"X":"hunter2"}}}}`,
			handled: 1,
			cause:   "poison: new image: db: not an item in DynamoDB's JSON",
		},
		"text instead of the image": {
			record:  `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":"hunter2"}}`,
			handled: 1,
			cause:   "poison: new image: db: not an item in DynamoDB's JSON",
		},
		"no event name": {
			record:  `{"dynamodb":{"SequenceNumber":"200"}}`,
			handled: 1,
			cause:   "poison: not a record of a DynamoDB stream",
		},
		"text instead of the time": {
			record:  `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","ApproximateCreationDateTime":"hunter2"}}`,
			handled: 1,
			cause:   "poison: not a record of a DynamoDB stream",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payload := streamEvent(tc.record, removal(300))
			response, handled, line := invokeStream(t.Context(), t, payload, func(r lambdafn.StreamRecord) error {
				if r.SequenceNumber == "200" && tc.panics {
					panic("broken")
				}
				if r.SequenceNumber == "200" {
					return tc.err
				}
				return nil
			})
			if want := failures("200"); response != want {
				t.Errorf("got the response %s, want %s", response, want)
			}
			if len(handled) != tc.handled {
				t.Errorf("the handler received %d records, want %d", len(handled), tc.handled)
			}
			if line["level"] != "ERROR" || line["done"] != 1.0 || line["failed"] != 2.0 || line["failedAt"] != "200" {
				t.Errorf("logged %v, want level ERROR, 1 done, 2 failed and failedAt 200", line)
			}
			cause, _ := line["cause"].(string)
			if !strings.HasPrefix(cause, tc.cause) || strings.Contains(cause, "hunter2") {
				t.Errorf("logged the cause %q, want %q without values of the record", cause, tc.cause)
			}
		})
	}
}

// TestRecordWithoutSequenceNumberFailsTheBatch checks that the response has an empty identifier if a failed record has
// no sequence number. An empty identifier makes Lambda retry the whole batch.
func TestRecordWithoutSequenceNumberFailsTheBatch(t *testing.T) {
	t.Parallel()
	for _, record := range []string{
		`{}`, `null`, `7`,
		`{"eventName":"INSERT"}`, `{"eventName":"INSERT","dynamodb":{}}`, `{"eventName":"INSERT","dynamodb":null}`,
	} {
		response, handled, _ := invokeStream(t.Context(), t, []byte(`{"Records":[`+record+`]}`), succeed)
		if want := failures(""); response != want || len(handled) != 0 {
			t.Errorf("%s: got the response %s and %d handled records, want %s and none", record, response, len(handled), want)
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
	if _, err := h.Invoke(ctx, streamEvent()); err != nil {
		t.Fatal(err)
	}
	if len(margins) != 1 || margins[0] < 100*time.Millisecond {
		t.Errorf("the handler's context ends %v before the time limit, want at least 100 ms", margins)
	}
	late, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	response, handled, line := invokeStream(late, t, streamEvent(removal(200)), succeed)
	if want := failures("100"); response != want || len(handled) != 0 {
		t.Errorf("got the response %s and %d handled records, want %s and none", response, len(handled), want)
	}
	if line["failed"] != 2.0 || line["level"] != "WARN" {
		t.Errorf("logged %v, want level WARN and 2 failed records", line)
	}
}

func TestStreamRejectsOtherEvents(t *testing.T) {
	t.Parallel()
	handler := lambdafn.Stream(discardLog, func(context.Context, lambdafn.StreamRecord) error { return nil }, nil)
	for _, payload := range []string{
		``, `null`, `{}`, `[]`, `{"Records":null}`, `{"Records":"hunter2"}`, `{"records":[]}`,
	} {
		out, err := handler.Invoke(t.Context(), []byte(payload))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %s, error %v, want an error without values of the event", payload, out, err)
		}
	}
	if response, _, _ := invokeStream(t.Context(), t, []byte(`{"Records":[]}`), succeed); response != noFailures {
		t.Errorf("no records: got the response %s, want %s", response, noFailures)
	}
}

// FuzzStream checks that every response is valid and reports at most one failure.
func FuzzStream(f *testing.F) {
	f.Add(streamEvent(removal(200)))
	f.Add([]byte(`{"Records":[{"eventName":"INSERT",` +
		`"dynamodb":{"SequenceNumber":"1","NewImage":{"a":{"L":[{"S":"x"}]}}}},7]}`))
	handler := lambdafn.Stream(discardLog, func(context.Context, lambdafn.StreamRecord) error { return nil }, nil)
	f.Fuzz(func(t *testing.T, payload []byte) {
		out, err := handler.Invoke(t.Context(), payload)
		if err != nil {
			return
		}
		var response struct {
			BatchItemFailures []struct{ ItemIdentifier *string }
		}
		if err := json.Unmarshal(out, &response); err != nil || len(response.BatchItemFailures) > 1 {
			t.Fatalf("got the response %s, error %v, want at most one failure", out, err)
		}
		for _, failure := range response.BatchItemFailures {
			if failure.ItemIdentifier == nil {
				t.Errorf("the response %s has a failure without an identifier", out)
			}
		}
	})
}
