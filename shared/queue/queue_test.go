package queue_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/awsclient"
	"devplatform/shared/config"
	"devplatform/shared/queue"
	"devplatform/shared/retry"
)

// numbered returns n messages with the bodies 000, 001, and so on.
func numbered(n int) []queue.Message {
	messages := make([]queue.Message, n)
	for i := range messages {
		messages[i].Body = fmt.Sprintf("%03d", i)
	}
	return messages
}

// bodiesOf returns the bodies of messages, sorted.
func bodiesOf(messages []queue.Message) []string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.Body
	}
	slices.Sort(all)
	return all
}

func TestSend(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	err := q.Send(t.Context(),
		queue.Message{
			Body:  "a",
			Group: "wh_1",
			Delay: 1500 * time.Millisecond,
		},
		queue.Message{Body: `{"b":"é"}`})
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{
		{
			ID:             "0",
			MessageBody:    "a",
			MessageGroupID: "wh_1",
			DelaySeconds:   2,
		},
		{ID: "1", MessageBody: `{"b":"é"}`},
	}
	if diff := cmp.Diff(want, f.recorded().stored); diff != "" || len(f.recorded().calls) != 1 {
		t.Errorf("got %d calls, want 1; entries (-want +got):\n%s", len(f.recorded().calls), diff)
	}
	if err := q.Send(t.Context()); err != nil || len(f.recorded().calls) != 1 {
		t.Errorf("without messages: got error %v and %d calls, want no further call", err, len(f.recorded().calls)-1)
	}
}

