package delivery

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/mailtest"
	"devplatform/shared/account/user"
	"devplatform/shared/awsclient"
	"devplatform/shared/db"
	"devplatform/shared/mail"
	"devplatform/shared/webhook/sender"
)

// newOwner stores the user who owns a new workspace and creates its webhooks. It returns the ID of the workspace.
func (f *fixture) newOwner(email string) (workspaceID string) {
	f.t.Helper()
	workspaceID = f.newWorkspace()
	owner := user.User{ID: accountOf(workspaceID), Username: "ada", Email: email}
	accounts := f.store.Client.Table(f.records.Accounts)
	f.must(f.store.Client.Do(f.t.Context(), accounts.Put(db.UserKey(owner.ID), owner)))
	return workspaceID
}

func (f *fixture) mails() []mail.Message {
	f.t.Helper()
	return mailtest.Stored(f.t, f.sdk, f.records.Mail, f.secrets.Keys)
}

// The creator of a webhook gets one mail when the service disables it, even if several attempts end at the same time.
// It does not contain the path of the endpoint, which can be a secret.
func TestDisabledWebhookIsReported(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newOwner("ada@example.com")
	w := f.subscribe(workspaceID, f.receiver.URL("/gone"))
	f.publish(f.newEvent(workspaceID), f.newEvent(workspaceID), f.newEvent(workspaceID))
	f.runUntilFinished()
	f.wantRequests(3)
	host := strings.TrimPrefix(f.receiver.URL(""), "http://")
	want := mail.Message{
		Kind: mail.WebhookDisabled, To: "ada@example.com", UserID: w.CreatedBy, Username: "ada",
		Values:    map[string]string{"name": host, "workspace": "Team", "reason": disabledGone},
		ExpiresAt: f.now().Add(mail.Retention),
	}
	if got := f.mails(); !cmp.Equal(got, []mail.Message{want}) {
		t.Fatalf("got the mails %+v, want %+v", got, want)
	}

	// A webhook that was activated again can be disabled again.
	again := f.storedWebhook(w)
	again.Active, again.DisabledReason, again.Generation, again.Description = true, "", again.Generation+1, "Orders"
	f.putWebhook(again)
	f.publish(f.newEvent(workspaceID))
	f.runUntilFinished()
	if got := f.mails(); len(got) != 2 || got[1].Values["name"] != "Orders" {
		t.Errorf("got the mails %+v, want a second one with the description of the webhook", got)
	}
}

// A webhook whose creator has no address is disabled without a mail.
func TestDisabledWebhookOfAUserWithoutAnAddress(t *testing.T) {
	t.Parallel()
	for name, newOwner := range map[string]func(*fixture) string{
		"deleted":    (*fixture).newWorkspace,
		"no address": func(f *fixture) string { return f.newOwner("") },
	} {
		f := newFixture(t)
		workspaceID := newOwner(f)
		w := f.subscribe(workspaceID, f.receiver.URL("/gone"))
		f.publish(f.newEvent(workspaceID))
		f.runUntilFinished()
		if got := f.mails(); f.storedWebhook(w).Active || len(got) != 0 {
			t.Errorf("%s: got the mails %+v, want none, and a disabled webhook", name, got)
		}
	}
}

// If a webhook cannot be disabled, or its mail cannot be stored, because storage is unavailable, the delivery is
// retried, and the next failure disables the webhook.
func TestWebhookIsNotDisabledDuringAnOutage(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"BatchGetItem", "TransactWriteItems"} {
		f := newFixture(t)
		workspaceID := f.newOwner("ada@example.com")
		w := f.subscribe(workspaceID, f.receiver.URL("/gone"))
		f.publish(f.newEvent(workspaceID))
		send := f.fast.send
		f.fast.send = func(ctx context.Context, r sender.Request) sender.Result {
			f.refuse(operation, awsclient.MaxAttempts) // all attempts of the next call
			return send(ctx, r)
		}
		f.fast.Handle(t.Context(), f.receiveMessages())
		f.wantLog("webhook was not disabled")
		if d := f.wantDelivery(Pending, 1); !f.storedWebhook(w).Active || d.NextAttemptAt == nil || len(f.mails()) != 0 {
			t.Errorf("%s: got delivery %+v, want it retried while the webhook is active", operation, d)
		}
		f.fast.send = send
		f.runUntilFinished()
		f.wantDelivery(Failed, 2)
		if mails := f.mails(); f.storedWebhook(w).Active || len(mails) != 1 {
			t.Errorf("%s: got the mails %+v, want one, and a disabled webhook", operation, mails)
		}
	}
}

// If the response to the transaction is lost, its repetition stores no second mail.
func TestLostResponseToDisabling(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	workspaceID := f.newOwner("ada@example.com")
	w := f.subscribe(workspaceID, f.receiver.URL("/gone"))
	f.publish(f.newEvent(workspaceID))
	f.breakNext("TransactWriteItems", 1, responseLost)
	f.runUntilFinished()
	f.wantDelivery(Failed, 1)
	if mails := f.mails(); f.storedWebhook(w).Active || len(mails) != 1 {
		t.Errorf("got the mails %+v, want one, and a disabled webhook", mails)
	}
}
