package queue_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/queue"
)

func numbered(n int) []queue.Message {
	messages := make([]queue.Message, n)
	for i := range messages {
		messages[i].Body = fmt.Sprintf("%03d", i)
	}
	return messages
}

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
		queue.Message{Body: "a", Group: "wh_1", Delay: 1500 * time.Millisecond, Attributes: map[string]string{"b": "2", "a": "1"}},
		queue.Message{Body: `{"b":"é"}`})
	if err != nil {
		t.Fatal(err)
	}
	attribute := func(value string) struct{ DataType, StringValue string } {
		return struct{ DataType, StringValue string }{"String", value}
	}
	want := []entry{
		{ID: "0", MessageBody: "a", MessageGroupID: "wh_1", DelaySeconds: 2, MessageAttributes: map[string]struct{ DataType, StringValue string }{
			"a": attribute("1"), "b": attribute("2"),
		}},
		{ID: "1", MessageBody: `{"b":"é"}`},
	}
	if diff := cmp.Diff(want, f.seen().stored); diff != "" || len(f.seen().calls) != 1 {
		t.Errorf("%d calls: %s", len(f.seen().calls), diff)
	}
	if err := q.Send(t.Context()); err != nil || len(f.seen().calls) != 1 {
		t.Errorf("no messages: %v in %d calls", err, len(f.seen().calls))
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
		t.Errorf("%d of %d were sent", len(f.seen().stored), len(messages))
	}
	if len(f.seen().calls) != 11 || f.seen().most > 4 {
		t.Errorf("%d calls, %d of them at a time", len(f.seen().calls), f.seen().most)
	}
}

func TestFailedEntriesAreRetried(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.refuse = func(body string, attempt int) *refusal {
		switch {
		case body == "003" && attempt < 3:
			return &refusal{Code: "InternalError"}
		case body == "004" && attempt < 2:
			return &refusal{Code: "RequestThrottled", SenderFault: true}
		case body == "005" && attempt < 2:
			return &refusal{}
		}
		return nil
	}
	messages := numbered(13)
	if err := q.Send(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bodiesOf(messages), f.bodies()); diff != "" {
		t.Error(diff)
	}
	var sizes []int
	for _, call := range f.seen().calls {
		sizes = append(sizes, len(call.Entries))
	}
	slices.Sort(sizes)
	if diff := cmp.Diff([]int{1, 3, 3, 10}, sizes); diff != "" { // only failed entries are sent again
		t.Error(diff)
	}
}

func TestSendErrorNamesFailedMessages(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.refuse = func(body string, _ int) *refusal {
		switch body {
		case "001":
			return &refusal{Code: "InternalError"}
		case "002":
			return &refusal{Code: "InvalidMessageContents", SenderFault: true}
		case "011":
			return &refusal{}
		}
		return nil
	}
	err := q.Send(t.Context(), numbered(12)...)
	var failed *queue.SendError
	if !errors.As(err, &failed) || !errors.Is(err, queue.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff([]int{1, 2, 11}, slices.Sorted(maps.Keys(failed.Failed))); diff != "" || len(f.seen().stored) != 9 {
		t.Errorf("%s, and %d were sent", diff, len(f.seen().stored))
	}
	for i, want := range map[int]bool{0: false, 1: true, 2: false, 11: true} {
		if reason := queue.FailedAt(err, i); errors.Is(reason, queue.ErrUnavailable) != want || (reason == nil) != (i == 0) {
			t.Errorf("%d: %v", i, reason)
		}
	}
	if tries := []int{f.seen().tries["001"], f.seen().tries["002"], f.seen().tries["011"]}; !slices.Equal(tries, []int{4, 1, 4}) {
		t.Errorf("tried %v times", tries)
	}
	if text := err.Error(); !strings.Contains(text, "3 of 12") || !strings.Contains(text, "InternalError") {
		t.Error(text)
	}
	if queue.FailedAt(nil, 0) != nil {
		t.Error("a failure without an error")
	}
}

func TestSenderFaultIsNotUnavailable(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.refuse = func(string, int) *refusal { return &refusal{Code: "InvalidMessageContents", SenderFault: true} }
	if err := q.Send(t.Context(), numbered(1)...); err == nil || errors.Is(err, queue.ErrUnavailable) || len(f.seen().calls) != 1 {
		t.Errorf("%v after %d calls", err, len(f.seen().calls))
	}
}

func exception(status int, name string) func(http.ResponseWriter, int) bool {
	return func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"__type":"com.amazonaws.sqs#%s","message":"injected"}`, name)
		return true
	}
}

func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		breaks      func(http.ResponseWriter, int) bool
		calls       int
		unavailable bool
	}{
		"error":               {exception(http.StatusInternalServerError, "InternalError"), 4, true},
		"throttled":           {exception(http.StatusBadRequest, "RequestThrottled"), 4, true},
		"dropped connection":  {func(http.ResponseWriter, int) bool { panic(http.ErrAbortHandler) }, 4, true},
		"incomplete response": {func(w http.ResponseWriter, _ int) bool { _, _ = w.Write([]byte(`{"Succ`)); return true }, 4, true},
		"missing queue":       {exception(http.StatusBadRequest, "QueueDoesNotExist"), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q := newFake(t)
			f.breaks = tc.breaks
			err := q.Send(t.Context(), numbered(2)...)
			if err == nil || errors.Is(err, queue.ErrUnavailable) != tc.unavailable || len(f.seen().calls) != tc.calls {
				t.Errorf("%v after %d calls", err, len(f.seen().calls))
			}
			if queue.FailedAt(err, 0) == nil || queue.FailedAt(err, 1) == nil {
				t.Error("the error does not name all messages")
			}
			if name == "incomplete response" {
				return // the response to ChangeMessageVisibility is empty
			}
			if err := q.Hide(t.Context(), "r", 0); err == nil || errors.Is(err, queue.ErrUnavailable) != tc.unavailable {
				t.Errorf("hide: %v", err)
			}
		})
	}
}

