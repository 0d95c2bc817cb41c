package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/queue"
)

// purge deletes every visible message.
func (p *pipeline) purge() (n int) {
	p.t.Helper()
	for {
		messages := p.receive()
		if len(messages) == 0 {
			return n
		}
		for _, m := range messages {
			p.remove(m)
			n++
		}
	}
}

// A lost message delays a delivery by two minutes. If its messages are lost repeatedly, the job sends further ones at
// growing intervals.
func TestLostMessages(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	if n := p.purge(); n != 1 {
		t.Fatalf("%d messages", n)
	}
	var seen []time.Duration
	for p.now().Sub(midnight) < 190*time.Minute {
		p.retry()
		p.advance(time.Minute)
		if p.purge() > 0 {
			seen = append(seen, p.now().Sub(midnight).Round(time.Minute))
		}
	}
	want := []time.Duration{2, 4, 8, 16, 32, 64, 124, 184}
	if got := fmt.Sprint(seen); len(seen) != len(want) {
		t.Errorf("it came back after %s, want about %v minutes", got, want)
	} else {
		for i := range want {
			if off := (seen[i] - want[i]*time.Minute).Abs(); off > time.Minute {
				t.Errorf("it came back after %s, want about %v minutes", got, want)
			}
		}
	}
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded || d.Tries != 1 {
		t.Errorf("delivery: %+v", d)
	}
}

// A wake is one write. The index contains the number of earlier wakes.
func TestCallsOfAWake(t *testing.T) {
	t.Parallel()
	calls, countingTransport := countCalls()
	p := newPipeline(t, countingTransport)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	for wakes, pause := range []time.Duration{2 * time.Minute, 4 * time.Minute, 8 * time.Minute} {
		p.purge()
		p.advance(p.onlyDelivery().DueAt.Time().Sub(p.now()))
		calls.take()
		p.retry()
		if n := calls.take()["UpdateItem"]; n != 1 {
			t.Errorf("%d writes", n)
		}
		if d := p.onlyDelivery(); d.Wakes != wakes+1 || d.DueAt.Time().Sub(p.now()) != pause {
			t.Errorf("woken %d times, due in %v, want %v", d.Wakes, d.DueAt.Time().Sub(p.now()), pause)
		}
	}
}

// A message for a delivery that is due within a minute is delayed until it is due.
func TestRetryJobLooksAhead(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	p.purge()
	due := p.now().Add(90 * time.Second)
	p.change(func(d Delivery) Delivery { return d.deferred(due) })
	p.retry()
	if d := p.onlyDelivery(); d.Wakes != 0 {
		t.Fatal("woken 90 seconds ahead")
	}
	p.advance(45 * time.Second)
	p.retry()
	if d := p.onlyDelivery(); d.Wakes != 1 || !d.DueAt.Time().Equal(due.Add(messageTimeout)) || !strings.Contains(p.log.String(), `"OldestUndelivered":[0]`) {
		t.Fatalf("delivery: %+v", d)
	}
	p.advance(44 * time.Second)
	if n, _ := p.handleMessages(); n != 0 {
		t.Error("the message came early")
	}
	p.advance(time.Second)
	if n, _ := p.handleMessages(); n != 1 || p.onlyDelivery().Status != Succeeded || !p.onlyDelivery().Attempts[0].At.Time().Equal(due) {
		t.Errorf("%d messages, %+v", n, p.onlyDelivery())
	}
}

// Concurrent runs send one message for each delivery.
func TestConcurrentRunsSendOnce(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	const events = 60
	for range events / 10 {
		for range 10 {
			p.publish(p.newEvent(workspaceID))
		}
	}
	p.purge()
	p.advance(2 * time.Minute)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := p.job.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := p.purge(); n != events {
		t.Errorf("%d messages, want %d", n, events)
	}
	log := p.log.String()
	if !strings.Contains(log, `"OldestUndelivered":[120]`) {
		t.Errorf("the log does not tell how late they are: %s", log)
	}
}

// A wake whose response is lost still sends its message.
func TestWakeWithLostResponse(t *testing.T) {
	t.Parallel()
	var lose atomic.Bool
	p := newPipeline(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if dynamotest.Operation(r) == "UpdateItem" && lose.CompareAndSwap(true, false) {
				_ = answer.Body.Close()
				return nil, errors.New("lost")
			}
			return answer, err
		})
	})
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	p.purge()
	p.advance(messageTimeout)
	lose.Store(true)
	p.retry()
	if n := p.purge(); n != 1 || lose.Load() || p.onlyDelivery().Wakes != 1 {
		t.Errorf("%d messages, %+v", n, p.onlyDelivery())
	}
}

// An expired delivery is not sent and not reported as late, even if it is still stored.
func TestExpiredDeliveryIsNotDue(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	p.purge()
	p.advance(retention)
	p.retry()
	if log := p.log.String(); p.purge() != 0 || !strings.Contains(log, `"OldestUndelivered":[0]`) || !strings.Contains(log, `"DeliveriesDue":[0]`) {
		t.Errorf("log: %s", log)
	}
}

// A run that is out of time stops, and the next run continues.
func TestRunThatTimesOutIsContinued(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	p.purge()
	p.advance(5 * time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), runReserve-time.Second)
	defer cancel()
	if err := p.job.Run(ctx); err != nil || p.purge() != 0 || p.onlyDelivery().Wakes != 0 {
		t.Errorf("%v, %+v", err, p.onlyDelivery())
	}
	p.retry()
	if n := p.purge(); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// A delivery that cannot be decoded is logged and not sent. It does not delay other deliveries.
