package webhook

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// newWebhook sends a request to create a webhook in a workspace. It repeats the request if it conflicts with others.
func (u *user) newWebhook(workspaceID string, settings ...object) slicetest.Response {
	u.f.t.Helper()
	fields := object{"url": "https://example.com/", "events": []string{"*"}, "workspaceId": workspaceID}
	for _, s := range settings {
		maps.Copy(fields, s)
	}
	for {
		response := u.Do("POST", "/api/webhooks", fields)
		if response.Status != http.StatusConflict {
			return response
		}
	}
}

// withLimits returns a fixture with limits that differ from the default.
func withLimits(t *testing.T, change func(l *Limits)) *fixture {
	t.Helper()
	f := newFixture(t)
	change(&f.limits)
	f.startService(f.sdk, f.sqs)
	return f
}

// The workspaces of an account together have a limited number of webhooks, even if they are created concurrently. Other
// workspaces of the same users have their own limits.
func TestAccountQuota(t *testing.T) {
	t.Parallel()
	const limit = 12
	f := withLimits(t, func(l *Limits) { l.AccountWebhooks = limit })
	ada, grace := f.user("ada"), f.user("grace")
	workspaces := []string{ada.personal}
	for range 4 {
		roles := map[*user]workspace.Role{ada: workspace.Owner, grace: workspace.Admin}
		workspaces = append(workspaces, f.workspace(roles))
	}
	responses := slicetest.Concurrently(limit+8, func(i int) slicetest.Response {
		return ada.newWebhook(workspaces[i%len(workspaces)])
	})
	want := map[int]int{http.StatusCreated: limit, http.StatusPaymentRequired: 8}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Fatalf("concurrent requests (-want +got):\n%s", diff)
	}
	full := grace.newWebhook(workspaces[1]).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if text := full.Text("error"); !strings.Contains(text, "12 webhooks") || !strings.Contains(text, "Delete") {
		t.Errorf("got the error %q, want one with the limit and what to do", text)
	}
	created := grace.newWebhook(grace.personal).Want(t, http.StatusCreated)
	if got := f.storedWebhook("/api/webhooks/" + created.Text("id")).AccountID; got != grace.userID {
		t.Errorf("got the account %s of a webhook of grace, want %s", got, grace.userID)
	}
	webhookID := ada.Get("/api/webhooks").Texts("webhooks", "id")[0]
	ada.Do("DELETE", "/api/webhooks/"+webhookID, nil).Want(t, http.StatusOK)
	created = grace.newWebhook(workspaces[1]).Want(t, http.StatusCreated)
	if got := f.storedWebhook("/api/webhooks/" + created.Text("id")).AccountID; got != ada.userID {
		t.Errorf("got the account %s of a webhook in a workspace of ada, want %s", got, ada.userID)
	}
}

// A creation makes seven calls to storage. If another webhook of the account is created at the same time, the counts
// are read again.
func TestCallsOfCreation(t *testing.T) {
	t.Parallel()
	f := withLimits(t, func(l *Limits) { l.AccountWebhooks = 2 })
	ada := f.user("ada")
	team := f.workspace(map[*user]workspace.Role{ada: workspace.Owner})
	record := workspace.Workspace{ID: team, Name: "Team", Owners: 1}
	f.putProjectItem(db.WorkspaceKey(team), record)
	created := ada.newWebhook(team).Want(t, http.StatusCreated)
	// session and role, members, memberships, workspaces, revision, counts, and the transaction
	if created.Calls != 7 {
		t.Errorf("got %d calls to DynamoDB, want 7", created.Calls)
	}
	wire := f.newWire()
	wire.Before("TransactWriteItems", func() { ada.newWebhook(ada.personal).Want(t, http.StatusCreated) })
	ada.newWebhook(team).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
}

