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

// queueEvent returns an event of a queue. The first message is the one in AWS's documentation; more others follow it.
func queueEvent(more int) []byte {
	messages := []string{`{"messageId":"m0","receiptHandle":"AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...","body":"Test \"message\".",
		"attributes":{"ApproximateReceiveCount":"3","SentTimestamp":"1545082649183","SenderId":"AIDAIENQZJOLO23YVJ4VO",
			"ApproximateFirstReceiveTimestamp":"1545082649185","MessageGroupId":"wh_1"},
		"messageAttributes":{"name":{"stringValue":"value","stringListValues":[],"binaryListValues":[],"dataType":"String"},
			"bytes":{"binaryValue":"AAE=","stringListValues":[],"binaryListValues":[],"dataType":"Binary"}},
		"md5OfBody":"e4e68fb7bd0e697a0ae8f1bb342846b3","eventSource":"aws:sqs",
		"eventSourceARN":"arn:aws:sqs:us-east-2:123456789012:my-queue","awsRegion":"us-east-2"}`}
	for i := range more {
		messages = append(messages, fmt.Sprintf(`{"messageId":"m%d","receiptHandle":"r","body":"","attributes":{},"messageAttributes":{}}`, i+1))
	}
	return []byte(`{"Records":[` + strings.Join(messages, ",") + `]}`)
}

// receive invokes a queue handler and returns its response and its log.
func receive(ctx context.Context, t *testing.T, payload []byte, handle func(context.Context, []lambdafn.QueueMessage) []error) (string, []map[string]any) {
	t.Helper()
	l := &log{}
	out, err := lambdafn.Queue(slog.New(slog.NewJSONHandler(l, nil)), handle).Invoke(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), l.lines(t)
}

func TestQueueHandlesMessagesTogether(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	var got []lambdafn.QueueMessage
	response, lines := receive(ctx, t, queueEvent(1), func(_ context.Context, messages []lambdafn.QueueMessage) []error {
		got = messages
		return make([]error, len(messages))
	})
	want := []lambdafn.QueueMessage{
		{
			ID: "m0", ReceiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...", Body: `Test "message".`, Group: "wh_1", Receives: 3,
			Attributes: map[string]string{"name": "value"}, SentAt: time.UnixMilli(1_545_082_649_183).UTC(),
		},
		{ID: "m1", ReceiptHandle: "r", Attributes: map[string]string{}, SentAt: time.Unix(0, 0).UTC()},
	}
	if diff := cmp.Diff(want, got); diff != "" || response != `{"batchItemFailures":[]}` {
		t.Errorf("%s: %s", response, diff)
	}
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	delete(lines[0], "time")
	if diff := cmp.Diff(map[string]any{
		"level": "INFO", "msg": "queue batch", "messages": 2.0, "done": 2.0, "later": 0.0, "failed": 0.0, "requestId": "req-1",
	}, lines[0]); diff != "" {
		t.Error(diff)
	}
}

func TestQueueReportsFailures(t *testing.T) {
	t.Parallel()
	response, lines := receive(t.Context(), t, queueEvent(3), func(context.Context, []lambdafn.QueueMessage) []error {
		return []error{nil, fmt.Errorf("in a minute: %w", lambdafn.ErrLater), errors.New("failed"), nil}
	})
	if response != `{"batchItemFailures":[{"itemIdentifier":"m1"},{"itemIdentifier":"m2"}]}` {
		t.Error(response)
	}
	delete(lines[0], "time")
	if diff := cmp.Diff(map[string]any{
		"level": "ERROR", "msg": "queue batch", "messages": 4.0, "done": 2.0, "later": 1.0, "failed": 1.0,
		"failures": []any{map[string]any{"messageId": "m2", "cause": "failed"}},
	}, lines[0]); diff != "" {
		t.Error(diff)
	}
	response, lines = receive(t.Context(), t, queueEvent(0), func(context.Context, []lambdafn.QueueMessage) []error {
		return []error{fmt.Errorf("%w", lambdafn.ErrLater)}
	})
	if response != `{"batchItemFailures":[{"itemIdentifier":"m0"}]}` || lines[0]["level"] != "INFO" {
		t.Errorf("%s: %v", response, lines)
	}
}

