package delivery

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
)

// pending returns the numbers of the deliveries of a webhook that are pending in the fast lane and in the slow lane.
func (f *fixture) pending(w Webhook) (fast, slow int) {
	f.t.Helper()
	for _, d := range f.allDeliveries() {
		switch {
		case d.WebhookID != w.ID || d.Status != Pending:
		case d.waitsInSlowLane():
			slow++
		default:
			fast++
		}
	}
	return fast, slow
}

// The fan-out creates the deliveries of a quiet workspace. For a noisy workspace, it sends one message that asks for
// the creation of the deliveries to all webhooks. A webhook whose endpoint has left the fast lane in the meantime gets
// them in the slow lane.
func TestManyDeliveriesAreCreatedLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	noisy, quiet := f.newWorkspace(), f.newWorkspace()
	stays := f.subscribe(noisy, f.receiver.URL("/ok/stays"))
	leaves := f.subscribe(noisy, f.receiver.URL("/ok/leaves"))
	slow := f.subscribe(noisy, f.receiver.URL("/ok/slow"), inSlowLane)
	lone := f.subscribe(quiet, f.receiver.URL("/ok/quiet"))
	const events = maxDirect/2 + 1
	f.publish(append(f.newEvents(noisy, events), f.newEvent(quiet))...)
	if all := f.allDeliveries(); len(all) != 1 || all[0].WebhookID != lone.ID {
		t.Fatalf("the fan-out created %+v, want the delivery of the quiet workspace", all)
	}
	leaves.Prompt = false
	f.putWebhook(leaves)
	messages := f.receiveFrom(f.creations)
	if len(messages) != 1 {
		t.Fatalf("got %d messages for creations, want one", len(messages))
	}
	for range 2 { // the second time finds the deliveries
		if errs := f.slow.Handle(t.Context(), messages); errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	f.deleteFrom(f.creations, messages[0])
	for _, tc := range []struct {
		webhook    Webhook
		fast, slow int
	}{{stays, events, 0}, {leaves, 0, events}, {slow, 0, events}, {lone, 1, 0}} {
		if fast, slow := f.pending(tc.webhook); fast != tc.fast || slow != tc.slow {
			t.Errorf("%s: got %d and %d deliveries in the lanes, want %d and %d",
				tc.webhook.URL, fast, slow, tc.fast, tc.slow)
		}
	}
	f.runUntilFinished()
	f.wantRequests(3*events + 1)
	for _, d := range f.allDeliveries() {
		if d.Status != Succeeded || d.Wakes > 0 {
			t.Errorf("got delivery %+v, want a success without the retry job", d)
		}
	}
}

// If a creation is repeated after the endpoint has changed its lane, it completes the deliveries in the lane that they
// have.
func TestCreationAfterTheLaneHasChanged(t *testing.T) {
	t.Parallel()
	for name, promptFirst := range map[string]bool{"left the fast lane": true, "entered the fast lane": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			w := f.subscribe(workspaceID, f.receiver.URL("/ok"), func(w *Webhook) { w.Prompt = promptFirst })
			f.publish(f.newEvents(workspaceID, maxDirect+1)...)
			messages := f.receiveFrom(f.creations)
			f.breakCalls(refuseAll("SendMessageBatch", "UpdateItem")) // killed after the deliveries are stored
			if errs := f.slow.Handle(t.Context(), messages); errs[0] == nil {
				t.Fatal("the creation succeeded without messages")
			}
			f.breakCalls(nil)
			w.Prompt = !promptFirst
			f.putWebhook(w)
			if errs := f.slow.Handle(t.Context(), messages); errs[0] != nil {
				t.Fatal(errs[0])
			}
			f.deleteFrom(f.creations, messages[0])
			f.advance(replayDelay)
			f.handleMessages()
			for _, d := range f.allDeliveries() {
				if d.Status != Succeeded || d.Wakes > 0 {
					t.Errorf("got delivery %+v, want a success without the retry job", d)
				}
			}
			f.wantRequests(maxDirect + 1)
		})
	}
}

