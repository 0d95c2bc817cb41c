package delivery

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
)

// The job makes one write for each wake. The wait doubles after each wake, up to an hour.
func TestCallsOfAWake(t *testing.T) {
	t.Parallel()
	f, _ := publishOne(t, "/ok/a")
	for wakes, wait := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		f.purgeQueue()
		f.advance(f.onlyDelivery().DueAt.Time().Sub(f.now()))
		f.takeCalls()
		f.runRetryJob()
		if n := f.takeCalls()["UpdateItem"]; n != 1 {
			t.Errorf("got %d writes, want 1", n)
		}
		if d := f.onlyDelivery(); d.Wakes != wakes+1 || d.DueAt.Time().Sub(f.now()) != wait*time.Minute {
			t.Errorf("got %d wakes, due in %v, want %d and %d minutes", d.Wakes, d.DueAt.Time().Sub(f.now()), wakes+1, wait)
		}
	}
}

// A message for a delivery that is due within a minute is delayed until it is due.
func TestRetryJobLooksAhead(t *testing.T) {
	t.Parallel()
	f, _ := publishOne(t, "/ok/a")
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
	f.wantLog(`"OldestUndelivered":[0]`, `"DeliveriesDue":[1]`)
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
	f, _ := publishOne(t, "/ok/a")
	f.purgeQueue()
	f.advance(messageTimeout)
	f.loseResponses(1)
	f.runRetryJob()
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
	f, _ := publishOne(t, "/ok/a")
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
	f, _ := publishOne(t, "/ok/a")
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
	f, w := publishOne(t, "/ok/a")
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
