package triggers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// bubble runs a test with a simulated clock. Goroutines that remain fail the test.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// function is a simulated Lambda function. handle receives the sequence numbers of a batch.
type function struct {
	handle func(ctx context.Context, batch []string) (answer string, err error)

	mu      sync.Mutex
	batches []string    // "100 101", in the order of their invocations
	times   []time.Time // of the invocations
	events  []events.DynamoDBEvent
}

var errFunction = errors.New("boom")

func (f *function) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	var event events.DynamoDBEvent
	if err := json.Unmarshal(in.Payload, &event); err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	var batch []string
	for _, r := range event.Records {
		batch = append(batch, r.Change.SequenceNumber)
	}
	f.mu.Lock()
	f.batches = append(f.batches, strings.Join(batch, " "))
	f.times = append(f.times, time.Now())
	f.events = append(f.events, event)
	n := len(f.batches)
	f.mu.Unlock()
	response := &runtime.Response{RequestID: fmt.Sprintf("request-%d", n), Body: io.NopCloser(strings.NewReader("")), Payload: []byte("null")}
	if f.handle == nil {
		return response, nil
	}
	answer, err := f.handle(ctx, batch)
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

// seen returns the batches so far.
func (f *function) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.batches)
}

// received returns the events so far, and their times.
func (f *function) received() ([]events.DynamoDBEvent, []time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events), slices.Clone(f.times)
}

// logs stores lines as "LEVEL message".
type logs struct {
	slog.Handler
	mu    *sync.Mutex
	lines *[]string
}

func newLogs() logs { return logs{slog.DiscardHandler, &sync.Mutex{}, &[]string{}} }

func (l logs) Enabled(context.Context, slog.Level) bool { return true }
func (l logs) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logs) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.lines = append(*l.lines, r.Level.String()+" "+r.Message)
	return nil
}

// count returns the number of lines that contain a text.
func (l logs) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range *l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// rig is a mapping between a fake stream and a function, with a fake on-failure queue.
type rig struct {
	*Triggers
	fake     *fake
	failures *fakeQueue
	function *function
	logs     logs
	saved    *memory
	spec     resources.EventSourceMapping
	poll     time.Duration
	backoff  time.Duration // after the first failure; at most ten times as long
}

type change func(*rig)

func with(c func(*resources.EventSourceMapping)) change { return func(r *rig) { c(&r.spec) } }

func newRig(t *testing.T, changes ...change) *rig {
	t.Helper()
	r := &rig{
		fake: newFake(), failures: newFakeQueue(), function: &function{}, logs: newLogs(), saved: newMemory(), poll: 50 * time.Millisecond, backoff: 100 * time.Millisecond,
		spec: resources.EventSourceMapping{
			Name: "FnEvents", Function: "Fn", Table: "things", BatchSize: 10, ParallelizationFactor: 1,
			MaximumRecordAge: time.Hour, OnFailureQueue: "failures",
		},
	}
	for _, c := range changes {
		c(r)
	}
	r.open(t)
	return r
}

// open opens the Triggers, also again after a restart.
func (r *rig) open(t *testing.T) {
	t.Helper()
	opened, err := Open(Options{
		Mappings: []resources.EventSourceMapping{r.spec}, Invoke: r.function.invoke, Positions: r.saved, Now: time.Now, Account: "000000000000",
		Logger: slog.New(r.logs), PollInterval: r.poll,
		Backoff: func(failures int) time.Duration { return time.Duration(min(failures, 10)) * r.backoff },
	})
	if err != nil {
		t.Fatal(err)
	}
	m := opened.mappings[0].(*streamMapping)
	m.tables, m.streams, m.failures.queues = r.fake, r.fake, r.failures
	r.Triggers = opened
	t.Cleanup(func() { r.close(t) })
}

func (r *rig) close(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Hour)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
}

// after waits, and then until all goroutines are blocked.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// discardedMessages returns the messages about discarded batches as "condition start-end invocations".
func (r *rig) discardedMessages(t *testing.T) (all []string) {
	t.Helper()
	for _, body := range locked(&r.failures.mu, &r.failures.sent) {
		var m struct {
			RequestContext requestContext
			Batch          struct{ StartSequenceNumber, EndSequenceNumber string } `json:"DDBStreamBatchInfo"`
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %s-%s %d", m.RequestContext.Condition, m.Batch.StartSequenceNumber, m.Batch.EndSequenceNumber,
			m.RequestContext.InvokeCount))
	}
	return all
}

// savedPosition returns the saved position.
func (r *rig) savedPosition(t *testing.T) string {
	t.Helper()
	p, err := openProgress(r.saved, r.spec.Name, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p.sequence()
}

// memory is a store of positions. It may fail.
type memory struct {
	mu    sync.Mutex
	saved map[string][]byte
	err   error
}

func newMemory() *memory { return &memory{saved: map[string][]byte{}} }

// Load implements Positions.
func (m *memory) Load(mapping string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.saved[mapping], nil
}

// Save implements Positions.
func (m *memory) Save(mapping string, position []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.saved[mapping] = position
	}
	return m.err
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// snapshot copies the positions as they would be after a crash.
func (r *rig) snapshot() *memory {
	r.saved.mu.Lock()
	defer r.saved.mu.Unlock()
	return &memory{saved: maps.Clone(r.saved.saved)}
}
