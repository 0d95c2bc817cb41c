package delivery

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
)

// concurrentCalls is the number of calls that concurrently makes.
const concurrentCalls = 16

// concurrently calls do several times at the same time, and returns how many calls reported success.
func concurrently(do func() bool) (successes int32) {
	var n atomic.Int32
	var group sync.WaitGroup
	for range concurrentCalls {
		group.Go(func() {
			if do() {
				n.Add(1)
			}
		})
	}
	group.Wait()
	return n.Load()
}

// Adding deliveries makes the webhook due. The endpoint leaves the fast lane only if leaveFastLane is set.
func TestMakeDue(t *testing.T) {
	t.Parallel()
	f, now := newFixture(t), midnight
	for _, tc := range []struct {
		name          string
		before        Turns
		leaveFastLane bool
		wantSend      bool
		want          Turns // without Due
	}{
		{
			"no delivery waits", Turns{}, false, true,
			Turns{DueAt: stamp(now.Add(messageTimeout)), AddedAt: stamp(now)},
		},
		{
			"leaves the fast lane", Turns{}, true, true,
			Turns{DueAt: stamp(now.Add(messageTimeout)), AddedAt: stamp(now)},
		},
		{
			"the latest turn found no delivery",
			Turns{DrainedAt: stamp(now), DueAt: stamp(now.Add(time.Minute)), Wakes: 1},
			false, true, Turns{DueAt: stamp(now.Add(time.Minute)), Wakes: 1, AddedAt: stamp(now)},
		},
		{
			"message is on its way",
			Turns{DueAt: stamp(now.Add(time.Minute)), AddedAt: stamp(now.Add(-time.Second))}, true, false,
			Turns{DueAt: stamp(now.Add(time.Minute)), AddedAt: stamp(now.Add(-time.Second))},
		},
		{
			"message was lost", Turns{AddedAt: stamp(now.Add(-messageTimeout))}, true, true,
			Turns{DueAt: stamp(now.Add(messageTimeout)), AddedAt: stamp(now)},
		},
		{
			"resting", Turns{NotBefore: stamp(now.Add(time.Hour))}, false, false,
			Turns{
				NotBefore: stamp(now.Add(time.Hour)), DueAt: stamp(now.Add(time.Hour)), AddedAt: stamp(now),
			},
		},
		{
			"turn in progress", Turns{TurnUntil: stamp(now.Add(leaseTime))}, false, false,
			Turns{
				TurnUntil: stamp(now.Add(leaseTime)), DueAt: stamp(now.Add(messageTimeout)),
				AddedAt: stamp(now),
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) { w.Turns = tc.before })
			send, err := f.store.makeDue(t.Context(), w, tc.leaveFastLane, now)
			if err != nil || send != tc.wantSend {
				t.Errorf("got message %t, %v, want %t", send, err, tc.wantSend)
			}
			want := w
			want.Turns, want.Due, want.Prompt = tc.want, duePartition(w.ID), !tc.leaveFastLane
			if diff := cmp.Diff(want, f.storedWebhook(w)); diff != "" {
				t.Errorf("the webhook (-want +got):\n%s", diff)
			}
		})
	}
}

// If the webhook has a new endpoint, deliveries are added, but the endpoint does not leave the fast lane.
func TestMakeDueWithNewEndpoint(t *testing.T) {
	t.Parallel()
	f, now := newFixture(t), midnight
	stored := f.subscribe(f.newWorkspace(), "https://example.com")
	read := stored
	read.Generation--
	read.NotBefore, read.DueAt = stamp(now.Add(time.Hour)), stamp(now.Add(time.Hour))
	if send, err := f.store.makeDue(t.Context(), read, true, now); err != nil || !send {
		t.Errorf("got message %t, %v, want true", send, err)
	}
	if w := f.storedWebhook(stored); !w.Prompt || w.Due == "" {
		t.Errorf("got webhook %+v, want it due and in the fast lane", w)
	}
}

