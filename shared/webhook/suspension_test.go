package webhook

import (
	"net/http"
	"testing"

	"devplatform/infra/operator/operatortest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// operator returns an operator, and stores the accounts of the users. Their sessions do not end.
func (f *fixture) operator(users ...*user) operatortest.Operator {
	f.t.Helper()
	tables := config.Tables{Accounts: slicetest.Table(f.t, f.sdk, "accounts"), Projects: f.tables.projects}
	o := operatortest.New(f.t, db.Wrap(f.sdk, f.clock.Now), tables, f.tables.webhooks, f.clock.Now)
	for _, u := range users {
		o.AddUser(u.userID, u.name)
	}
	return o
}

// The webhooks that a suspended user created are disabled, and no others. They stay disabled when the suspension is
// lifted: the reason shows the user which ones to activate again.
func TestWebhooksOfASuspendedUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.user("ada"), f.user("grace")
	team := ada.team(map[*user]workspace.Role{grace: workspace.Admin})
	own, personal := grace.createWebhook("/ok", object{"workspaceId": team}), grace.createWebhook("/ok")
	others := ada.createWebhook("/ok", object{"workspaceId": team})
	o := f.operator(ada, grace)
	o.MustSuspend(grace.userID)
	if !f.storedWebhook(others).Active {
		t.Error("a webhook of another user was disabled")
	}
	o.MustLift(grace.userID)
	for _, path := range []string{own, personal} {
		const want = "the account of the user who created or last activated the webhook was suspended"
		if w := f.storedWebhook(path); w.Active || w.DisabledReason != want {
			t.Errorf("got active: %v and the reason %q, want a disabled webhook", w.Active, w.DisabledReason)
		}
		grace.Do(http.MethodPut, path, object{"active": true}).Want(t, http.StatusOK)
	}
}

// A webhook that is created or activated at the time of the suspension does not stay active.
func TestActivationDuringASuspension(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.user("ada"), f.user("grace")
	team := ada.team(map[*user]workspace.Role{grace: workspace.Admin})
	paused := grace.createWebhook("/ok", object{"workspaceId": team, "active": false})
	o, wire := f.operator(ada, grace), f.newWire()
	for what, activate := range activations {
		wire.Before("TransactWriteItems", func() { o.MustSuspend(grace.userID) })
		if _, r := activate(grace, team, paused); r.Status != http.StatusForbidden {
			t.Errorf("%s: got %d %s, want 403", what, r.Status, r.Raw)
		}
		o.MustLift(grace.userID)
	}
}

func TestWebhooksOfAReadOnlyWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.user("ada"), f.user("grace")
	team := ada.team(map[*user]workspace.Role{grace: workspace.Admin})
	own := grace.createWebhook("/ok", object{"workspaceId": team})
	f.operator(ada, grace).MustSuspend(ada.userID)
	if !f.storedWebhook(own).Active {
		t.Error("a webhook of another user was disabled")
	}
	for _, path := range []string{"/api/webhooks?workspaceId=" + team, own, own + "/deliveries"} {
		grace.Get(path).Want(t, http.StatusOK)
	}
	for _, change := range []slicetest.Response{
		grace.Do(http.MethodPut, own, object{"active": false}),
		grace.Do(http.MethodPost, own+"/test", nil),
		grace.Do(http.MethodPost, own+"/deliveries/dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK/redeliver", nil),
		grace.Do(http.MethodPost, own+"/recover", object{"since": "2026-11-20T00:00:00.000Z"}),
		grace.Do(http.MethodDelete, own, nil),
		grace.Do(http.MethodPost, "/api/webhooks", object{
			"workspaceId": team, "url": f.receiver.URL("/ok"), "events": []string{"*"},
		}),
	} {
		change.Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	}
}
