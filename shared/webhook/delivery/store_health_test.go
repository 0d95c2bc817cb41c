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

// Concurrent attempts have read the same health: their counts are added up, and the time of the first failure is kept.
func TestHealthOfConcurrentAttempts(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	w := p.subscribe(newWorkspace(p), "https://example.com")
	for i := range 3 {
		at := midnight.Add(time.Duration(i) * time.Second)
		if err := p.store.saveHealth(t.Context(), w, w.after(tooSlow, at)); err != nil {
			t.Fatal(err)
		}
	}
	want := Health{
		Timeouts: 3, Failures: 3, FailingSince: stampPtr(midnight), LastAt: stampPtr(midnight.Add(2 * time.Second)), LastStatus: Failed,
	}
	if diff := cmp.Diff(want, p.storedWebhook(w).Health); diff != "" {
		t.Error(diff)
	}
	if err := p.store.saveHealth(t.Context(), w, w.after(sender.Result{}, midnight)); err != nil { // it has read nothing of the three
		t.Fatal(err)
	}
	if diff := cmp.Diff(Health{LastAt: stampPtr(midnight), LastStatus: Succeeded}, p.storedWebhook(w).Health); diff != "" {
		t.Error(diff)
	}
}

// Concurrent attempts can increase the counters beyond their limits. Later attempts do not decrease them, and cause no
// writes.
func TestHealthCountersBeyondTheirLimits(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	w := p.subscribe(newWorkspace(p), "https://example.com", func(w *Webhook) {
		w.Timeouts, w.Failures, w.FailingSince = maxTimeouts-1, disableFailures-1, stampPtr(midnight)
	})
	note := func(read Webhook, result sender.Result) {
		t.Helper()
		if err := p.store.saveHealth(t.Context(), read, read.after(result, midnight.Add(time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		note(w, tooSlow)
	}
	counted := p.storedWebhook(w)
	if counted.Failures != disableFailures+9 || counted.Timeouts != maxTimeouts+9 {
		t.Fatalf("webhook: %+v", counted)
	}
	for range 3 {
		note(counted, tooSlow)
		note(counted, sender.Result{StatusCode: 500, Error: "status 500"})
	}
	if diff := cmp.Diff(counted.Health, p.storedWebhook(w).Health); diff != "" {
		t.Error(diff)
	}
	if after := counted.after(tooSlow, midnight.Add(2*time.Second)); after.changedSince(counted.Health) {
		t.Errorf("another write for %+v", after)
	}
	if after := p.storedWebhook(w).after(tooSlow, midnight.Add(disableAfter)); !after.shouldDisable(midnight.Add(disableAfter)) || !after.unhealthy() {
		t.Errorf("after five days: %+v", after)
	}
}

// The result of an attempt does not change the health of a replaced endpoint, and does not create a deleted webhook
// again.
func TestHealthOfAnOldGenerationIsIgnored(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	old := p.subscribe(newWorkspace(p), "https://example.com")
	now := old
	now.Generation++
	p.put(now)
	gone := p.subscribe(old.WorkspaceID, "https://example.com")
	if _, err := p.store.Client.Do(t.Context(), p.store.Table.Delete(db.WebhookKey(gone.WorkspaceID, gone.ID))); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Webhook{old, gone} {
		if err := p.store.saveHealth(t.Context(), w, w.after(tooSlow, midnight)); err != nil {
			t.Error(err)
		}
		if done, err := p.store.disable(t.Context(), w, w.after(tooSlow, midnight), decision{reason: "x"}, midnight); done || err != nil {
			t.Errorf("disabled: %v, %v", done, err)
		}
		if taken, err := p.store.takeProbe(t.Context(), w, midnight, midnight.Add(leaseTime)); taken || err != nil {
			t.Errorf("probe: %v, %v", taken, err)
		}
	}
	if diff := cmp.Diff(now, p.storedWebhook(old), cmp.AllowUnexported(Webhook{})); diff != "" {
		t.Error(diff)
	}
	if _, err := p.store.Webhook(t.Context(), gone.WorkspaceID, gone.ID); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the deleted one: %v", err)
	}
}

// A webhook is disabled once, even if it is requested repeatedly.
func TestWebhookIsDisabledOnce(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	w := p.subscribe(newWorkspace(p), "https://example.com")
	for i := range 2 {
		done, err := p.store.disable(t.Context(), w, w.after(tooSlow, midnight), decision{reason: "for a reason"}, midnight.Add(time.Hour))
		if err != nil || done != (i == 0) {
			t.Errorf("%d: %v, %v", i, done, err)
		}
	}
	got := p.storedWebhook(w)
	if got.Active || got.DisabledReason != "for a reason" || got.Revision != w.Revision+1 || !got.UpdatedAt.Time().Equal(midnight.Add(time.Hour)) || got.Failures != 1 {
		t.Errorf("webhook: %+v", got)
	}
}

// Exactly one of several concurrent requests takes the probe lease, even if its response is lost. The lease can be
// taken again when it has expired.
func TestProbeLease(t *testing.T) {
	t.Parallel()
	var losses atomic.Int32
	losses.Store(1)
	p := newPipeline(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if dynamotest.Operation(r) == "UpdateItem" && losses.Add(-1) >= 0 {
				_ = answer.Body.Close()
				return nil, errors.New("lost")
			}
			return answer, err
		})
	})
	w := p.subscribe(newWorkspace(p), "https://example.com")
	ask := func(at time.Time) (winners int32) {
		var taken atomic.Int32
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				ok, err := p.worker.store.takeProbe(t.Context(), w, at, at.Add(leaseTime))
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
	}{{midnight, 1}, {midnight.Add(leaseTime - time.Millisecond), 0}, {midnight.Add(leaseTime), 1}} {
		if got := ask(tc.at); got != tc.want {
			t.Errorf("at %v: %d have it, want %d", tc.at, got, tc.want)
		}
	}
}