func TestUndecodableDelivery(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	w := p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	d := p.onlyDelivery()
	item, err := db.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	item["tries"] = &types.AttributeValueMemberS{Value: "many"}
	other := d.ID[:len(d.ID)-1] + "0"
	for key, place := range map[db.Key]string{
		db.DeliveryKey(w.ID, d.ID):  d.DueAt.String(),
		db.DeliveryKey(w.ID, other): "0 o'clock", // not a valid timestamp
	} {
		item["dueAt"] = &types.AttributeValueMemberS{Value: place}
		if _, err := p.store.Client.Do(t.Context(), p.store.Table.Put(key, item)); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs := p.handleMessages(); len(errs) != 0 {
		t.Error(errs)
	}
	if bodies := p.failedMessages(); len(bodies) != 1 || !strings.Contains(bodies[0], d.ID) {
		t.Errorf("in the failure queue: %v", bodies)
	}
	for range 6 { // the wait between wakes grows as for any other delivery
		p.advance(maxWakeWait)
		p.retry()
	}
	if n := p.purge(); n != 0 || !strings.Contains(p.log.String(), "delivery cannot be decoded") {
		t.Errorf("%d messages: %s", n, p.log)
	}
	for _, item := range dynamotest.Dump(t, p.sdk, p.table) {
		if place, ok := item["dueAt"].(*types.AttributeValueMemberS); ok && place.Value <= p.now().Add(30*time.Minute).Format(time.RFC3339) {
			t.Errorf("it is due again at %s", place.Value)
		}
	}
}

// failCalls makes the calls of an operation fail while on returns true.
func failCalls(operation string, on func() bool) aroundCalls {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			if dynamotest.Operation(r) == operation && on() {
				return nil, errors.New("cut off")
			}
			return next.RoundTrip(r)
		})
	}
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// While storage or the queue is unavailable, messages and records fail and are retried later.
func TestOutages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		operation string
		fanout    bool // fails
		worker    bool // fails
		requests  int  // before the outage is over
		job       bool // fails
	}{
		{"Query", true, false, 1, true},
		{"BatchGetItem", false, true, 0, false},
		{"PutItem", true, false, 1, false},
		{"SendMessageBatch", true, false, 1, true},
		{"ChangeMessageVisibility", false, false, 1, false},
		{"UpdateItem", false, true, 0, true},
	} {
		t.Run(tc.operation, func(t *testing.T) {
			t.Parallel()
			away := false
			p := newPipeline(t, failCalls(tc.operation, func() bool { return away }))
			workspaceID := newWorkspace(p)
			p.subscribe(workspaceID, p.receiver.URL("/fail/a"))
			e := p.newEvent(workspaceID)
			away = true
			err := errors.Join(p.fanout.Handle(t.Context(), stream(t, e))...)
			if (err != nil) != tc.fanout || err != nil && !errors.Is(err, db.ErrUnavailable) && !errors.Is(err, queue.ErrUnavailable) {
				t.Errorf("fan-out: %v", err)
			}
			away = false
			p.publish(e)
			away = true
			failed := false
			for _, err := range p.worker.Handle(t.Context(), p.receive()[:1]) {
				failed = failed || errors.Is(err, db.ErrUnavailable)
			}
			if failed != tc.worker {
				t.Errorf("worker: %v", failed)
			}
			if n := p.receiver.Total(); n != tc.requests {
				t.Errorf("%d requests", n)
			}
			p.advance(4 * time.Minute)
			if err := p.job.Run(t.Context()); (err != nil) != tc.job {
				t.Errorf("retry job: %v", err)
			}
			away = false
			p.run()
			if d := p.onlyDelivery(); d.Status != Succeeded || d.Tries > 3 {
				t.Errorf("delivery: %+v", d)
			}
		})
	}
}

// While the keys are unavailable, no attempt is made or counted.
func TestUnavailableKeys(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	secrets := p.worker.secrets
	p.worker.secrets = func(context.Context, Webhook, time.Time) ([]string, error) { return nil, errors.New("no keys") }
	if errs := p.worker.Handle(t.Context(), p.receive()); errs[0] == nil || p.onlyDelivery().Tries != 0 {
		t.Errorf("%v, %+v", errs, p.onlyDelivery())
	}
	p.worker.secrets = secrets
	p.run()
	if d := p.onlyDelivery(); d.Status != Succeeded || d.Tries != 1 {
		t.Errorf("delivery: %+v", d)
	}
}

// The result of an attempt is stored even if responses are lost repeatedly, so that the request is not sent twice.
func TestRecordIsRetried(t *testing.T) {
	t.Parallel()
	updates := 0
	p := newPipeline(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if dynamotest.Operation(r) == "UpdateItem" {
				if updates++; updates > 1 && updates <= 1+2*dynamotest.Attempts { // the claim, and then twice as often as the SDK tries
					_ = answer.Body.Close()
					return nil, errors.New("lost")
				}
			}
			return answer, err
		})
	})
	workspaceID := newWorkspace(p)
	p.subscribe(workspaceID, p.receiver.URL("/ok/a"))
	p.publish(p.newEvent(workspaceID))
	if _, errs := p.handleMessages(); len(errs) != 0 {
		t.Error(errs)
	}
	if d := p.onlyDelivery(); d.Status != Succeeded || d.Tries != 1 || p.receiver.Total() != 1 {
		t.Errorf("delivery: %+v", d)
	}
}