// A webhook receives the events before its deactivation and after its activation, no matter when they are handled. If
// it is no longer active, its deliveries are stored as failed, so that they can be recovered. That holds for the
// fan-out and for SlowWorker.
func TestEventsAroundADeactivation(t *testing.T) {
	t.Parallel()
	for lane, prompt := range map[string]bool{"fast": true, "slow": false} {
		t.Run(lane+" lane", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			start := f.now()
			webhook := func(change func(*Webhook)) Webhook {
				return f.subscribe(workspaceID, "https://example.com", func(w *Webhook) { w.Prompt = prompt }, change)
			}
			before := webhook(func(w *Webhook) {
				w.Active, w.DeactivatedAt = false, stamp(start.Add(time.Hour))
			})
			after := webhook(func(w *Webhook) {
				w.DeactivatedAt, w.ActivatedAt = stamp(start.Add(-time.Hour)), stamp(start)
			})
			webhook(func(w *Webhook) { w.Active, w.DeactivatedAt = false, stamp(start.Add(-time.Hour)) })
			webhook(func(w *Webhook) {
				w.DeactivatedAt, w.ActivatedAt = stamp(start.Add(-time.Hour)), stamp(start.Add(time.Hour))
			})
			f.publish(f.newEvent(workspaceID))
			f.createDeliveries()
			got := map[string]int{}
			for _, d := range f.allDeliveries() {
				got[d.WebhookID+" "+string(d.Status)+" "+d.Reason]++
			}
			want := map[string]int{
				before.ID + " failed the webhook is not active": 1,
				after.ID + " pending ":                          1,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the deliveries (-want +got):\n%s", diff)
			}
		})
	}
}

// If a webhook cannot be decoded when its deliveries are created, the message is returned to the queue, so that nothing
// is lost after the webhook was repaired. The deliveries of the other webhooks are created. Broken webhooks that the
// message does not name do not matter.
func TestCreationWithABrokenWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	broken := f.subscribe(workspaceID, f.receiver.URL("/ok/a"))
	works := f.subscribe(workspaceID, f.receiver.URL("/ok/b"))
	f.publish(f.newEvents(workspaceID, maxDirect)...)
	other := f.subscribe(workspaceID, f.receiver.URL("/ok/c"))
	for _, w := range []Webhook{broken, other} {
		f.putItem(db.WebhookKey(workspaceID, w.ID), db.Item{"id": &types.AttributeValueMemberBOOL{}})
	}
	messages := f.receiveFrom(f.creations)
	if errs := f.slow.Handle(t.Context(), messages); errs[0] == nil {
		t.Error("the creation succeeded without a webhook")
	}
	f.wantLog("deliveries were not created", broken.ID)
	if n := len(f.allDeliveries()); n != maxDirect {
		t.Errorf("got %d deliveries, want %d for %s", n, maxDirect, works.ID)
	}
	f.putWebhook(broken)
	if errs := f.slow.Handle(t.Context(), messages); errs[0] != nil {
		t.Error(errs[0])
	}
	if n := len(f.allDeliveries()); n != 2*maxDirect {
		t.Errorf("got %d deliveries after the repair, want %d", n, 2*maxDirect)
	}
}

