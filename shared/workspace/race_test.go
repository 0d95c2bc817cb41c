package workspace_test

import (
	"fmt"
	"net/http"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// concurrentStatuses sends all requests concurrently, and returns the number of responses by status.
func concurrentStatuses(requests ...func() response) map[int]int {
	send := func(i int) response { return requests[i]() }
	return slicetest.CountStatuses(slicetest.Concurrently(len(requests), send))
}

// Two owners send concurrent requests that together would leave the workspace without an owner. One must fail.
func TestConcurrentChangesKeepOneOwner(t *testing.T) {
	t.Parallel()
	leave := func(ws string, u, _ *user) response { return u.remove(ws, u) }
	removeOther := func(ws string, u, other *user) response { return u.remove(ws, other) }
	demoteOther := func(ws string, u, other *user) response { return u.setRole(ws, other, workspace.Viewer) }
	stepDown := func(ws string, u, _ *user) response { return u.setRole(ws, u, workspace.Member) }
	for name, race := range map[string]struct {
		first, second func(ws string, u, other *user) response
	}{
		"both leave":                       {leave, leave},
		"each removes the other":           {removeOther, removeOther},
		"each demotes the other":           {demoteOther, demoteOther},
		"one leaves, the other steps down": {leave, stepDown},
		"one leaves and demotes the other": {
			leave, func(ws string, u, other *user) response { return demoteOther(ws, other, u) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, withQuota(100))
			a, b := f.newUser("a"), f.newUser("b")
			ws := a.create("Team")
			rounds := 12
			if name == "both leave" {
				rounds = 50
			}
			for range rounds {
				a.add(ws, b, workspace.Owner)
				statuses := concurrentStatuses(
					func() response { return race.first(ws, a, b) },
					func() response { return race.second(ws, b, a) },
				)
				if statuses[http.StatusOK] != 1 {
					t.Fatalf("got responses by status %v, want one with status 200", statuses)
				}
				stored := f.snapshot()
				if n := stored.workspaces[ws].Owners; n != 1 {
					t.Fatalf("got %d owners, want 1", n)
				}
				a, b = prepareNextRound(t, stored, ws, a, b)
			}
		})
	}
}

// prepareNextRound removes the user who is not the owner, if that user is still a member. It returns the owner and the
// removed user.
func prepareNextRound(t *testing.T, s snapshot, ws string, a, b *user) (owner, removed *user) {
	t.Helper()
	owner, removed = a, b
	if s.members[ws+" "+owner.id].Role != workspace.Owner {
		owner, removed = b, a
	}
	if _, isMember := s.members[ws+" "+removed.id]; isMember {
		owner.remove(ws, removed).Want(t, http.StatusOK)
	}
	return owner, removed
}

func TestMembershipQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuota(3))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.create("1")
	ada.create("2")
	created := ada.createWorkspace("3").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	want := "You have reached the limit of 3 workspaces. Leave a workspace first."
	if got := created.Text("error"); got != want {
		t.Errorf("creating a workspace: got error %q, want %q", got, want)
	}
	graceWorkspace := grace.create("G")
	// The limit counts when the invitation is accepted, and does not end the invitation.
	invitation := grace.invite(graceWorkspace, ada, workspace.Member).Want(t, http.StatusCreated).Text("id")
	accepted := ada.accept(invitation).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if got := accepted.Text("error"); got != want {
		t.Errorf("accepting an invitation: got error %q, want %q", got, want)
	}
	ada.add(ws, grace, workspace.Owner)
	// Grace has reached the limit, but she is already a member. So this is a conflict and not a quota error.
	ada.invite(ws, grace, workspace.Admin).Want(t, http.StatusConflict, fault.CodeConflict)
	ada.remove(ws, ada).Want(t, http.StatusOK)
	ada.accept(invitation).Want(t, http.StatusOK) // ada is below the limit again
	ada.createWorkspace("3").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)

	// With a limit of 1, a user has only the personal workspace.
	newFixture(t, withQuota(1)).newUser("eve").createWorkspace("1").Want(t, http.StatusPaymentRequired)
}

// The default limit is 50 workspaces.
func TestDefaultMembershipQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for i := range workspace.MaxMemberships - 1 {
		ada.create(fmt.Sprint(i))
	}
	ada.createWorkspace("51").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if n := len(ada.workspaces().List("workspaces")); n != 50 {
		t.Errorf("got %d workspaces, want 50", n)
	}
}

// An invitation that is repeated after a conflict makes the same calls again. The role of the function does not allow
// GetItem.
func TestInvitationAfterConflict(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Owner})
	f.wire.Before("TransactWriteItems", func() {
		grace.setRole(ws, ada, workspace.Admin).Want(t, http.StatusOK)
		f.wire.Before("GetItem", func() { t.Error("the repeated invitation called GetItem") })
	})
	wantCalls(t, "the invitation", ada.invite(ws, eve, workspace.Viewer).Want(t, http.StatusCreated), 4)
}
