package delivery

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
	"devplatform/shared/webhook/sender"
)

// The results of attempts.
var (
	promptOK = sender.Result{StatusCode: 200}
	slowOK   = sender.Result{StatusCode: 200, Duration: 3 * time.Second}
	failure  = sender.Result{StatusCode: 500, Error: "status 500"}
	tooSlow  = sender.Result{Error: "too slow", TimedOut: true}
)

// The failures of concurrent attempts are added up, even though all attempts read the same health before. The time of
// the first failure is kept.
func TestHealthOfConcurrentAttempts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.subscribe(f.newWorkspace(), "https://example.com")
	for i := range 3 {
		at := midnight.Add(time.Duration(i) * time.Second)
		f.saveHealth(w, w.after(failure, at))
	}
	want := Health{
		Prompt: true, Failures: 3, FailingSince: stamp(midnight),
		LastAt: stamp(midnight.Add(2 * time.Second)), LastStatus: Failed,
	}
	if diff := cmp.Diff(want, f.storedWebhook(w).Health); diff != "" {
		t.Errorf("the health after three failures (-want +got):\n%s", diff)
	}
	// A success resets the failures even if its attempt read the health before them.
	f.saveHealth(w, w.after(promptOK, midnight))
	want = Health{Prompt: true, LastAt: stamp(midnight), LastStatus: Succeeded}
	if diff := cmp.Diff(want, f.storedWebhook(w).Health); diff != "" {
		t.Errorf("the health after the success (-want +got):\n%s", diff)
	}
}

// Concurrent attempts can increase the counter beyond its limit. Later attempts do not decrease it, and cause no
// writes.
func TestFailuresBeyondTheirLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) {
		w.Failures, w.FailingSince = disableFailures-1, stamp(midnight)
	})
	saveFailure := func(read Webhook) {
		t.Helper()
		f.saveHealth(read, read.after(failure, midnight.Add(time.Second)))
	}
	const attempts = 10 // they all read a counter that is 1 below its limit
	for range attempts {
		saveFailure(w)
	}
	counted := f.storedWebhook(w)
	if want := disableFailures - 1 + attempts; counted.Failures != want {
		t.Fatalf("got webhook %+v, want %d failures", counted, want)
	}
	for range 3 {
		saveFailure(counted)
	}
	if diff := cmp.Diff(counted.Health, f.storedWebhook(w).Health); diff != "" {
		t.Errorf("later failures changed the health:\n%s", diff)
	}
	if after := counted.after(failure, midnight.Add(2*time.Second)); after.changedSince(counted.Health) {
		t.Errorf("the health %+v would be stored again, want no write", after)
	}
	end := midnight.Add(disableAfter)
	if after := f.storedWebhook(w).after(failure, end); !after.shouldDisable(end) || after.lane() != slowLane {
		t.Errorf("got health %+v after %v of failures, want an endpoint in the slow lane that should be disabled",
			after, disableAfter)
	}
}

// A prompt success moves the endpoint to the fast lane. A time-out or a slow success moves it to the slow lane. A
// failure does not move it to the fast lane, even if its attempt read the webhook before a time-out.
func TestPromptIsStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, tc := range []struct {
		name         string
		read, stored bool // before the attempt, and before its result is stored
		result       sender.Result
		want         bool
	}{
		{"prompt success", true, true, promptOK, true},
		{"prompt success in the slow lane", false, false, promptOK, true},
		{"slow success", true, true, slowOK, false},
		{"slow success in the slow lane", false, false, slowOK, false},
		{"failure", true, true, failure, true},
		{"failure in the slow lane", false, false, failure, false},
		{"failure, another attempt has timed out", true, false, failure, false},
		{"time-out", true, true, tooSlow, false},
		{"time-out in the slow lane", false, false, tooSlow, false},
		{"time-out, another attempt has succeeded", false, true, tooSlow, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stored := f.subscribe(f.newWorkspace(), "https://example.com", func(w *Webhook) { w.Prompt = tc.stored })
			read := stored
			read.Prompt = tc.read
			f.saveHealth(read, read.after(tc.result, midnight))
			if got := f.storedWebhook(stored).Prompt; got != tc.want {
				t.Errorf("prompt: got %t, want %t", got, tc.want)
			}
		})
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
		f.saveHealth(w, after)
		disabled, err := f.store.disable(t.Context(), w, after, decision{reason: "the reason"}, midnight)
		if disabled || err != nil {
			t.Errorf("disable: got %t, %v, want false", disabled, err)
		}
	}
	if diff := cmp.Diff(replaced, f.storedWebhook(read)); diff != "" {
		t.Errorf("the webhook with the new endpoint was changed:\n%s", diff)
	}
	if _, err := f.store.Webhook(t.Context(), deleted.WorkspaceID, deleted.ID); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the deleted webhook: got %v, want ErrNotFound", err)
	}
}

// A webhook is not disabled for a series of failures that a success has ended in the meantime.
func TestWebhookIsNotDisabledAfterASuccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	since, end := midnight.Add(-disableAfter), midnight
	failing := func(w *Webhook) { w.Failures, w.FailingSince = disableFailures, stamp(since) }
	for _, tc := range []struct {
		name         string
		meantime     []sender.Result
		wantDisabled bool
	}{
		{"only failures", []sender.Result{failure}, true},
		{"a success", []sender.Result{promptOK}, false},
		{"a success and failures", []sender.Result{slowOK, failure, failure}, false},
	} {
		w := f.subscribe(f.newWorkspace(), "https://example.com", failing)
		v := decide(Delivery{Tries: 1}, w, failure, end, 0)
		for _, r := range tc.meantime {
			f.saveHealth(w, f.storedWebhook(w).after(r, end))
		}
		before := f.storedWebhook(w)
		disabled, err := f.store.disable(t.Context(), w, w.after(failure, end), v, end)
		if err != nil || disabled != tc.wantDisabled || f.storedWebhook(w).Active == disabled {
			t.Errorf("%s: got disabled = %t, %v, want %t", tc.name, disabled, err, tc.wantDisabled)
		}
		if diff := cmp.Diff(before, f.storedWebhook(w)); !disabled && diff != "" {
			t.Errorf("%s: the webhook was changed:\n%s", tc.name, diff)
		}
	}
}
