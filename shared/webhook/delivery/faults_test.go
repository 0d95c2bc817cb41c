package delivery

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/testmode"
	"devplatform/shared/event"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
)

// requestCounts counts the requests to endpoints, and those with a 200 response, by URL and payload.
type requestCounts struct {
	mu              sync.Mutex
	sent, succeeded map[string]int
}

func (c *requestCounts) add(url, body string, succeeded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[url+" "+body]++
	if succeeded {
		c.succeeded[url+" "+body]++
	}
}

// faultTest is a fixture with fault injection, webhooks in several workspaces, and events that are not published yet.
type faultTest struct {
	*fixture
	*faultInjector
	requests requestCounts
	expected map[string]bool // the URL and payload of each delivery
	events   []event.Record
}

func newFaultTest(t *testing.T, seed uint64, events int) *faultTest {
	t.Helper()
	injector := &faultInjector{random: rand.New(rand.NewPCG(seed, seed)), off: true, counts: map[string]int{}}
	ft := &faultTest{
		faultInjector: injector,
		requests:      requestCounts{sent: map[string]int{}, succeeded: map[string]int{}},
		expected:      map[string]bool{},
	}
	ft.fixture = newFixture(t, func(next http.RoundTripper) http.RoundTripper {
		injector.next = next
		return injector
	})
	ft.fast.send = func(ctx context.Context, r sender.Request) sender.Result { return ft.send(ctx, r, fastLane) }
	ft.slow.send = func(ctx context.Context, r sender.Request) sender.Result { return ft.send(ctx, r, slowLane) }
	workspaces := ft.subscribeWorkspaces()
	types := []event.Type{event.FileCreated, event.FileUpdated, event.CommentCreated, event.MemberAdded}
	for i := range events {
		webhooks := workspaces[i%len(workspaces)]
		e := ft.newEvent(webhooks[0].WorkspaceID, func(e *event.Record) { e.Type = types[ft.randomInt(len(types))] })
		ft.events = append(ft.events, e)
		for _, w := range webhooks {
			if w.wants(e, ft.now()) {
				ft.expected[w.URL+" "+string(e.Payload)] = true
			}
		}
	}
	return ft
}

// subscribeWorkspaces creates five workspaces with two webhooks each, and a third one in the last workspace. It returns
// the webhooks by workspace. The first endpoint of each workspace is in the fast lane.
func (ft *faultTest) subscribeWorkspaces() (workspaces [][]Webhook) {
	patterns := [][]string{{"file.*"}, {"comment.created", "member.added"}, {"*"}}
	for i := range 5 {
		workspaceID := ft.newWorkspace()
		n := 2
		if i == 4 {
			n = 3
		}
		var webhooks []Webhook
		for j := range n {
			url := fmt.Sprintf("https://e%d-%d.example.com", i, j)
			webhooks = append(webhooks, ft.subscribe(workspaceID, url, func(w *Webhook) {
				w.Events, w.Prompt = patterns[j], j == 0
			}))
		}
		workspaces = append(workspaces, webhooks)
	}
	return workspaces
}

// send simulates an endpoint that may fail. The function may be killed immediately before or after the request.
func (ft *faultTest) send(ctx context.Context, r sender.Request, l lane) sender.Result {
	v := killableOf(ctx)
	if err := v.step(); err != nil {
		return sender.Result{Error: err.Error(), Aborted: true}
	}
	fails, slow := ft.inject(faultEndpointFails, 0.1), ft.inject(faultEndpointSlow, 0.05)
	aborted := slow && l == fastLane
	ft.requests.add(r.URL, string(r.Body), !fails && !aborted)
	if err := v.step(); err != nil {
		if ft.inject(faultPanic, 0.5) {
			panic(err)
		}
		return sender.Result{Error: err.Error(), Aborted: true}
	}
	switch {
	case aborted:
		return sender.Result{Error: "time-out", TimedOut: true, Duration: PromptTime}
	case fails:
		return sender.Result{StatusCode: 500, Error: "status 500"}
	case slow:
		return sender.Result{StatusCode: 200, Duration: 2 * PromptTime}
	}
	return sender.Result{StatusCode: 200}
}

