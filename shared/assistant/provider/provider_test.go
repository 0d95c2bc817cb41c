package provider_test

import (
	"errors"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// All attempts begin within two seconds, because the user is waiting.
func TestDefaultWaits(t *testing.T) {
	t.Parallel()
	w := provider.DefaultWaits()
	for range 100 {
		for failures := range provider.MaxAttempts - 1 {
			if wait := w.Backoff(failures); wait <= 0 || w.Window > 2*time.Second {
				t.Errorf("after %d failures: a backoff of %v after %v ends too late", failures, wait, w.Window)
			}
		}
	}
	if w.Usage <= 0 || w.Usage > 10*time.Second || w.Close <= 0 || w.Close > time.Second {
		t.Errorf("got the waits %v and %v after an answer, want at most 10s and 1s", w.Usage, w.Close)
	}
}

// A wait that a server requests is kept if it is short, and ends the attempts if it is long.
func TestRequestedWaits(t *testing.T) {
	t.Parallel()
	w := provider.Waits{Backoff: func(int) time.Duration { return time.Millisecond }, Window: time.Minute}
	for requested, want := range map[time.Duration]int{
		5 * time.Millisecond: provider.MaxAttempts, w.Window/2 + 1: 1,
	} {
		attempts, began := 0, time.Now()
		err := w.Retry(t.Context(), func() (bool, error) {
			attempts++
			return false, &model.Error{Fault: model.Unavailable, RetryAfter: requested, Cause: errors.New("busy")}
		})
		if waited := time.Since(began); err == nil || attempts != want || waited < time.Duration(want-1)*requested {
			t.Errorf("requested %v: got %d attempts in %v, error %v, want %d attempts", requested, attempts, waited, err, want)
		}
	}
}