// Webhooks of one workspace can belong to different accounts. Each account has its own message for the creation, with
// the webhooks that want one of the events.
func TestCreationsOfSeveralAccounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	owned := func(account string) func(*Webhook) {
		return func(w *Webhook) { w.AccountID, w.Prompt = account, false }
	}
	first, second, third := f.ids.New(id.User), f.ids.New(id.User), f.ids.New(id.User)
	for _, account := range []string{first, second, first} {
		f.subscribe(workspaceID, "https://example.com", owned(account))
	}
	f.subscribe(workspaceID, "https://example.com", owned(third), func(w *Webhook) { w.Events = []string{"member.*"} })
	f.publish(f.newEvents(workspaceID, 2)...)
	got := map[string][]int{} // numbers of webhooks and events, by account
	for _, received := range f.receiveFrom(f.creations) {
		m, err := parseMessage(received.Body, slowLane)
		if err != nil {
			t.Fatal(err)
		}
		got[received.Group] = append(got[received.Group], len(m.Webhooks), len(m.Events))
	}
	if diff := cmp.Diff(map[string][]int{first: {2, 2}, second: {1, 2}}, got); diff != "" {
		t.Errorf("the messages (-want +got):\n%s", diff)
	}
}

// Messages for the same webhooks are handled together, unless they are received again: one that cannot be handled must
// not affect the others again. A message that is received twice creates nothing twice.
func TestCreationsAreMerged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	f.subscribe(workspaceID, f.receiver.URL("/ok"))
	for range 2 {
		f.publish(f.newEvents(workspaceID, maxDirect+1)...)
	}
	messages := f.receiveFrom(f.creations)
	f.takeCalls()
	for _, err := range f.slow.Handle(t.Context(), append(messages, messages[0])) {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int{"Query": 1, "BatchGetItem": 2, "BatchWriteItem": 1, "SendMessageBatch": 3}
	if diff := cmp.Diff(want, f.takeCalls()); diff != "" {
		t.Errorf("the calls for two messages (-want +got):\n%s", diff)
	}
	for i := range messages {
		messages[i].Receives++
	}
	f.slow.Handle(t.Context(), messages)
	if got := f.takeCalls()["Query"]; got != len(messages) {
		t.Errorf("got %d queries for messages that are received again, want one for each", got)
	}
	for _, m := range messages {
		f.deleteFrom(f.creations, m)
	}
	f.handleMessages()
	f.wantRequests(2 * (maxDirect + 1))
}

// If deliveries cannot be created, the message is returned to the queue with growing waits, and is handled completely
// later. Handling it twice creates nothing twice.
func TestCreationIsRetried(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.breakCalls(refuseAll("BatchWriteItem"))
	workspaceID := f.newWorkspace()
	for i := range 3 {
		f.subscribe(workspaceID, f.receiver.URL(fmt.Sprintf("/ok/%d", i)), inSlowLane)
	}
	f.publish(f.newEvents(workspaceID, 4)...)
	if _, errs := f.handleMessages(); len(errs) != 1 || !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got the errors %v, want ErrLater", errs)
	}
	f.wantLog("deliveries were not created")
	f.breakCalls(nil)
	if n, _ := f.handleMessages(); n != 0 {
		t.Errorf("got %d messages at once, want none", n)
	}
	f.advance(createWait(1))
	messages := f.receiveFrom(f.creations)
	for range 2 {
		f.slow.Handle(t.Context(), messages)
	}
	f.deleteFrom(f.creations, messages[0])
	f.runUntilFinished()
	if n := len(f.allDeliveries()); n != 12 {
		t.Errorf("got %d deliveries, want 12", n)
	}
	f.wantRequests(12)
}

// The waits before attempts to create deliveries add up to at least seven hours. Then the queue moves the message to
// the failure queue. SQS hides a message for at most twelve hours.
func TestCreateWait(t *testing.T) {
	t.Parallel()
	var total time.Duration
	for receives := 1; receives < 10; receives++ {
		wait := createWait(receives)
		if total += wait; wait < 10*time.Second || wait > 12*time.Hour-time.Minute {
			t.Errorf("createWait(%d) = %v", receives, wait)
		}
	}
	if total < 7*time.Hour {
		t.Errorf("the waits add up to %v, want at least 7 hours", total)
	}
	if wait := createWait(10); wait != 0 {
		t.Errorf("createWait(10) = %v, want no wait before the failure queue", wait)
	}
}
