package delivery

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/shared/webhook/sender"
)

// If a webhook is deactivated, disabled or deleted during a turn, the turn sends nothing more. The requests that are in
// progress at that time are completed.
func TestWebhookIsSwitchedOffDuringATurn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(f *fixture, w Webhook){
		"deactivated": func(f *fixture, w Webhook) {
			w.Active = false
			f.putWebhook(w)
		},
		"deleted":             (*fixture).deleteWebhook,
		"workspace ended":     func(f *fixture, w Webhook) { f.endWorkspace(w.WorkspaceID) },
		"workspace suspended": func(f *fixture, w Webhook) { f.suspendOwners(w.WorkspaceID) },
		"disabled": func(f *fixture, w Webhook) {
			health := w.after(sender.Result{StatusCode: 410}, f.now())
			ok, err := f.store.disable(f.t.Context(), w, health, decision{reason: disabledGone}, f.now())
			if !ok || err != nil {
				f.t.Errorf("disable: got %t, %v, want true", ok, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			workspaceID := f.newWorkspace()
			w := f.subscribe(workspaceID, "https://example.com", inSlowLane)
			var requests atomic.Int32
			f.slow.send = func(context.Context, sender.Request) sender.Result {
				if requests.Add(1) == 1 {
					change(f, f.storedWebhook(w))
				}
				return sender.Result{StatusCode: 200}
			}
			f.publish(f.newEvents(workspaceID, 20)...)
			f.handleMessages()
			for range 5 {
				f.advance(time.Minute)
				f.runRetryJob()
				f.handleMessages()
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("got %d requests, want only the one that was in progress", n)
			}
			for _, w := range f.allWebhooks() {
				if (w.Active && !strings.HasPrefix(name, "workspace")) || w.hasTurn(f.now()) {
					t.Errorf("got webhook %+v, want an inactive one without a turn", w)
				}
			}
		})
	}
}