// If a turn ended after the webhook was read, a message is sent: that turn has not seen the deliveries that were added.
func TestMakeDueAfterATurnEnded(t *testing.T) {
	t.Parallel()
	f, now := newFixture(t), midnight
	stored := f.subscribe(f.newWorkspace(), "https://example.com")
	for name, turns := range map[string]Turns{
		"message was on its way": {AddedAt: stamp(now.Add(-time.Second))},
		"turn was in progress":   {TurnUntil: stamp(now.Add(leaseTime))},
	} {
		read := stored
		read.Turns = turns
		f.putWebhook(stored)
		if send, err := f.store.makeDue(t.Context(), read, false, now); err != nil || !send {
			t.Errorf("%s: got message %t, %v, want true", name, send, err)
		}
	}
}

// A deleted webhook is not created again, and no message is sent for it.
func TestTurnsOfADeletedWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.subscribe(f.newWorkspace(), "https://example.com")
	taken, ok, err := f.store.takeTurn(t.Context(), w, midnight, midnight.Add(leaseTime))
	if !ok || err != nil {
		t.Fatalf("takeTurn: got %t, %v, want the lease", ok, err)
	}
	f.deleteWebhook(w)
	if send, err := f.store.makeDue(t.Context(), w, true, midnight); send || err != nil {
		t.Errorf("makeDue: got message %t, %v, want none", send, err)
	}
	if _, err := f.store.endTurn(t.Context(), taken, Turns{DueAt: stamp(midnight)}, ifSameEndpoint); err != nil {
		t.Errorf("endTurn: got %v, want no error", err)
	}
	if _, ok, err := f.store.takeTurn(t.Context(), w, midnight, midnight.Add(leaseTime)); ok || err != nil {
		t.Errorf("takeTurn: got %t, %v, want false", ok, err)
	}
	if n := len(f.allWebhooks()); n != 0 {
		t.Errorf("got %d webhooks, want none", n)
	}
}

// Exactly one of several concurrent requests takes the lease of a turn, even if its response is lost. The lease can be
// taken again when it has expired. The result is the webhook as it is then.
func TestTakeTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	read := f.subscribe(f.newWorkspace(), "https://example.com")
	if _, err := f.store.makeDue(t.Context(), read, false, midnight); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		at   time.Time
		lost int32
		want int32
	}{
		{midnight, 0, 1},
		{midnight.Add(leaseTime - time.Millisecond), 0, 0}, // the lease has not expired
		{midnight.Add(leaseTime), 1, 1},
		{midnight.Add(3 * leaseTime), 2, 1},
	} {
		f.loseResponses(tc.lost)
		got := concurrently(func() bool {
			w, ok, err := f.fast.Store.takeTurn(t.Context(), read, tc.at, tc.at.Add(leaseTime))
			if err != nil {
				t.Error(err)
			}
			if ok {
				want := read
				want.Turns = f.storedWebhook(read).Turns
				if diff := cmp.Diff(want, w); diff != "" || !w.TurnUntil.Time().Equal(tc.at.Add(leaseTime)) {
					t.Errorf("got turns %+v, want the stored ones, with the lease (-want +got):\n%s", w.Turns, diff)
				}
			}
			return ok
		})
		if got != tc.want {
			t.Errorf("at %v: %d requests took the lease, want %d", tc.at, got, tc.want)
		}
	}
}

