package triggers

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// fakeHour is fake time, longer than every invocation.
const fakeHour = time.Hour

// fakeQueue is a queue that can fail in ways that the engine can't. Other tests run on the engine.
type fakeQueue struct {
	mu         sync.Mutex
	messages   []*fakeMessage
	changed    chan struct{} // closed when there are more messages
	visibility time.Duration
	handles    int
	fault      func(op string) error                                   // before an operation
	refuse     func(handle string, n int) *types.BatchResultErrorEntry // a deletion
	calls      map[string]int
	deleted    []string // bodies
	released   []string // bodies
	sent       []string // bodies of SendMessage
}

type fakeMessage struct {
	id, body, handle string
	receives         int
	visible          time.Time
}

func newFakeQueue() *fakeQueue {
	return &fakeQueue{visibility: 30 * time.Second, changed: make(chan struct{}), calls: map[string]int{}}
}

func (f *fakeQueue) put(bodies ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, body := range bodies {
		f.messages = append(f.messages, &fakeMessage{id: "id-" + body[:min(len(body), 20)], body: body, visible: time.Now()})
	}
	f.wake()
}

// wake wakes waiting readers. The caller holds mu.
func (f *fakeQueue) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeQueue) change(c func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c()
	f.wake()
}

// remaining returns the bodies of the messages in the queue.
func (f *fakeQueue) remaining() (bodies []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.messages {
		bodies = append(bodies, m.body)
	}
	return bodies
}

func (f *fakeQueue) enter(op string) error {
	f.mu.Lock()
	f.calls[op]++
	fault := f.fault
	f.mu.Unlock()
	if fault != nil {
		return fault(op)
	}
	return nil
}

func (f *fakeQueue) GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) { //nolint:revive // the name is the SDK's
	return &sqs.GetQueueUrlOutput{QueueUrl: aws.String("http://queue")}, f.enter("GetQueueUrl")
}

func (f *fakeQueue) GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	err := f.enter("GetQueueAttributes")
	f.mu.Lock()
	defer f.mu.Unlock()
	return &sqs.GetQueueAttributesOutput{Attributes: map[string]string{
		"QueueArn": "arn:aws:sqs:us-east-1:000000000000:jobs", "VisibilityTimeout": strconv.Itoa(int(f.visibility / time.Second)),
	}}, err
}

func (f *fakeQueue) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	if err := f.enter("ReceiveMessage"); err != nil {
		return nil, err
	}
	end := time.After(time.Duration(in.WaitTimeSeconds) * time.Second)
	for {
		got, changed, next := f.take(int(in.MaxNumberOfMessages))
		if len(got) > 0 {
			return &sqs.ReceiveMessageOutput{Messages: got}, nil
		}
		select {
		case <-changed:
		case <-next:
		case <-end:
			return &sqs.ReceiveMessageOutput{}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take receives visible messages. If there are none, it returns channels to wait for.
func (f *fakeQueue) take(limit int) (got []types.Message, changed <-chan struct{}, next <-chan time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var soonest time.Time
	for _, m := range f.messages {
		if m.visible.After(time.Now()) {
			if soonest.IsZero() || m.visible.Before(soonest) {
				soonest = m.visible
			}
			continue
		}
		if len(got) == limit {
			break
		}
		f.handles++
		m.receives++
		m.handle, m.visible = fmt.Sprintf("handle-%d", f.handles), time.Now().Add(f.visibility)
		sum := md5.Sum([]byte(m.body))
		got = append(got, types.Message{
			MessageId: &m.id, Body: &m.body, ReceiptHandle: aws.String(m.handle), MD5OfBody: aws.String(hex.EncodeToString(sum[:])),
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receives)},
		})
	}
	if !soonest.IsZero() {
		next = time.After(time.Until(soonest))
	}
	return got, f.changed, next
}

