package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
)

// chaos is a transport between the pipeline and AWS that injects random faults: lost calls, lost responses, partially
// rejected batches of messages, and functions that die between any two steps.
type chaos struct {
	next http.RoundTripper
	mu   sync.Mutex
	dice *rand.Rand
	off  bool
	hits map[string]int
}

// chance returns true with a probability, and counts how often it did so for each kind of fault.
func (c *chaos) chance(what string, probability float64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	hit := !c.off && c.dice.Float64() < probability
	if hit {
		c.hits[what]++
	}
	return hit
}

func (c *chaos) number(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// function is an invocation that may die. Calls that it makes after its death fail.
type function struct {
	mu    sync.Mutex
	left  int // calls until it dies
	die   context.CancelFunc
	alive bool
}

type functionKey struct{}

var errDead = errors.New("the function is dead")

// step counts a step of the function, before and after each call that it makes. It returns errDead after its death.
func (f *function) step() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left == 0 {
		f.alive = false
		f.die()
	}
	if !f.alive {
		return errDead
	}
	return nil
}

// invoke runs a function that may die after some steps. It reports whether the function returned before its death.
func (c *chaos) invoke(ctx context.Context, probability float64, do func(context.Context)) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &function{die: cancel, alive: true}
	if c.chance("a function dies", probability) {
		f.left = 1 + c.number(60)
	}
	do(context.WithValue(ctx, functionKey{}, f))
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive
}

func (c *chaos) RoundTrip(r *http.Request) (*http.Response, error) {
	f, _ := r.Context().Value(functionKey{}).(*function)
	if f != nil {
		if err := f.step(); err != nil {
			return nil, err
		}
	}
	if c.chance("a call is lost", 0.02) {
		return nil, errors.New("the call was lost")
	}
	response, err := c.pass(r)
	if err != nil {
		return nil, err
	}
	lost := c.chance("a response is lost", 0.02)
	if f != nil && f.step() != nil {
		lost = true
	}
	if lost {
		_ = response.Body.Close()
		return nil, errors.New("the response was lost")
	}
	return response, nil
}