// At the end of a turn, the webhook is due for the next one, or leaves the index. Nothing else is changed.
func TestEndTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	next := midnight.Add(time.Hour)
	for _, tc := range []struct {
		name         string
		next         Turns
		added        bool // deliveries are added during the turn
		newEndpoint  bool // the webhook gets a new endpoint during the turn
		condition    turnCondition
		lost         int32
		wantNotEnded bool
		want         Turns // without Due
	}{
		{
			name: "another turn", next: Turns{DueAt: stamp(next)}, condition: ifSameEndpoint,
			want: Turns{DueAt: stamp(next)},
		},
		{
			name: "rest", next: Turns{DueAt: stamp(next), NotBefore: stamp(next)},
			want: Turns{DueAt: stamp(next), NotBefore: stamp(next)},
		},
		{
			name: "no delivery waits", next: Turns{DueAt: stamp(next), DrainedAt: stamp(next)},
			want: Turns{DueAt: stamp(next), DrainedAt: stamp(next)},
		},
		{name: "still no delivery waits"},
		{name: "deliveries added", added: true, wantNotEnded: true},
		{
			name: "deliveries added, but another turn follows", next: Turns{DueAt: stamp(next)}, added: true,
			condition: ifSameEndpoint, want: Turns{DueAt: stamp(next)},
		},
		{name: "new endpoint", newEndpoint: true, wantNotEnded: true},
		{
			name: "new endpoint, and another turn follows", next: Turns{DueAt: stamp(next)}, newEndpoint: true,
			condition: ifSameEndpoint, wantNotEnded: true,
		},
		{
			name: "new endpoint, unconditional", next: Turns{DueAt: stamp(next)}, newEndpoint: true,
			condition: unconditional, want: Turns{DueAt: stamp(next)},
		},
		{
			name: "lost response", next: Turns{DueAt: stamp(next)}, lost: 1, condition: ifSameEndpoint,
			want: Turns{DueAt: stamp(next)},
		},
		{name: "lost response, leaves the index", lost: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) {
				w.Turns = Turns{Due: duePartition(w.ID), DueAt: stamp(midnight), Wakes: 2}
				w.NotBefore, w.AddedAt, w.DrainedAt = stamp(midnight), stamp(midnight), stamp(midnight)
			})
			taken, _, err := f.store.takeTurn(t.Context(), w, midnight, midnight.Add(leaseTime))
			if err != nil {
				t.Fatal(err)
			}
			if tc.added {
				if _, err := f.store.makeDue(t.Context(), w, false, midnight.Add(time.Second)); err != nil {
					t.Fatal(err)
				}
			}
			if tc.newEndpoint {
				f.changeEndpoint(w, w.URL)
			}
			before := f.storedWebhook(w)
			f.loseResponses(tc.lost)
			if tc.next.DueAt != nil {
				tc.next.Due = before.Due
			}
			ended, err := f.fast.Store.endTurn(t.Context(), taken, tc.next, tc.condition)
			if err != nil || ended == tc.wantNotEnded {
				t.Errorf("got %t, %v, want %t", ended, err, !tc.wantNotEnded)
			}
			want := before
			if !tc.wantNotEnded {
				want.Turns = tc.want
			}
			if want.DueAt != nil {
				want.Due = before.Due
			}
			if diff := cmp.Diff(want, f.storedWebhook(w)); diff != "" {
				t.Errorf("the webhook (-want +got):\n%s", diff)
			}
		})
	}
}

// changeEndpoint stores a new endpoint of a webhook, as a user does.
func (f *fixture) changeEndpoint(w Webhook, url string) {
	f.t.Helper()
	update := expression.Set(expression.Name("url"), expression.Value(url)).
		Add(expression.Name(attrGeneration), expression.Value(1)).Remove(expression.Name(attrNotBefore))
	write := f.store.Table.Update(db.WebhookKey(w.WorkspaceID, w.ID), update)
	if _, err := f.store.Client.Do(f.t.Context(), write); err != nil {
		f.t.Fatal(err)
	}
}

// A turn whose lease has expired does not end the turn of another worker, and does not change the plan of that turn.
func TestEndOfAStaleTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.subscribe(f.newWorkspace(), "https://example.com")
	stale, _, err := f.store.takeTurn(t.Context(), w, midnight, midnight.Add(leaseTime))
	if err != nil {
		t.Fatal(err)
	}
	now := midnight.Add(leaseTime)
	if _, taken, err := f.store.takeTurn(t.Context(), w, now, now.Add(leaseTime)); !taken || err != nil {
		t.Fatalf("got %t, %v, want the lease", taken, err)
	}
	before := f.storedWebhook(w)
	ended, err := f.store.endTurn(t.Context(), stale, Turns{DueAt: stamp(midnight)}, ifSameEndpoint)
	if err != nil || ended {
		t.Errorf("got %t, %v, want no end of the current turn", ended, err)
	}
	if diff := cmp.Diff(before, f.storedWebhook(w)); diff != "" {
		t.Errorf("the stale turn changed the webhook:\n%s", diff)
	}
}
