package lambdafn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/lambdafn"
)

var (
	_ lambda.Handler = (*lambdafn.QueueHandler)(nil)
	_ lambda.Handler = (*lambdafn.ScheduleHandler)(nil)
)

// queueEvent returns an event with 1+more messages. The first message is the example from AWS's documentation.
func queueEvent(more int) []byte {
	messages := []string{`{"messageId":"m0","receiptHandle":"AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...",
		"body":"Test \"message\".",
		"attributes":{"ApproximateReceiveCount":"3","SentTimestamp":"1545082649183","SenderId":"AIDAIENQZJOLO23YVJ4VO",
			"ApproximateFirstReceiveTimestamp":"1545082649185","MessageGroupId":"wh_1"},
		"messageAttributes":{"name":{"stringValue":"value","stringListValues":[],"binaryListValues":[],"dataType":"String"},
			"bytes":{"binaryValue":"AAE=","stringListValues":[],"binaryListValues":[],"dataType":"Binary"}},
		"md5OfBody":"e4e68fb7bd0e697a0ae8f1bb342846b3","eventSource":"aws:sqs",
		"eventSourceARN":"arn:aws:sqs:us-east-2:123456789012:my-queue","awsRegion":"us-east-2"}`}
	for i := range more {
		messages = append(messages, fmt.Sprintf(
			`{"messageId":"m%d","receiptHandle":"r","body":"","attributes":{},"messageAttributes":{}}`, i+1))
	}
	return []byte(`{"Records":[` + strings.Join(messages, ",") + `]}`)
}

// messageHandler is a handler of queue messages.
type messageHandler = func(context.Context, []lambdafn.QueueMessage) []error

// invokeQueue invokes a queue handler and returns its response and its log.
func invokeQueue(
	ctx context.Context, t *testing.T, payload []byte, handle messageHandler,
) (response string, lines []map[string]any) {
	t.Helper()
	l := &log{}
	out, err := lambdafn.Queue(slog.New(slog.NewJSONHandler(l, nil)), handle).Invoke(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), l.lines(t)
}

// noFailures is the response to a batch without failures.
const noFailures = `{"batchItemFailures":[]}`

// failures returns the response to a batch in which these messages or records failed.
func failures(ids ...string) string {
	items := make([]string, len(ids))
	for i, id := range ids {
		items[i] = fmt.Sprintf(`{"itemIdentifier":%q}`, id)
	}
	return `{"batchItemFailures":[` + strings.Join(items, ",") + `]}`
}

func TestQueueHandlesMessagesTogether(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	var got []lambdafn.QueueMessage
	handle := func(_ context.Context, messages []lambdafn.QueueMessage) []error {
		got = messages
		return make([]error, len(messages))
	}
	response, lines := invokeQueue(ctx, t, queueEvent(1), handle)
	want := []lambdafn.QueueMessage{
		{
			ID: "m0", ReceiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...", Body: `Test "message".`, Group: "wh_1",
			Receives: 3, SentAt: time.UnixMilli(1_545_082_649_183).UTC(),
		},
		{ID: "m1", ReceiptHandle: "r", SentAt: time.Unix(0, 0).UTC()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong messages (-want +got):\n%s", diff)
	}
	if response != noFailures {
		t.Errorf("got the response %s, want %s", response, noFailures)
	}
	if len(lines) != 1 {
		t.Fatalf("got %d log lines, want 1", len(lines))
	}
	delete(lines[0], "time")
	if diff := cmp.Diff(map[string]any{
		"level": "INFO", "msg": "queue batch", "requestId": "req-1",
		"messages": 2.0, "done": 2.0, "later": 0.0, "failed": 0.0,
	}, lines[0]); diff != "" {
		t.Errorf("wrong log line (-want +got):\n%s", diff)
	}
}

func TestQueueReportsFailures(t *testing.T) {
	t.Parallel()
	response, lines := invokeQueue(t.Context(), t, queueEvent(3), func(context.Context, []lambdafn.QueueMessage) []error {
		return []error{nil, fmt.Errorf("in a minute: %w", lambdafn.ErrLater), errors.New("failed"), nil}
	})
	if want := failures("m1", "m2"); response != want {
		t.Errorf("got the response %s, want %s", response, want)
	}
	delete(lines[0], "time")
	if diff := cmp.Diff(map[string]any{
		"level": "ERROR", "msg": "queue batch", "messages": 4.0, "done": 2.0, "later": 1.0, "failed": 1.0,
		"failures": []any{map[string]any{"messageId": "m2", "cause": "failed"}},
	}, lines[0]); diff != "" {
		t.Errorf("wrong log line (-want +got):\n%s", diff)
	}
	response, lines = invokeQueue(t.Context(), t, queueEvent(0), func(context.Context, []lambdafn.QueueMessage) []error {
		return []error{fmt.Errorf("%w", lambdafn.ErrLater)}
	})
	if want := failures("m0"); response != want || lines[0]["level"] != "INFO" {
		t.Errorf("got the response %s and the log %v, want %s and the level INFO", response, lines, want)
	}
}

// TestQueueWithInvalidResults checks that all messages fail if the handler panics or returns the wrong number of
// errors.
func TestQueueWithInvalidResults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		handle messageHandler
		cause  string
	}{
		"panic": {
			handle: func(context.Context, []lambdafn.QueueMessage) []error { panic("broken") },
			cause:  "panic: broken",
		},
		"no results": {
			handle: func(context.Context, []lambdafn.QueueMessage) []error { return nil },
			cause:  "the handler returned 0 results for 2 items",
		},
		"too many results": {
			handle: func(context.Context, []lambdafn.QueueMessage) []error { return make([]error, 3) },
			cause:  "the handler returned 3 results for 2 items",
		},
	} {
		response, lines := invokeQueue(t.Context(), t, queueEvent(1), tc.handle)
		if want := failures("m0", "m1"); response != want {
			t.Errorf("%s: got the response %s, want %s", name, response, want)
		}
		line := lines[0]
		if line["level"] != "ERROR" || line["failed"] != 2.0 || !strings.Contains(fmt.Sprint(line), tc.cause) {
			t.Errorf("%s: logged %v, want level ERROR, 2 failed messages and the cause %q", name, line, tc.cause)
		}
	}
}

