package delivery

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/webhook/sender"
)

var tooSlow = sender.Result{Error: "too slow", TimedOut: true}

// The failures of concurrent attempts are added up, even though all attempts read the same health before. The time of
// the first failure is kept.
func TestHealthOfConcurrentAttempts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.subscribe(f.newWorkspace(), "https://example.com")
	for i := range 3 {
		at := midnight.Add(time.Duration(i) * time.Second)
		if err := f.store.saveHealth(t.Context(), w, w.after(tooSlow, at)); err != nil {
			t.Fatal(err)
		}
	}
	want := Health{
		Timeouts: 3, Failures: 3, FailingSince: stampPtr(midnight),
		LastAt: stampPtr(midnight.Add(2 * time.Second)), LastStatus: Failed,
	}
	if diff := cmp.Diff(want, f.storedWebhook(w).Health); diff != "" {
		t.Errorf("the health after three failures (-want +got):\n%s", diff)
	}
	// A success resets the failures even if its attempt read the health before them.
	if err := f.store.saveHealth(t.Context(), w, w.after(sender.Result{}, midnight)); err != nil {
		t.Fatal(err)
	}
	want = Health{LastAt: stampPtr(midnight), LastStatus: Succeeded}
	if diff := cmp.Diff(want, f.storedWebhook(w).Health); diff != "" {
		t.Errorf("the health after the success (-want +got):\n%s", diff)
	}
}

// Concurrent attempts can increase the counters beyond their limits. Later attempts do not decrease them, and cause no
// writes.
func TestHealthCountersBeyondTheirLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) {
		w.Timeouts, w.Failures, w.FailingSince = maxTimeouts-1, disableFailures-1, stampPtr(midnight)
	})
	saveResult := func(read Webhook, result sender.Result) {
		t.Helper()
		if err := f.store.saveHealth(t.Context(), read, read.after(result, midnight.Add(time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	const attempts = 10 // they all read counters that are 1 below their limits
	for range attempts {
		saveResult(w, tooSlow)
	}
	counted := f.storedWebhook(w)
	wantFailures, wantTimeouts := disableFailures-1+attempts, maxTimeouts-1+attempts
	if counted.Failures != wantFailures || counted.Timeouts != wantTimeouts {
		t.Fatalf("got webhook %+v, want %d failures and %d time-outs", counted, wantFailures, wantTimeouts)
	}
	for range 3 {
		saveResult(counted, tooSlow)
		saveResult(counted, sender.Result{StatusCode: 500, Error: "status 500"})
	}
	if diff := cmp.Diff(counted.Health, f.storedWebhook(w).Health); diff != "" {
		t.Errorf("later failures changed the health:\n%s", diff)
	}
	if after := counted.after(tooSlow, midnight.Add(2*time.Second)); after.changedSince(counted.Health) {
		t.Errorf("the health %+v would be stored again, want no write", after)
	}
	end := midnight.Add(disableAfter)
	if after := f.storedWebhook(w).after(tooSlow, end); !after.shouldDisable(end) || !after.unhealthy() {
		t.Errorf("got health %+v after %v of failures, want an unhealthy endpoint that should be disabled",
			after, disableAfter)
	}
}

// The result of an attempt does not change a webhook whose endpoint was replaced during the attempt. It does not create
// a deleted webhook again.
func TestResultsForReplacedAndDeletedWebhooksAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	read := f.subscribe(f.newWorkspace(), "https://example.com")
	replaced := read
	replaced.Generation++
	f.putWebhook(replaced)
	deleted := f.subscribe(read.WorkspaceID, "https://example.com")
	f.deleteWebhook(deleted)
	for _, w := range []Webhook{read, deleted} {
		after := w.after(tooSlow, midnight)
		if err := f.store.saveHealth(t.Context(), w, after); err != nil {
			t.Error(err)
		}
		disabled, err := f.store.disable(t.Context(), w, after, decision{reason: "the reason"}, midnight)
		if disabled || err != nil {
			t.Errorf("disable: got %t, %v, want false", disabled, err)
		}
		taken, err := f.store.takeProbe(t.Context(), w, midnight, midnight.Add(leaseTime))
		if taken || err != nil {
			t.Errorf("takeProbe: got %t, %v, want false", taken, err)
		}
	}
	if diff := cmp.Diff(replaced, f.storedWebhook(read), cmp.AllowUnexported(Webhook{})); diff != "" {
		t.Errorf("the webhook with the new endpoint was changed:\n%s", diff)
	}
	if _, err := f.store.Webhook(t.Context(), deleted.WorkspaceID, deleted.ID); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the deleted webhook: got %v, want ErrNotFound", err)
	}
}

// If two attempts try to disable the webhook, only the first of them does.
func TestWebhookIsDisabledOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.subscribe(f.newWorkspace(), "https://example.com")
	for i := range 2 {
		after, now := w.after(tooSlow, midnight), midnight.Add(time.Hour)
		disabled, err := f.store.disable(t.Context(), w, after, decision{reason: "the reason"}, now)
		if err != nil || disabled != (i == 0) {
			t.Errorf("call %d: got %t, %v, want %t", i, disabled, err, i == 0)
		}
	}
	got := f.storedWebhook(w)
	if got.Active || got.DisabledReason != "the reason" || got.Revision != w.Revision+1 ||
		!got.UpdatedAt.Time().Equal(midnight.Add(time.Hour)) || got.Failures != 1 {
		t.Errorf("got webhook %+v, want it disabled, updated at 01:00, with one failure and the next revision", got)
	}
}

// Exactly one of several concurrent requests takes the probe lease, even if its response is lost. The lease can be
// taken again when it has expired.
func TestProbeLease(t *testing.T) {
	t.Parallel()
	var responsesToLose atomic.Int32
	responsesToLose.Store(1)
	f := newFixture(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if dynamotest.Operation(r) == "UpdateItem" && responsesToLose.Add(-1) >= 0 {
				_ = response.Body.Close()
				return nil, errors.New("lost")
			}
			return response, err
		})
	})
	w := f.subscribe(f.newWorkspace(), "https://example.com")
	takeConcurrently := func(at time.Time) (successes int32) {
		var taken atomic.Int32
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				ok, err := f.worker.store.takeProbe(t.Context(), w, at, at.Add(leaseTime))
				if err != nil {
					t.Error(err)
				}
				if ok {
					taken.Add(1)
				}
			})
		}
		group.Wait()
		return taken.Load()
	}
	for _, tc := range []struct {
		at   time.Time
		want int32
	}{
		{midnight, 1},
		{midnight.Add(leaseTime - time.Millisecond), 0}, // the first lease has not expired
		{midnight.Add(leaseTime), 1},
	} {
		if got := takeConcurrently(tc.at); got != tc.want {
			t.Errorf("at %v: %d requests took the lease, want %d", tc.at, got, tc.want)
		}
	}
}
