package delivery

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
)

// A lost message delays a delivery by two minutes. If its messages are lost repeatedly, the job sends further ones at
// growing intervals.
func TestLostMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	if n := f.purgeQueue(); n != 1 {
		t.Fatalf("got %d messages, want 1", n)
	}
	for i, minutes := range []time.Duration{2, 4, 8, 16, 32, 64, 124, 184} {
		due := midnight.Add(minutes * time.Minute)
		f.advance(due.Add(-2 * time.Minute).Sub(f.now()))
		for received := 0; received == 0 && f.now().Before(due.Add(5*time.Minute)); received = f.purgeQueue() {
			f.runRetryJob()
			f.advance(time.Minute)
		}
		if difference := f.now().Sub(due).Abs(); difference > time.Minute {
			t.Fatalf("got message %d after %v, want it after about %d minutes", i, f.now().Sub(midnight), minutes)
		}
	}
	f.runUntilFinished()
	f.wantDelivery(Succeeded, 1)
}

// The job makes one write for each wake. The wait doubles after each wake.
func TestCallsOfAWake(t *testing.T) {
	t.Parallel()
	calls, countTransport := countCalls()
	f := newFixture(t, countTransport)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	for wakes, wait := range []time.Duration{2 * time.Minute, 4 * time.Minute, 8 * time.Minute} {
		f.purgeQueue()
		f.advance(f.onlyDelivery().DueAt.Time().Sub(f.now()))
		calls.take()
		f.runRetryJob()
		if n := calls.take()["UpdateItem"]; n != 1 {
			t.Errorf("got %d writes, want 1", n)
		}
		if d := f.onlyDelivery(); d.Wakes != wakes+1 || d.DueAt.Time().Sub(f.now()) != wait {
			t.Errorf("got %d wakes, due in %v, want %d and %v", d.Wakes, d.DueAt.Time().Sub(f.now()), wakes+1, wait)
		}
	}
}

// A message for a delivery that is due within a minute is delayed until it is due.
func TestRetryJobLooksAhead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	f.purgeQueue()
	due := f.now().Add(90 * time.Second)
	f.changeDelivery(func(d Delivery) Delivery { return d.withFastAttempt(due, due) })
	f.runRetryJob()
	if d := f.onlyDelivery(); d.Wakes != 0 {
		t.Fatalf("got %d wakes 90 seconds before the attempt, want none", d.Wakes)
	}
	f.advance(45 * time.Second)
	f.runRetryJob()
	if d := f.onlyDelivery(); d.Wakes != 1 || !d.DueAt.Time().Equal(due.Add(messageTimeout)) {
		t.Fatalf("got %d wakes, due at %v, want 1 and %v", d.Wakes, d.DueAt, due.Add(messageTimeout))
	}
	f.wantLog(`"OldestUndelivered":[0]`)
	f.advance(44 * time.Second)
	if n, _ := f.handleMessages(); n != 0 {
		t.Errorf("got %d messages a second before the attempt, want none", n)
	}
	f.advance(time.Second)
	if n, _ := f.handleMessages(); n != 1 {
		t.Errorf("got %d messages, want 1", n)
	}
	if at := f.wantDelivery(Succeeded, 1).Attempts[0].At; !at.Time().Equal(due) {
		t.Errorf("the attempt was at %v, want %v", at, due)
	}
}

// Concurrent runs send one message for each delivery.
func TestConcurrentRunsSendOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	const events = 20
	for range events {
		f.publish(f.newEvent(workspaceID))
	}
	f.purgeQueue()
	f.advance(2 * time.Minute)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := f.job.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := f.purgeQueue(); n != events {
		t.Errorf("got %d messages, want %d", n, events)
	}
	f.wantLog(`"OldestUndelivered":[120]`)
}

// A wake whose response is lost still sends its message.
func TestWakeWithLostResponse(t *testing.T) {
	t.Parallel()
	var lose atomic.Bool
	f := newFixture(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if dynamotest.Operation(r) == "UpdateItem" && lose.CompareAndSwap(true, false) {
				_ = response.Body.Close()
				return nil, errors.New("lost")
			}
			return response, err
		})
	})
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	f.purgeQueue()
	f.advance(messageTimeout)
	lose.Store(true)
	f.runRetryJob()
	if lose.Load() {
		t.Error("no response was lost")
	}
	if n := f.purgeQueue(); n != 1 {
		t.Errorf("got %d messages, want 1", n)
	}
	if d := f.onlyDelivery(); d.Wakes != 1 {
		t.Errorf("got %d wakes, want 1", d.Wakes)
	}
}

// An expired delivery is not sent and not reported as late, even if it is still stored.
func TestExpiredDeliveryIsNotDue(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	f.purgeQueue()
	f.advance(retention)
	f.runRetryJob()
	if n := f.purgeQueue(); n != 0 {
		t.Errorf("got %d messages, want none", n)
	}
	f.wantLog(`"OldestUndelivered":[0]`, `"DeliveriesDue":[0]`)
}

// A run that is out of time stops, and the next run continues.
func TestRunThatTimesOutIsContinued(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	f.purgeQueue()
	f.advance(5 * time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), runReserve-time.Second)
	defer cancel()
	if err := f.job.Run(ctx); err != nil {
		t.Error(err)
	}
	if n, wakes := f.purgeQueue(), f.onlyDelivery().Wakes; n != 0 || wakes != 0 {
		t.Errorf("got %d messages and %d wakes after the run without time, want none", n, wakes)
	}
	f.runRetryJob()
	if n := f.purgeQueue(); n != 1 {
		t.Errorf("got %d messages after the next run, want 1", n)
	}
}

// A delivery that cannot be decoded is logged and not sent. It does not delay other deliveries.
func TestUndecodableDelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	f.publish(f.newEvent(workspaceID))
	d := f.onlyDelivery()
	item, err := db.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	item["tries"] = &types.AttributeValueMemberS{Value: "many"}
	other := d.ID[:len(d.ID)-1] + "0"
	for key, dueAt := range map[db.Key]string{
		db.DeliveryKey(w.ID, d.ID):  d.DueAt.String(),
		db.DeliveryKey(w.ID, other): "0 o'clock", // not a valid timestamp
	} {
		item["dueAt"] = &types.AttributeValueMemberS{Value: dueAt}
		f.putItem(key, item)
	}
	if _, errs := f.handleMessages(); len(errs) != 0 {
		t.Errorf("got the errors %v, want none", errs)
	}
	if bodies := f.failedMessages(); len(bodies) != 1 || !strings.Contains(bodies[0], d.ID) {
		t.Errorf("got messages %v in the failure queue, want one with the ID %s", bodies, d.ID)
	}
	for range 6 { // the wait between wakes grows as for any other delivery
		f.advance(maxWakeWait)
		f.runRetryJob()
	}
	if n := f.purgeQueue(); n != 0 {
		t.Errorf("got %d messages, want none", n)
	}
	f.wantLog("item of the index cannot be decoded")
	earliest := f.now().Add(30 * time.Minute).Format(time.RFC3339)
	for _, item := range dynamotest.Dump(t, f.sdk, f.table) {
		if dueAt, ok := item["dueAt"].(*types.AttributeValueMemberS); ok && dueAt.Value <= earliest {
			t.Errorf("a delivery is due at %s, want a time after %s", dueAt.Value, earliest)
		}
	}
}