// A failed batch does not affect the others.
func TestOneOfManyBatchesFails(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.breaks = func(w http.ResponseWriter, call int) bool {
		return call == 2 && exception(http.StatusBadRequest, "QueueDoesNotExist")(w, call)
	}
	err := q.Send(t.Context(), numbered(35)...)
	var failed *queue.SendError
	if !errors.As(err, &failed) || len(failed.Failed)+len(f.seen().stored) != 35 || len(f.seen().calls) != 4 {
		t.Errorf("%v: %d were sent in %d calls", err, len(f.seen().stored), len(f.seen().calls))
	}
	for _, body := range f.bodies() {
		var i int
		if _, err := fmt.Sscanf(body, "%d", &i); err != nil || queue.FailedAt(failed, i) != nil {
			t.Errorf("%s was sent: %v", body, queue.FailedAt(failed, i))
		}
	}
}

func TestLostResponsesAreRetried(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.breaks = func(_ http.ResponseWriter, call int) bool {
		if call == 1 {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	if err := q.Send(t.Context(), numbered(3)...); err != nil || len(f.seen().stored) != 3 {
		t.Errorf("%v, %d", err, len(f.seen().stored))
	}
}

func TestDigestsAreChecked(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	f.badMD5 = true
	if err := q.Send(t.Context(), numbered(1)...); err == nil {
		t.Error("no error for a message that was changed on the way")
	}
}

func TestSendEndsWithContext(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.refuse = func(string, int) *refusal {
		cancel()
		return &refusal{Code: "InternalError"}
	}
	err := q.Send(ctx, numbered(3)...)
	if !errors.Is(err, queue.ErrUnavailable) || queue.FailedAt(err, 2) == nil || len(f.seen().calls) != 1 {
		t.Errorf("%v after %d calls", err, len(f.seen().calls))
	}
}

func TestHide(t *testing.T) {
	t.Parallel()
	f, q := newFake(t)
	want := map[string]int{}
	for d, seconds := range map[time.Duration]int{0: 0, -time.Second: 0, 1: 1, time.Second: 1, 59*time.Second + 1: 60, 12 * time.Hour: 43200} {
		handle := d.String()
		want[handle] = seconds
		if err := q.Hide(t.Context(), handle, d); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, f.seen().hidden); diff != "" {
		t.Error(diff)
	}
}

// The embedded SQS delivers the messages that were sent.
func TestSendAndReceive(t *testing.T) {
	t.Parallel()
	sdk := sqstest.Start(t)
	url := sqstest.CreateQueue(t, sdk, "queue-test-"+rand.Text(), nil)
	q := queue.Wrap(sdk).Queue(url)
	messages := append(numbered(12), queue.Message{Body: "é", Group: "wh_1", Attributes: map[string]string{"name": "value"}})
	if err := q.Send(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for len(bodies) < len(messages) {
		out, err := sdk.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil || len(out.Messages) == 0 {
			t.Fatalf("%d came back, %v", len(bodies), err)
		}
		for _, m := range out.Messages {
			bodies = append(bodies, *m.Body)
			if *m.Body == "é" && (m.Attributes["MessageGroupId"] != "wh_1" || *m.MessageAttributes["name"].StringValue != "value") {
				t.Errorf("%+v", m)
			}
			if err := q.Hide(t.Context(), *m.ReceiptHandle, time.Hour); err != nil {
				t.Error(err)
			}
		}
	}
	slices.Sort(bodies)
	if diff := cmp.Diff(bodiesOf(messages), bodies); diff != "" {
		t.Error(diff)
	}
	err := q.Send(t.Context(), queue.Message{Body: "\x01"}, queue.Message{Body: "fine"}, queue.Message{Body: "late", Delay: 16 * time.Minute})
	if queue.FailedAt(err, 0) == nil || queue.FailedAt(err, 1) != nil || queue.FailedAt(err, 2) == nil || errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