func TestQueueLogContainsAtMostTenFailures(t *testing.T) {
	t.Parallel()
	handle := func(_ context.Context, messages []lambdafn.QueueMessage) []error {
		return lambdafn.Parallel(len(messages), 5, func(int) error { return errors.New("failed") })
	}
	_, lines := invokeQueue(t.Context(), t, queueEvent(49), handle)
	if failures, ok := lines[0]["failures"].([]any); !ok || len(failures) != 10 || lines[0]["failed"] != 50.0 {
		t.Errorf("logged %v, want 50 failed messages and the details of 10", lines)
	}
}

func TestQueueRejectsOtherEvents(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		``, `null`, `{}`, `[]`, `{"Records":null}`, `{"Records":"hunter2"}`, `{"Records":[{}]}`, `{"Records":[null]}`,
		`{"Records":[{"messageId":7}]}`, `{"Records":[{"messageId":"m","body":"x"},{"body":"hunter2"}]}`,
		string(streamEvent()),
	} {
		out, err := lambdafn.Queue(discardLog, func(context.Context, []lambdafn.QueueMessage) []error {
			t.Errorf("%s: the handler was called", payload)
			return nil
		}).Invoke(t.Context(), []byte(payload))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %s, error %v, want an error without the body", payload, out, err)
		}
	}
	if response, _ := invokeQueue(t.Context(), t, []byte(`{"Records":[]}`), nil); response != noFailures {
		t.Errorf("no messages: got the response %s, want %s", response, noFailures)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	for name, tc := range map[string]struct {
		run   func() error
		level string
		cause string
	}{
		"done":   {func() error { return nil }, "INFO", ""},
		"failed": {func() error { return errors.New("failed") }, "ERROR", "failed"},
		"panic":  {func() error { panic("broken") }, "ERROR", "panic: broken"},
	} {
		for _, payload := range []string{`{"detail-type":"Scheduled Event"}`, `{}`, `null`, `"x"`, ``} {
			l := &log{}
			out, err := lambdafn.Schedule(slog.New(slog.NewJSONHandler(l, nil)), func(context.Context) error {
				return tc.run()
			}).Invoke(ctx, []byte(payload))
			if (err != nil) != (tc.cause != "") || (err == nil && !json.Valid(out)) {
				t.Errorf("%s: got the response %s, error %v, want the error %q", name, out, err, tc.cause)
			}
			lines := l.lines(t)
			if len(lines) != 1 || lines[0]["level"] != tc.level || lines[0]["requestId"] != "req-1" {
				t.Fatalf("%s: logged %v, want one line with level %s and the request ID", name, lines, tc.level)
			}
			if cause, _ := lines[0]["cause"].(string); !strings.HasPrefix(cause, tc.cause) {
				t.Errorf("%s: logged the cause %q, want %q", name, cause, tc.cause)
			}
		}
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	var running, maxRunning atomic.Int64
	secondStarted := make(chan struct{})
	errs := lambdafn.Parallel(20, 3, func(i int) error {
		maxRunning.Store(max(maxRunning.Load(), running.Add(1)))
		defer running.Add(-1)
		switch i {
		case 0:
			<-secondStarted // call 0 waits for call 1, so both must run at the same time
		case 1:
			close(secondStarted)
		case 7:
			panic("broken")
		case 9:
			return errors.New("failed")
		}
		return nil
	})
	for i, err := range errs {
		want := map[int]string{7: "panic: broken", 9: "failed"}[i]
		if (err != nil) != (want != "") || (err != nil && !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("call %d: got the error %v, want %q", i, err, want)
		}
	}
	if len(errs) != 20 || maxRunning.Load() > 3 {
		t.Errorf("got %d results with %d calls at a time, want 20 results with at most 3", len(errs), maxRunning.Load())
	}
	if errs := lambdafn.Parallel(0, 3, nil); len(errs) != 0 {
		t.Errorf("no calls: got the results %v, want none", errs)
	}
}

// FuzzQueue checks that a handler without results makes every message of the event fail.
func FuzzQueue(f *testing.F) {
	f.Add(queueEvent(2))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var ids []string
		out, err := lambdafn.Queue(discardLog, func(_ context.Context, messages []lambdafn.QueueMessage) []error {
			for _, m := range messages {
				ids = append(ids, m.ID)
			}
			return nil
		}).Invoke(t.Context(), payload)
		if err != nil {
			return
		}
		var response struct {
			BatchItemFailures []struct{ ItemIdentifier string }
		}
		if err := json.Unmarshal(out, &response); err != nil || len(response.BatchItemFailures) != len(ids) {
			t.Fatalf("got the response %s, error %v, want %d failures", out, err, len(ids))
		}
		for i, failure := range response.BatchItemFailures {
			if failure.ItemIdentifier != ids[i] || ids[i] == "" {
				t.Errorf("failure %d has the ID %q, want %q", i, failure.ItemIdentifier, ids[i])
			}
		}
	})
}
