package lambdafn_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"devplatform/shared/lambdafn"
)

// A handler of a stream or a queue with a schedule calls the schedule's function for events without Records, and only
// for these.
func TestStreamWithSchedule(t *testing.T) {
	t.Parallel()
	newHandler := func() *lambdafn.StreamHandler {
		return lambdafn.Stream(discardLog, func(context.Context, lambdafn.StreamRecord) error {
			t.Error("got a record")
			return nil
		}, nil)
	}
	checkSchedule(t, newHandler(), func(run func(context.Context) error) lambda.Handler {
		return newHandler().WithSchedule(run)
	})
}

// A task runs only for the events of its own schedule.
func TestStreamWithTask(t *testing.T) {
	t.Parallel()
	var ran []string
	run := func(name string) func(context.Context) error {
		return func(context.Context) error {
			ran = append(ran, name)
			return nil
		}
	}
	stream := lambdafn.Stream(discardLog, nil, nil).WithSchedule(run("schedule")).
		WithTask("first", run("first")).WithTask("second", run("second"))
	for _, payload := range []string{`{"task":"second"}`, `{"source":"aws.scheduler"}`, `{"task":"first"}`} {
		if out, err := stream.Invoke(t.Context(), []byte(payload)); err != nil || string(out) != "null" {
			t.Errorf("%s: got %s, error %v, want null", payload, out, err)
		}
	}
	if _, err := stream.Invoke(t.Context(), []byte(`{"task":"third"}`)); err == nil {
		t.Error("an unknown task: got no error")
	}
	if want := []string{"second", "schedule", "first"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
}

func TestQueueWithSchedule(t *testing.T) {
	t.Parallel()
	var bodies []string
	newHandler := func() *lambdafn.QueueHandler {
		return lambdafn.Queue(discardLog, func(_ context.Context, messages []lambdafn.QueueMessage) []error {
			bodies = append(bodies, messages[0].Body)
			return []error{errors.New("failed")}
		})
	}
	checkSchedule(t, newHandler(), func(run func(context.Context) error) lambda.Handler {
		return newHandler().WithSchedule(run)
	})
	out, err := newHandler().WithSchedule(nil).Invoke(t.Context(), []byte(`{"Records":[{"messageId":"1","body":"b"}]}`))
	if want := `{"batchItemFailures":[{"itemIdentifier":"1"}]}`; string(out) != want || err != nil || len(bodies) != 1 {
		t.Errorf("got %s, error %v and the messages %q, want %s and one message", out, err, bodies, want)
	}
}

// checkSchedule checks a handler without a schedule, and the same handler with one.
func checkSchedule(t *testing.T, without lambda.Handler, with func(run func(context.Context) error) lambda.Handler) {
	t.Helper()
	runs := 0
	var failure error
	both := with(func(context.Context) error {
		runs++
		return failure
	})
	for _, tc := range []struct {
		handler lambda.Handler
		payload string
		failure error
		runs    int
		isError bool
	}{
		{both, `{"source":"aws.scheduler"}`, nil, 1, false},
		{both, `{"source":"aws.scheduler"}`, errors.New("failed"), 1, true},
		{both, `{"Records":[]}`, nil, 0, false},
		{both, `not JSON`, nil, 0, true},
		{without, `{"source":"aws.scheduler"}`, nil, 0, true},
	} {
		runs, failure = 0, tc.failure
		if _, err := tc.handler.Invoke(t.Context(), []byte(tc.payload)); (err != nil) != tc.isError || runs != tc.runs {
			t.Errorf("%s: got error %v and %d runs, want an error: %v, and %d runs", tc.payload, err, runs, tc.isError, tc.runs)
		}
	}
}