// publishShard simulates a shard of the stream: it sends batches in order, and repeats a batch until all of its records
// succeed.
func (ft *faultTest) publishShard(events []event.Record) {
	for len(events) > 0 {
		batch := streamRecords(ft.t, events[:min(len(events), 1+ft.randomInt(100))]...)
		succeeded := 0
		completed := ft.invoke(ft.t.Context(), 0.3, func(ctx context.Context) {
			for _, err := range ft.fanout.Handle(ctx, batch) {
				if err != nil {
					return
				}
				succeeded++
			}
		})
		if !completed || ft.inject(faultRecordsReplayed, 0.25) {
			continue // the stream repeats the whole batch
		}
		events = events[succeeded:]
	}
}

// queueBatch is a batch of messages of a queue.
type queueBatch struct {
	queue    string // its URL
	messages []lambdafn.QueueMessage
	handle   func(context.Context, []lambdafn.QueueMessage) []error
}

// handleVisible handles all visible messages of all queues, in up to four concurrent batches of each.
func (ft *faultTest) handleVisible() {
	for {
		var batches []queueBatch
		for url, handle := range ft.handlers() {
			batches = append(batches, ft.batches(url, handle)...)
		}
		if len(batches) == 0 {
			return
		}
		var group sync.WaitGroup
		for _, batch := range batches {
			group.Go(func() { ft.handleBatch(batch) })
		}
		group.Wait()
	}
}

// batches receives up to four batches of a queue. It may return a batch twice.
func (ft *faultTest) batches(
	url string, handle func(context.Context, []lambdafn.QueueMessage) []error,
) (batches []queueBatch) {
	for len(batches) < 4 {
		messages := ft.receiveFrom(url)
		if len(messages) == 0 {
			break
		}
		if ft.inject(faultMessagesRepeated, 0.1) {
			batches = append(batches, queueBatch{url, messages, handle})
		}
		batches = append(batches, queueBatch{url, messages, handle})
	}
	return batches
}

func (ft *faultTest) handleBatch(b queueBatch) {
	if ft.inject(faultMessagesLost, 0.05) {
		for _, m := range b.messages {
			// A message that asks for the creation of deliveries is the only record of them. SQS does not lose messages.
			if !strings.Contains(m.Body, `"events"`) {
				ft.deleteFrom(b.queue, m)
			}
		}
		return
	}
	var errs []error
	completed := ft.invoke(ft.t.Context(), 0.2, func(ctx context.Context) { errs = b.handle(ctx, b.messages) })
	if !completed {
		return // the messages become visible again when their visibility timeout ends
	}
	for i, err := range errs {
		if err == nil {
			ft.deleteFrom(b.queue, b.messages[i])
		}
	}
}

// pending returns the number of deliveries that are pending or that a message asks for, and the earliest time at which
// the retry job finds one of them or their webhook.
func (ft *faultTest) pending() (n int, earliest time.Time) {
	due := func(at time.Time) {
		if earliest.IsZero() || at.Before(earliest) {
			earliest = at
		}
	}
	deliveries := ft.allDeliveries()
	for _, d := range deliveries {
		if d.Status != Pending {
			continue
		}
		if n++; !d.waitsInSlowLane() {
			due(d.DueAt.Time())
		}
	}
	for _, w := range ft.allWebhooks() {
		if w.DueAt != nil {
			due(w.DueAt.Time())
		}
	}
	if missing := len(ft.expected) - len(deliveries); missing > 0 {
		n += missing
		due(ft.now())
	}
	return n, earliest
}