// pass makes the call. It may reject some messages of a batch.
func (c *chaos) pass(r *http.Request) (*http.Response, error) {
	if dynamotest.Operation(r) != "SendMessageBatch" || !c.chance("a batch is rejected in part", 0.2) {
		return c.next.RoundTrip(r)
	}
	var batch struct {
		QueueURL string            `json:"QueueUrl"`
		Entries  []json.RawMessage `json:"Entries"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &batch) != nil || len(batch.Entries) < 2 {
		r.Body = io.NopCloser(bytes.NewReader(body))
		return c.next.RoundTrip(r)
	}
	taken := 1 + c.number(len(batch.Entries)-1)
	refused := batch.Entries[taken:]
	batch.Entries = batch.Entries[:taken]
	body, _ = json.Marshal(batch)
	part := r.Clone(r.Context())
	part.Body, part.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := c.next.RoundTrip(part)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	var out map[string]any
	err = json.NewDecoder(response.Body).Decode(&out)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	var failed []any
	for _, entry := range refused {
		var named struct{ Id string } //nolint:revive // as SQS spells it
		_ = json.Unmarshal(entry, &named)
		failed = append(failed, map[string]any{"Id": named.Id, "Code": "InternalError", "SenderFault": false})
	}
	out["Failed"] = failed
	body, _ = json.Marshal(out)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, nil
}

// endpoints counts the requests for each URL and event, and those with a 200 response.
type endpoints struct {
	mu       sync.Mutex
	sent, ok map[string]int
}

func (e *endpoints) count(url, body string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent[url+" "+body]++
	if ok {
		e.ok[url+" "+body]++
	}
}

// chaosRun is a pipeline with fault injection, workspaces with webhooks, and events.
type chaosRun struct {
	*pipeline
	*chaos
	far    *endpoints
	wanted map[string]bool // endpoint and payload
	events []event.Record
}

func newChaosRun(t *testing.T, seed uint64, events int) *chaosRun {
	t.Helper()
	c := &chaos{dice: rand.New(rand.NewPCG(seed, seed)), off: true, hits: map[string]int{}}
	o := &chaosRun{chaos: c, far: &endpoints{sent: map[string]int{}, ok: map[string]int{}}, wanted: map[string]bool{}}
	o.pipeline = newPipeline(t, func(next http.RoundTripper) http.RoundTripper {
		c.next = next
		return c
	})
	o.worker.send = o.send
	kinds := []event.Type{event.FileCreated, event.FileUpdated, event.CommentCreated, event.MemberAdded}
	var workspaces [][]Webhook
	for i := range 5 {
		workspaceID := newWorkspace(o.pipeline)
		var webhooks []Webhook
		for j, patterns := range [][]string{{"file.*"}, {"comment.created", "member.added"}, {"*"}}[:2+(i+1)/5] { // one has three
			webhooks = append(webhooks, o.subscribe(workspaceID, fmt.Sprintf("https://e%d-%d.example.com", i, j), func(w *Webhook) { w.Events = patterns }))
		}
		workspaces = append(workspaces, webhooks)
	}
	for i := range events {
		webhooks := workspaces[i%len(workspaces)]
		e := o.newEvent(webhooks[0].WorkspaceID, func(e *event.Record) { e.Type = kinds[o.number(len(kinds))] })
		o.events = append(o.events, e)
		for _, w := range webhooks {
			if w.wants(e, o.now()) {
				o.wanted[w.URL+" "+string(e.Payload)] = true
			}
		}
	}
	return o
}

// send plays an endpoint that may fail. The function may die immediately before and after the request.
func (o *chaosRun) send(ctx context.Context, r sender.Request) sender.Result {
	f, _ := ctx.Value(functionKey{}).(*function)
	if f != nil && f.step() != nil {
		return sender.Result{Error: "dead", Aborted: true}
	}
	fails := o.chance("an endpoint fails", 0.1)
	o.far.count(r.URL, string(r.Body), !fails)
	if f != nil && f.step() != nil {
		if o.chance("a function panics", 0.5) {
			panic("killed")
		}
		return sender.Result{Error: "dead", Aborted: true}
	}
	if fails {
		return sender.Result{StatusCode: 500, Error: "status 500"}
	}
	return sender.Result{StatusCode: 200}
}

// shard plays a shard of the stream. It sends batches in order and repeats a batch until all its records succeed.
func (o *chaosRun) shard(events []event.Record) {
	for len(events) > 0 {
		batch := stream(o.t, events[:min(len(events), 1+o.number(100))]...)
		done := 0
		alive := o.invoke(o.t.Context(), 0.3, func(ctx context.Context) {
			for _, err := range o.fanout.Handle(ctx, batch) {
				if err != nil {
					return
				}
				done++
			}
		})
		if !alive || o.chance("a batch is replayed", 0.1) {
			continue // the whole batch is repeated
		}
		events = events[done:]
	}
}

// round handles all visible messages. Some messages are lost, and some are delivered twice.
func (o *chaosRun) round() {
	for {
		var batches [][]lambdafn.QueueMessage
		for len(batches) < 4 {
			messages := o.receive()
			if len(messages) == 0 {
				break
			}
			if o.chance("messages are repeated", 0.1) {
				batches = append(batches, messages)
			}
			batches = append(batches, messages)
		}
		if len(batches) == 0 {
			return
		}
		var group sync.WaitGroup
		for _, messages := range batches {
			group.Go(func() { o.batch(messages) })
		}
		group.Wait()
	}
}

func (o *chaosRun) batch(messages []lambdafn.QueueMessage) {
	if o.chance("messages are lost", 0.05) {
		for _, m := range messages {
			o.remove(m)
		}
		return
	}
	var errs []error
	alive := o.invoke(o.t.Context(), 0.2, func(ctx context.Context) { errs = o.worker.Handle(ctx, messages) })
	if !alive {
		return // the messages become visible again when their visibility timeout ends
	}
	for i, err := range errs {
		if err == nil {
			o.remove(messages[i])
		}
	}
}

func (o *chaosRun) pending() (n int, soonest time.Time) {
	for _, d := range o.allDeliveries() {
		if d.Status != Pending {
			continue
		}
		if n++; soonest.IsZero() || d.DueAt.Time().Before(soonest) {
			soonest = d.DueAt.Time()
		}
	}
	return n, soonest
}

// play advances the clock, runs the retry job every minute, and handles messages until no delivery is pending.
func (o *chaosRun) play() {
	o.t.Helper()
	for minutes := range 2000 {
		o.round()
		n, soonest := o.pending()
		if n == 0 {
			return
		}
		if minutes == 1999 {
			o.t.Fatalf("%d deliveries are pending", n)
		}
		if idle := soonest.Add(-lookAhead).Sub(o.now()) / time.Minute; idle > 3 { // nothing happens until then
			o.advance(idle * time.Minute)
		}
		for range 4 {
			o.advance(15 * time.Second)
			o.round()
		}
		o.invoke(o.t.Context(), 0.2, func(ctx context.Context) { _ = o.job.Run(ctx) })
	}
}

// check checks the deliveries and requests of every event and every webhook that subscribes to it.
func (o *chaosRun) check(atMost int) (sent int) {
	o.t.Helper()
	if n := len(o.allDeliveries()); n != len(o.wanted) {
		o.t.Errorf("%d deliveries, want %d", n, len(o.wanted))
	}
	for _, d := range o.allDeliveries() {
		if d.Status != Succeeded {
			o.t.Errorf("delivery: %+v", d)
		}
	}
	for what := range o.wanted {
		if o.far.ok[what] < 1 {
			o.t.Errorf("never delivered: %s", what)
		}
	}
	for what, n := range o.far.sent {
		if sent += n; n > atMost || !o.wanted[what] {
			o.t.Errorf("sent %d times, subscribed %v: %s", n, o.wanted[what], what)
		}
	}
	return sent
}

// Every event reaches every webhook that subscribes to it, even if functions die, calls are lost, or messages are
// repeated.
func TestEveryEventIsDeliveredDespiteFaults(t *testing.T) {
	t.Parallel()
	const events = 2000
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	o := newChaosRun(t, seed, events)
	o.off = false
	var group sync.WaitGroup
	for part := range 4 { // the stream's shards
		group.Go(func() { o.shard(o.events[part*events/4 : (part+1)*events/4]) })
	}
	group.Wait()
	o.play()
	sent := o.check(20)
	t.Logf("%d events, %d deliveries, %d requests in %v: %v", events, len(o.wanted), sent, o.now().Sub(midnight), o.hits)
	for _, what := range strings.Split("a function dies,a call is lost,a response is lost,a batch is rejected in part,a batch is replayed,"+
		"messages are repeated,messages are lost,an endpoint fails", ",") {
		if o.hits[what] == 0 {
			t.Errorf("this fault never occurred: %s", what)
		}
	}
	if bodies := o.failedMessages(); len(bodies) > 0 {
		t.Errorf("in the failure queue: %v", bodies)
	}
}

// Without faults, every event reaches every webhook that subscribes to it exactly once.
func TestEveryEventIsSentOnceWithoutFaults(t *testing.T) {
	t.Parallel()
	const events = 250
	o := newChaosRun(t, 1, events)
	for batch := range 5 {
		o.publish(o.events[batch*events/5 : (batch+1)*events/5]...)
	}
	o.play()
	if sent := o.check(1); sent != len(o.wanted) {
		t.Errorf("%d requests for %d deliveries", sent, len(o.wanted))
	}
}
