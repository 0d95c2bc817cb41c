package delivery

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/sender"
)

// A 410 disables the webhook. Later events are stored as failed deliveries, so that they can be recovered, and are not
// sent.
func TestGoneDisablesTheWebhook(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "/gone")
	f.runUntilFinished()
	if got := f.storedWebhook(w); got.Active || got.DisabledReason != disabledGone || got.Revision != 2 {
		t.Errorf("got webhook %+v, want revision 2, disabled because of the 410", got)
	}
	if d := f.wantDelivery(Failed, 1); d.Attempts[0].StatusCode != 410 {
		t.Errorf("got status %d, want 410", d.Attempts[0].StatusCode)
	}
	later := f.newEvent(w.WorkspaceID)
	f.publish(later)
	f.runUntilFinished()
	for _, d := range f.allDeliveries() {
		if d.EventID != later.ID {
			continue
		}
		reason := "the webhook was disabled: " + disabledGone
		if d.Status != Failed || len(d.Attempts) != 0 || d.Reason != reason || d.Due != "" {
			t.Errorf("got %+v for the later event, want a failed delivery without an attempt", d)
		}
	}
	if n := len(f.allDeliveries()); n != 2 {
		t.Errorf("got %d deliveries, want 2", n)
	}
	f.wantRequests(1)
	f.wantLog(`"WebhooksDisabled":[1]`)
}

// A 410 from an endpoint that was replaced during the attempt does not disable the webhook. The delivery is retried at
// the new endpoint.
func TestGoneFromAReplacedEndpoint(t *testing.T) {
	t.Parallel()
	f, w := publishOne(t, "/gone")
	send := f.fast.send
	f.fast.send = func(ctx context.Context, r sender.Request) sender.Result {
		result := send(ctx, r)
		if result.Gone {
			w.URL, w.Generation = f.receiver.URL("/ok/a"), w.Generation+1
			f.putWebhook(w)
		}
		return result
	}
	errs := f.fast.Handle(t.Context(), f.receiveMessages())
	if !errors.Is(errs[0], lambdafn.ErrLater) {
		t.Errorf("got %v, want ErrLater", errs[0])
	}
	if d := f.wantDelivery(Pending, 1); d.NextAttemptAt.Time().Sub(f.now()) > 6*time.Second {
		t.Errorf("the next attempt is at %v, want at most 6 s after %v", d.NextAttemptAt, f.now())
	}
	f.runUntilFinished()
	if d := f.wantDelivery(Succeeded, 2); d.Attempts[0].StatusCode != 410 {
		t.Errorf("got status %d of the first attempt, want 410", d.Attempts[0].StatusCode)
	}
	if !f.storedWebhook(w).Active {
		t.Error("the webhook was disabled")
	}
	f.wantLog(`"outcome":"will be retried"`)
	if strings.Contains(f.log.String(), "webhook disabled") {
		t.Errorf("the log reports that the webhook was disabled:\n%s", f.log)
	}
}

// Five days without a success disable the webhook.
func TestFiveDaysOfFailuresDisableTheWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newWorkspace()
	w := f.subscribe(workspaceID, f.receiver.URL("/status/500"))
	for range 3 {
		f.publish(f.newEvent(workspaceID))
		f.runUntilFinished()
		if got := f.storedWebhook(w); f.now().Sub(midnight) < disableAfter && !got.Active {
			t.Fatalf("the webhook was disabled after %v, want at least %v", f.now().Sub(midnight), disableAfter)
		}
	}
	got := f.storedWebhook(w)
	if got.Active || got.DisabledReason != disabledFailing {
		t.Errorf("got webhook %+v, want it to be disabled because of failures", got)
	}
	if after := f.now().Sub(midnight); after < disableAfter || after > disableAfter+30*time.Hour {
		t.Errorf("the webhook was disabled after %v, want %v to %v", after, disableAfter, disableAfter+30*time.Hour)
	}
}

// A delivery fails if its webhook is deactivated, disabled or deleted before the attempt.
func TestInactiveOrDeletedBeforeTheAttempt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reason string
		change       func(f *fixture, w Webhook)
	}{
		{"inactive", "the webhook is not active", func(f *fixture, w Webhook) {
			w.Active = false
			f.putWebhook(w)
		}},
		{"disabled", "the webhook was disabled: x", func(f *fixture, w Webhook) {
			w.Active, w.DisabledReason = false, "x"
			f.putWebhook(w)
		}},
		{"deleted", reasonDeleted, func(f *fixture, w Webhook) { f.deleteWebhook(w) }},
		{"workspace ended", reasonDeleted, func(f *fixture, w Webhook) { f.endWorkspace(w.WorkspaceID) }},
		{"workspace suspended", reasonDeleted, func(f *fixture, w Webhook) { f.suspendOwners(w.WorkspaceID) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f, w := publishOne(t, "/ok/a")
			tc.change(f, w)
			f.runUntilFinished()
			if d := f.wantDelivery(Failed, 0); d.Reason != tc.reason || d.Due != "" {
				t.Errorf("got delivery %+v, want reason %q and no entry in the index", d, tc.reason)
			}
			f.wantRequests(0)
		})
	}
}