// deliverAll advances the clock, runs the retry job every minute, and handles messages until no delivery is pending.
func (ft *faultTest) deliverAll() {
	ft.t.Helper()
	const maxMinutes = 2000
	for range maxMinutes {
		ft.handleVisible()
		n, earliest := ft.pending()
		if n == 0 {
			return
		}
		if n > 0 && earliest.IsZero() {
			ft.t.Fatalf("%d deliveries are pending, and nothing is due", n)
		}
		if idle := earliest.Add(-lookAhead).Sub(ft.now()) / time.Minute; idle > 3 { // nothing happens until then
			ft.advance(idle * time.Minute)
		}
		for range 4 {
			ft.advance(15 * time.Second)
			ft.handleVisible()
		}
		ft.invoke(ft.t.Context(), 0.2, func(ctx context.Context) { _ = ft.job.Run(ctx) })
	}
	n, _ := ft.pending()
	ft.t.Fatalf("%d deliveries are pending after %d minutes of work", n, maxMinutes)
}

// checkRequests checks that every expected delivery succeeded, with at most maxRequests requests. It returns the number
// of all requests.
func (ft *faultTest) checkRequests(maxRequests int) (total int) {
	ft.t.Helper()
	deliveries := ft.allDeliveries()
	if len(deliveries) != len(ft.expected) {
		ft.t.Errorf("got %d deliveries, want %d", len(deliveries), len(ft.expected))
	}
	for _, d := range deliveries {
		if d.Status != Succeeded {
			ft.t.Errorf("got delivery %+v, want a success", d)
		}
	}
	for delivery := range ft.expected {
		if ft.requests.succeeded[delivery] < 1 {
			ft.t.Errorf("no request succeeded: %s", delivery)
		}
	}
	for delivery, n := range ft.requests.sent {
		if !ft.expected[delivery] {
			ft.t.Errorf("got a request that does not match any subscription: %s", delivery)
		}
		if n > maxRequests {
			ft.t.Errorf("got %d requests, want at most %d: %s", n, maxRequests, delivery)
		}
		total += n
	}
	return total
}

// Every event reaches every webhook that subscribes to it, even if functions are killed, calls are lost, or messages
// are repeated.
func TestEveryEventIsDeliveredDespiteFaults(t *testing.T) {
	t.Parallel()
	const shards = 4
	events := 240
	if testmode.IsNightly() {
		events = 2000
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ft := newFaultTest(t, seed, events)
	ft.putEvents(ft.events...)
	ft.off = false
	var group sync.WaitGroup
	for shard := range shards {
		group.Go(func() { ft.publishShard(ft.events[shard*events/shards : (shard+1)*events/shards]) })
	}
	group.Wait()
	ft.deliverAll()
	requests := ft.checkRequests(20)
	t.Logf("%d events, %d deliveries, %d requests in %v; injected faults: %v",
		events, len(ft.expected), requests, ft.now().Sub(midnight), ft.counts)
	faults := []string{faultKilled, faultCallLost, faultResponseLost, faultEndpointFails, faultEndpointSlow}
	if testmode.IsNightly() { // they are too rare to occur in each short form
		faults = append(faults, faultRecordsReplayed, faultMessagesRepeated, faultMessagesLost)
	}
	for _, fault := range faults {
		if ft.counts[fault] == 0 {
			t.Errorf("this fault was never injected: %s", fault)
		}
	}
	if bodies := ft.failedMessages(); len(bodies) > 0 {
		t.Errorf("got messages in the failure queue, want none: %v", bodies)
	}
}

// Without faults, every event reaches every webhook that subscribes to it exactly once.
func TestEveryEventIsSentOnceWithoutFaults(t *testing.T) {
	t.Parallel()
	const events, batches = 150, 5
	ft := newFaultTest(t, 1, events)
	for batch := range batches {
		ft.publish(ft.events[batch*events/batches : (batch+1)*events/batches]...)
	}
	ft.deliverAll()
	if requests := ft.checkRequests(1); requests != len(ft.expected) {
		t.Errorf("got %d requests for %d deliveries, want one for each", requests, len(ft.expected))
	}
}