func (f *fakeQueue) DeleteMessageBatch(_ context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	if err := f.enter("DeleteMessageBatch"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := &sqs.DeleteMessageBatchOutput{}
	if n := len(in.Entries); n < 1 || n > 10 {
		return nil, fmt.Errorf("%d entries", n)
	}
	for _, entry := range in.Entries {
		if f.refuse != nil {
			if failed := f.refuse(*entry.ReceiptHandle, f.calls["DeleteMessageBatch"]); failed != nil {
				failed.Id = entry.Id
				out.Failed = append(out.Failed, *failed)
				continue
			}
		}
		for i, m := range f.messages {
			if m.handle == *entry.ReceiptHandle {
				f.deleted = append(f.deleted, m.body)
				f.messages = slices.Delete(f.messages, i, i+1)
				break
			}
		}
	}
	return out, nil
}

func (f *fakeQueue) ChangeMessageVisibilityBatch(_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if err := f.enter("ChangeMessageVisibilityBatch"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, entry := range in.Entries {
		for _, m := range f.messages {
			if m.handle == *entry.ReceiptHandle {
				m.visible = time.Now().Add(time.Duration(entry.VisibilityTimeout) * time.Second)
				f.released = append(f.released, m.body)
			}
		}
	}
	return &sqs.ChangeMessageVisibilityBatchOutput{}, nil
}

func (f *fakeQueue) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	if err := f.enter("SendMessage"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, *in.MessageBody)
	return &sqs.SendMessageOutput{}, nil
}

// worker is a simulated function of a queue. handle receives the bodies of a batch.
type worker struct {
	handle func(ctx context.Context, bodies []string) (answer string, err error)

	mu          sync.Mutex
	batches     []string    // "a b", in the order of their invocations
	times       []time.Time // of the invocations
	counts      []string    // receive counts of the first message
	sizes       []int       // of the payloads
	busy, peak  int
	lastPayload []byte
}

func (w *worker) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	var event struct{ Records []messageEvent }
	if err := json.Unmarshal(in.Payload, &event); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	var bodies []string
	for _, r := range event.Records {
		bodies = append(bodies, r.Body)
	}
	w.mu.Lock()
	w.batches = append(w.batches, strings.Join(bodies, " "))
	w.times = append(w.times, time.Now())
	w.counts = append(w.counts, event.Records[0].Attributes["ApproximateReceiveCount"])
	w.sizes = append(w.sizes, len(in.Payload))
	w.lastPayload = in.Payload
	w.busy++
	w.peak = max(w.peak, w.busy)
	handle := w.handle
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.busy--
		w.mu.Unlock()
	}()
	response := &runtime.Response{RequestID: "request", Body: io.NopCloser(strings.NewReader("")), Payload: []byte("null")}
	if handle == nil {
		return response, nil
	}
	answer, err := handle(ctx, bodies)
	switch {
	case errors.Is(err, errFunction):
		response.FunctionError = &runtime.FunctionError{Type: "errorString", Message: err.Error()}
	case err != nil:
		return nil, err
	default:
		response.Payload = []byte(answer)
	}
	return response, nil
}

func (w *worker) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.batches)
}

// queueRig is a mapping between a fake queue and a function.
type queueRig struct {
	*Triggers
	fake   *fakeQueue
	worker *worker
	logs   logs
	spec   resources.EventSourceMapping
}

func newQueueRig(t *testing.T, changes ...func(*queueRig)) *queueRig {
	t.Helper()
	r := &queueRig{
		fake: newFakeQueue(), worker: &worker{}, logs: newLogs(),
		spec: resources.EventSourceMapping{Name: "FnJobs", Function: "Fn", Queue: "jobs", BatchSize: 10, MaximumConcurrency: 5},
	}
	for _, c := range changes {
		c(r)
	}
	r.open(t)
	return r
}

func (r *queueRig) open(t *testing.T) {
	t.Helper()
	opened, err := Open(Options{
		Mappings: []resources.EventSourceMapping{r.spec}, Invoke: r.worker.invoke, Positions: newMemory(), Now: time.Now, Logger: slog.New(r.logs),
		Backoff: func(failures int) time.Duration { return time.Duration(min(failures, 10)) * 100 * time.Millisecond },
	})
	if err != nil {
		t.Fatal(err)
	}
	opened.mappings[0].(*queueMapping).queues = r.fake
	r.Triggers = opened
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), fakeHour)
		defer cancel()
		if err := opened.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// count returns the number of calls of an operation.
func (f *fakeQueue) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// locked reads a value while the mutex is locked.
func locked[T any](mu *sync.Mutex, value *T) T {
	mu.Lock()
	defer mu.Unlock()
	return *value
}