func TestSendInParallelBatches(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	messages := append(numbered(95), queue.Message{Body: strings.Repeat("x", 1<<20)})
	if err := q.Send(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(bodiesOf(messages), f.bodies()) {
		t.Errorf("got %d messages, want each of the %d messages once", len(f.recorded().stored), len(messages))
	}
	if len(f.recorded().calls) != 11 || f.recorded().maxInFlight > 4 {
		t.Errorf("got %d calls, up to %d in flight, want 11 calls, up to 4",
			len(f.recorded().calls), f.recorded().maxInFlight)
	}
}

func TestFailedEntriesAreRetried(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.reject = func(body string, attempt int) *rejection {
		switch {
		case body == "003" && attempt < 3:
			return &rejection{Code: "InternalError"}
		case body == "004" && attempt < 2:
			return &rejection{Code: "RequestThrottled", SenderFault: true}
		case body == "005" && attempt < 2:
			return &rejection{}
		}
		return nil
	}
	messages := numbered(13)
	if err := q.Send(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bodiesOf(messages), f.bodies()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	var sizes []int
	for _, call := range f.recorded().calls {
		sizes = append(sizes, len(call.Entries))
	}
	slices.Sort(sizes)
	// Only failed entries are sent again: 3 of the first batch, then 1. The second batch has 3 entries.
	if diff := cmp.Diff([]int{1, 3, 3, 10}, sizes); diff != "" {
		t.Errorf("sizes of the batches (-want +got):\n%s", diff)
	}
}

func TestSendErrorNamesFailedMessages(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.reject = func(body string, _ int) *rejection {
		switch body {
		case "001":
			return &rejection{Code: "InternalError"}
		case "002":
			return &rejection{Code: "InvalidMessageContents", SenderFault: true}
		case "011":
			return &rejection{}
		}
		return nil
	}
	err := q.Send(t.Context(), numbered(12)...)
	if !errors.Is(err, queue.ErrUnavailable) || !errors.Is(err, awsclient.ErrRejected) {
		t.Fatalf("got error %v, want one that wraps ErrUnavailable and ErrRejected", err)
	}
	if n := len(f.recorded().stored); n != 9 {
		t.Errorf("got %d messages, want 9", n)
	}
	wants := map[int]error{1: queue.ErrUnavailable, 2: awsclient.ErrRejected, 11: queue.ErrUnavailable}
	for i := range 12 {
		if got := queue.FailedAt(err, i); !errors.Is(got, wants[i]) {
			t.Errorf("message %d: got error %v, want %v", i, got, wants[i])
		}
	}
	for body, want := range map[string]int{"001": 4, "002": 1, "011": 4} {
		if got := f.recorded().attempts[body]; got != want {
			t.Errorf("message %s: got %d attempts, want %d", body, got, want)
		}
	}
	if text := err.Error(); !strings.Contains(text, "3 of 12") || !strings.Contains(text, "InternalError") {
		t.Errorf("got error %s, want it to contain the number of messages and the first error", text)
	}
	if queue.FailedAt(nil, 0) != nil {
		t.Error("FailedAt returned an error for a nil error")
	}
}

func TestSenderFaultIsNotUnavailable(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.reject = func(string, int) *rejection { return &rejection{Code: "InvalidMessageContents", SenderFault: true} }
	err := q.Send(t.Context(), numbered(1)...)
	if !errors.Is(err, awsclient.ErrRejected) || errors.Is(err, queue.ErrUnavailable) || len(f.recorded().calls) != 1 {
		t.Errorf("got error %v after %d calls, want ErrRejected after 1", err, len(f.recorded().calls))
	}
}

// exception returns an intercept function that sends an error response to each call.
func exception(status int, name string) func(http.ResponseWriter, int) bool {
	return func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"__type":"com.amazonaws.sqs#%s","message":"injected"}`, name)
		return true
	}
}

func TestFailedCalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		intercept   func(http.ResponseWriter, int) bool
		calls       int
		unavailable bool
	}{
		"error":               {exception(http.StatusInternalServerError, "InternalError"), 4, true},
		"throttled":           {exception(http.StatusBadRequest, "RequestThrottled"), 4, true},
		"dropped connection":  {dropConnection, 4, true},
		"incomplete response": {incompleteResponse, 4, true},
		"missing queue":       {exception(http.StatusBadRequest, "QueueDoesNotExist"), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q := newFake(t)
			f.intercept = tc.intercept
			err := q.Send(t.Context(), numbered(2)...)
			if err == nil || errors.Is(err, queue.ErrUnavailable) != tc.unavailable {
				t.Errorf("got error %v, want ErrUnavailable: %v", err, tc.unavailable)
			}
			if n := len(f.recorded().calls); n != tc.calls {
				t.Errorf("got %d calls, want %d", n, tc.calls)
			}
			if queue.FailedAt(err, 0) == nil || queue.FailedAt(err, 1) == nil {
				t.Error("FailedAt returned nil for a message that was not sent")
			}
			if name == "incomplete response" {
				return // the response to ChangeMessageVisibility is empty
			}
			if err := q.ReturnAfter(t.Context(), "r", 0); err == nil || errors.Is(err, queue.ErrUnavailable) != tc.unavailable {
				t.Errorf("ReturnAfter: got error %v, want ErrUnavailable: %v", err, tc.unavailable)
			}
		})
	}
}

func dropConnection(http.ResponseWriter, int) bool { panic(http.ErrAbortHandler) }

func incompleteResponse(w http.ResponseWriter, _ int) bool {
	_, _ = w.Write([]byte(`{"Succ`))
	return true
}

// A failed batch does not affect the others.
func TestOneOfManyBatchesFails(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.intercept = func(w http.ResponseWriter, call int) bool {
		return call == 2 && exception(http.StatusBadRequest, "QueueDoesNotExist")(w, call)
	}
	err := q.Send(t.Context(), numbered(35)...)
	if calls := len(f.recorded().calls); calls != 4 {
		t.Errorf("got %d calls, want 4", calls)
	}
	sent := f.bodies()
	for i, m := range numbered(35) {
		if isSent := slices.Contains(sent, m.Body); isSent != (queue.FailedAt(err, i) == nil) {
			t.Errorf("message %d was sent: %t, but got error %v", i, isSent, queue.FailedAt(err, i))
		}
	}
}

func TestLostResponsesAreRetried(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.intercept = func(_ http.ResponseWriter, call int) bool {
		if call == 1 {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	if err := q.Send(t.Context(), numbered(3)...); err != nil || len(f.recorded().stored) != 3 {
		t.Errorf("got error %v and %d messages, want 3 messages", err, len(f.recorded().stored))
	}
}

// The retries of a call and the retries of rejected entries share the budget of the operation, or have one of their
// own. They must not multiply.
func TestAttemptsOfABatch(t *testing.T) {
	t.Parallel()
	for want, ctx := range map[int]context.Context{
		awsclient.MaxAttempts: t.Context(),
		2:                     retry.WithBudget(t.Context(), 1, time.Minute),
	} {
		f, q := newFake(t)
		f.reject = func(string, int) *rejection { return &rejection{Code: "InternalError"} }
		f.intercept = func(w http.ResponseWriter, call int) bool {
			return call%2 == 1 && exception(http.StatusInternalServerError, "InternalError")(w, call)
		}
		err := q.Send(ctx, numbered(1)...)
		if n := len(f.recorded().calls); !errors.Is(err, queue.ErrUnavailable) || n != want {
			t.Errorf("got error %v after %d calls, want ErrUnavailable after %d", err, n, want)
		}
	}
}

// If the SDK panics, the messages of its call count as not sent.
func TestPanicOfACall(t *testing.T) {
	t.Parallel()
	q := queue.Wrap(sqs.New(sqs.Options{
		Region: "us-east-1", Credentials: awsclient.Credentials(config.AWS{AccessKeyID: "id", SecretAccessKey: "key"}),
		HTTPClient: slicetest.DoFunc(func(*http.Request) (*http.Response, error) { panic("broken") }),
	})).Queue("https://sqs.us-east-1.amazonaws.com/1/q")
	err := q.Send(t.Context(), numbered(12)...)
	for i := range 12 {
		if reason := queue.FailedAt(err, i); reason == nil || !strings.Contains(reason.Error(), "panic: broken") {
			t.Errorf("message %d: got error %v, want the panic", i, reason)
		}
	}
}

func TestDigestsAreChecked(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.badMD5 = true
	if err := q.Send(t.Context(), numbered(1)...); err == nil {
		t.Error("got no error for a response with the digest of another message")
	}
}

func TestSendEndsWithContext(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.reject = func(string, int) *rejection {
		cancel()
		return &rejection{Code: "InternalError"}
	}
	err := q.Send(ctx, numbered(3)...)
	if !errors.Is(err, queue.ErrUnavailable) || queue.FailedAt(err, 2) == nil || len(f.recorded().calls) != 1 {
		t.Errorf("got error %v after %d calls, want ErrUnavailable after 1", err, len(f.recorded().calls))
	}
}

func TestReturnAfter(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	want := map[string]int{}
	for d, seconds := range map[time.Duration]int{
		0:                  0,
		-time.Second:       0,
		1:                  1,
		time.Second:        1,
		59*time.Second + 1: 60,
		12 * time.Hour:     43200,
	} {
		handle := d.String()
		want[handle] = seconds
		if err := q.ReturnAfter(t.Context(), handle, d); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, f.recorded().visibility); diff != "" {
		t.Errorf("visibility timeouts (-want +got):\n%s", diff)
	}
}

// Messages that are sent to the embedded SQS can be received, and SQS rejects invalid messages.
func TestSendAndReceive(t *testing.T) {
	t.Parallel()
	sdk := sqstest.Start(t)
	url := sqstest.CreateQueue(t, sdk, "queue-test-"+rand.Text(), nil)
	q := queue.Wrap(sdk).Queue(url)
	messages := append(numbered(12), queue.Message{Body: "é", Group: "wh_1"})
	if err := q.Send(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for len(bodies) < len(messages) {
		out, err := sdk.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil || len(out.Messages) == 0 {
			t.Fatalf("received %d messages, then %v, want %d messages", len(bodies), err, len(messages))
		}
		for _, m := range out.Messages {
			bodies = append(bodies, *m.Body)
			if *m.Body == "é" && m.Attributes["MessageGroupId"] != "wh_1" {
				t.Errorf("got message %+v, want the group wh_1", m)
			}
			if err := q.ReturnAfter(t.Context(), *m.ReceiptHandle, time.Hour); err != nil {
				t.Error(err)
			}
		}
	}
	slices.Sort(bodies)
	if diff := cmp.Diff(bodiesOf(messages), bodies); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	err := q.Send(t.Context(),
		queue.Message{Body: "\x01"},
		queue.Message{Body: "valid"},
		queue.Message{Body: "delay too long", Delay: 16 * time.Minute})
	if queue.FailedAt(err, 0) == nil || queue.FailedAt(err, 1) != nil || queue.FailedAt(err, 2) == nil {
		t.Errorf("got error %v, want an error for messages 0 and 2 only", err)
	}
	if errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("got error %v, want an error other than ErrUnavailable", err)
	}
}