// No message is lost if handle does not return a valid result.
func TestQueueWithInvalidResults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		handle func(context.Context, []lambdafn.QueueMessage) []error
		cause  string
	}{
		"panic":            {func(context.Context, []lambdafn.QueueMessage) []error { panic("broken") }, "panic: broken"},
		"no results":       {func(context.Context, []lambdafn.QueueMessage) []error { return nil }, "the handler returned 0 results for 2 items"},
		"too many results": {func(context.Context, []lambdafn.QueueMessage) []error { return make([]error, 3) }, "the handler returned 3 results for 2 items"},
	} {
		response, lines := receive(t.Context(), t, queueEvent(1), tc.handle)
		if response != `{"batchItemFailures":[{"itemIdentifier":"m0"},{"itemIdentifier":"m1"}]}` {
			t.Errorf("%s: %s", name, response)
		}
		if text := fmt.Sprint(lines); lines[0]["level"] != "ERROR" || lines[0]["failed"] != 2.0 || !strings.Contains(text, tc.cause) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestQueueEndsBeforeTheTimeLimit(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	receive(ctx, t, queueEvent(0), func(ctx context.Context, _ []lambdafn.QueueMessage) []error {
		if own, ok := ctx.Deadline(); !ok || deadline.Sub(own) < 100*time.Millisecond {
			t.Errorf("%v is reserved for the response", deadline.Sub(own))
		}
		return []error{nil}
	})
	late, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	response, _ := receive(late, t, queueEvent(0), func(context.Context, []lambdafn.QueueMessage) []error {
		t.Error("started too near the time limit")
		return []error{nil}
	})
	if response != `{"batchItemFailures":[{"itemIdentifier":"m0"}]}` {
		t.Error(response)
	}
}

func TestQueueLogIsLimited(t *testing.T) {
	t.Parallel()
	_, lines := receive(t.Context(), t, queueEvent(49), func(_ context.Context, messages []lambdafn.QueueMessage) []error {
		return lambdafn.Parallel(len(messages), 5, func(int) error { return errors.New("failed") })
	})
	if failures, ok := lines[0]["failures"].([]any); !ok || len(failures) != 10 || lines[0]["failed"] != 50.0 {
		t.Errorf("%v", lines)
	}
}

func TestQueueRejectsOtherEvents(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		``, `null`, `{}`, `[]`, `{"Records":null}`, `{"Records":"hunter2"}`, `{"Records":[{}]}`, `{"Records":[null]}`,
		`{"Records":[{"messageId":7}]}`, `{"Records":[{"messageId":"m","body":"x"},{"body":"hunter2"}]}`, string(streamEvent()),
	} {
		out, err := lambdafn.Queue(discardLog, func(context.Context, []lambdafn.QueueMessage) []error {
			t.Errorf("%s: handled", payload)
			return nil
		}).Invoke(t.Context(), []byte(payload))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %s, %v", payload, out, err)
		}
	}
	if response, _ := receive(t.Context(), t, []byte(`{"Records":[]}`), nil); response != `{"batchItemFailures":[]}` {
		t.Error(response)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
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
			out, err := lambdafn.Schedule(slog.New(slog.NewJSONHandler(l, nil)), func(ctx context.Context) error {
				if own, ok := ctx.Deadline(); !ok || deadline.Sub(own) < 100*time.Millisecond {
					t.Errorf("%v is reserved for the response", deadline.Sub(own))
				}
				return tc.run()
			}).Invoke(ctx, []byte(payload))
			if (err != nil) != (tc.cause != "") || (err == nil && !json.Valid(out)) {
				t.Errorf("%s: %s, %v", name, out, err)
			}
			lines := l.lines(t)
			if len(lines) != 1 || lines[0]["level"] != tc.level || lines[0]["requestId"] != "req-1" {
				t.Fatalf("%s: %v", name, lines)
			}
			if cause, _ := lines[0]["cause"].(string); !strings.HasPrefix(cause, tc.cause) {
				t.Errorf("%s: %v", name, lines)
			}
		}
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int64
	started := make(chan struct{})
	errs := lambdafn.Parallel(20, 3, func(i int) error {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		switch i {
		case 0:
			<-started
		case 1:
			close(started) // 0 waits for 1, so both must run at the same time
		case 7:
			panic("broken")
		case 9:
			return errors.New("failed")
		}
		return nil
	})
	for i, err := range errs {
		if want := map[int]string{7: "panic: broken", 9: "failed"}[i]; (err != nil) != (want != "") || (err != nil && !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if len(errs) != 20 || most.Load() > 3 {
		t.Errorf("%d errors, %d at a time", len(errs), most.Load())
	}
	if errs := lambdafn.Parallel(0, 3, nil); len(errs) != 0 {
		t.Error(errs)
	}
}

// FuzzQueue checks that the response reports messages of the event.
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
			t.Fatalf("%s: %v", out, err)
		}
		for i, failure := range response.BatchItemFailures {
			if failure.ItemIdentifier != ids[i] || ids[i] == "" {
				t.Errorf("%s", out)
			}
		}
	})
}
