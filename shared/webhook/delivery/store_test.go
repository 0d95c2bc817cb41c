package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/webhook/sender"
)

// After every transition, the stored delivery is the one that save returns, even if the oldest attempts are dropped.
func TestSaveStoresEveryTransition(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "https://example.com")
	now, d := f.now(), f.onlyDelivery()
	save := func(next Delivery) {
		t.Helper()
		stored, err := f.store.save(t.Context(), d, next)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored, f.onlyDelivery()); diff != "" {
			t.Fatalf("the stored delivery (-want +got):\n%s", diff)
		}
		d = stored
	}
	for i := range maxAttemptsKept + 5 {
		now = now.Add(time.Second)
		save(d.afterRestart(now, i%2 == 0))
		leased, at := d.withLease(w, now, 0)
		save(leased)
		result := sender.Result{StatusCode: 500, Error: "status 500", Response: "busy"}
		next, _ := d.withResult(newAttempt(at, result), true, i%2 == 0, decide(d, w, result, now, 0), now)
		save(next)
		save(d.withFastAttempt(now.Add(time.Hour), now.Add(time.Hour)))
		save(d.withFinalStatus(Failed, "the webhook is not active"))
	}
	if len(d.Attempts) != maxAttemptsKept {
		t.Errorf("got %d attempts, want %d", len(d.Attempts), maxAttemptsKept)
	}
}

// A lease sets the time at which the delivery is due, even if the retry job changed it after the delivery was read.
func TestSaveAfterAWake(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "https://example.com")
	read := f.onlyDelivery()
	f.advance(90 * time.Second)
	f.runRetryJob()
	if woken := f.onlyDelivery(); woken.Wakes != 1 || woken.DueAt.Equal(*read.DueAt) || woken.Version != read.Version {
		t.Fatalf("got delivery %+v, want one wake that changes only the time in the index", woken)
	}
	leased, _ := read.withLease(w, midnight, 0)
	if !leased.DueAt.Equal(*read.DueAt) {
		t.Fatalf("the leased delivery is due at %v, want the time %v that was read", leased.DueAt, read.DueAt)
	}
	if _, err := f.store.save(t.Context(), read, leased); err != nil {
		t.Fatal(err)
	}
	if d := f.onlyDelivery(); d.Wakes != 0 || !d.DueAt.Equal(*read.DueAt) {
		t.Errorf("got %d wakes, due at %v, want none and %v", d.Wakes, d.DueAt, read.DueAt)
	}
}