// If the owner of a workspace changes, its webhooks count for the new owner.
func TestAccountQuotaAfterTransfer(t *testing.T) {
	t.Parallel()
	f := withLimits(t, func(l *Limits) { l.AccountWebhooks = 3 })
	ada, grace := f.user("ada"), f.user("grace")
	team := f.workspace(map[*user]workspace.Role{ada: workspace.Owner, grace: workspace.Admin})
	for range 2 {
		ada.newWebhook(team).Want(t, http.StatusCreated)
	}
	ada.newWebhook(ada.personal).Want(t, http.StatusCreated)
	ada.newWebhook(ada.personal).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	f.addMember(team, ada, workspace.Member)
	f.addMember(team, grace, workspace.Owner)
	ada.newWebhook(ada.personal).Want(t, http.StatusCreated)
	grace.newWebhook(team).Want(t, http.StatusCreated)
	grace.newWebhook(grace.personal).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	for _, id := range grace.Get("/api/webhooks").Texts("webhooks", "id") {
		grace.Do("DELETE", "/api/webhooks/"+id, nil).Want(t, http.StatusOK)
	}
	for range 3 {
		grace.newWebhook(grace.personal).Want(t, http.StatusCreated)
	}
	grace.newWebhook(team).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
}

// The webhooks of deleted projects do not count against the limit of the account.
func TestAccountQuotaIgnoresDeletedProjects(t *testing.T) {
	t.Parallel()
	f := withLimits(t, func(l *Limits) { l.AccountWebhooks = 4 })
	ada := f.user("ada")
	team := f.workspace(map[*user]workspace.Role{ada: workspace.Owner})
	project := f.project(team, workspace.Team, ada)
	for range 3 {
		ada.newWebhook(team, object{"projectId": project}).Want(t, http.StatusCreated)
	}
	ada.newWebhook(team).Want(t, http.StatusCreated)
	ada.newWebhook(ada.personal).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	f.deleteProject(team, project)
	for range 3 {
		ada.newWebhook(ada.personal).Want(t, http.StatusCreated)
	}
	ada.newWebhook(ada.personal).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
}

// A workspace has at most twenty webhooks, even if they are created concurrently. Concurrent deletions of one webhook
// decrement the count once.
func TestQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	create := func(int) slicetest.Response { return ada.newWebhook(ada.personal) }
	responses := slicetest.Concurrently(maxWebhooks+5, create)
	want := map[int]int{http.StatusCreated: maxWebhooks, http.StatusPaymentRequired: 5}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Fatalf("concurrent requests to an empty workspace (-want +got):\n%s", diff)
	}
	full := create(0).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if !strings.Contains(full.Text("error"), "20 webhooks") {
		t.Errorf("got %s, want an error with the limit", full.Raw)
	}
	webhookIDs := ada.Get("/api/webhooks").Texts("webhooks", "id")
	responses = slicetest.Concurrently(4, func(int) slicetest.Response {
		return ada.Do("DELETE", "/api/webhooks/"+webhookIDs[3], nil)
	})
	want = map[int]int{http.StatusOK: 1, http.StatusNotFound: 3}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("concurrent deletions (-want +got):\n%s", diff)
	}
	responses = slicetest.Concurrently(3, create)
	want = map[int]int{http.StatusCreated: 1, http.StatusPaymentRequired: 2}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("concurrent requests after one deletion (-want +got):\n%s", diff)
	}
	f.user("grace").createWebhook("/ok") // other workspaces have their own limit
}

// The webhooks of deleted projects do not count against the limit of the workspace. They are deleted when it is
// reached.
func TestQuotaIgnoresDeletedProjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	deleted, existing := f.project(ada.personal, workspace.Team, ada), f.project(ada.personal, workspace.Team, ada)
	var want []string
	for i := range maxWebhooks {
		switch {
		case i < 3:
			ada.createWebhook("/ok", object{"projectId": deleted})
		case i < 6:
			want = append(want, ada.createWebhook("/ok", object{"projectId": existing}))
		default:
			want = append(want, ada.createWebhook("/ok"))
		}
	}
	create := func(settings object) slicetest.Response { return ada.newWebhook(ada.personal, settings) }
	create(nil).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	f.deleteProject(ada.personal, deleted)
	for range 3 {
		want = append(want, "/api/webhooks/"+create(nil).Want(t, http.StatusCreated).Text("id"))
	}
	create(nil).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	create(object{"projectId": deleted}).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	var got []string
	for _, id := range ada.Get("/api/webhooks").Texts("webhooks", "id") {
		got = append(got, "/api/webhooks/"+id)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the listed webhooks (-want +got):\n%s", diff)
	}
	if items := f.dump(); strings.Count(items, " WEBHOOK:{") != maxWebhooks || !strings.Contains(items, `"n":20`) {
		t.Errorf("got items %s, want a count of 20 and 20 pointers", items)
	}
}
