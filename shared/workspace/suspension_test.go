package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/operator/operatortest"
	"devplatform/infra/operator/suspension"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// operators returns an operator, and another one whose calls go through the fixture's wire. It stores the accounts of
// the users. Their sessions do not end, so that tests can send requests that were authenticated before a suspension.
func (f *fixture) operators(users ...*user) (o, wired operatortest.Operator) {
	f.t.Helper()
	tables := config.Tables{Accounts: slicetest.Table(f.t, f.sdk, "accounts"), Projects: f.projectsTable}
	o = operatortest.New(f.t, db.Wrap(f.sdk, f.clock.Now), tables, f.webhooksTable, f.clock.Now)
	for _, u := range users {
		o.AddUser(u.id, u.username)
	}
	return o, operatortest.New(f.t, f.client, tables, f.webhooksTable, f.clock.Now)
}

func (f *fixture) operator(users ...*user) operatortest.Operator {
	f.t.Helper()
	o, _ := f.operators(users...)
	return o
}

// isReadOnly reports whether a workspace is read-only.
func (f *fixture) isReadOnly(ws string) bool {
	f.t.Helper()
	w := f.snapshot().workspaces[ws]
	return w.IsReadOnly()
}

func TestWorkspaceOfSuspendedOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	users := f.newUsers("ada", "grace", "admin", "member", "viewer", "guest")
	ada, grace, admin, member, viewer, guest := users[0], users[1], users[2], users[3], users[4], users[5]
	ws := ada.createTeam(map[*user]workspace.Role{
		grace: workspace.Owner, admin: workspace.Admin, member: workspace.Member, viewer: workspace.Viewer,
	})
	invited := admin.invite(ws, guest, workspace.Member).Want(t, http.StatusCreated).Text("id")
	offered := ada.offer(ws, admin)
	o := f.operator(users...)
	o.MustSuspend(ada.id)
	if f.isReadOnly(ws) || !f.isReadOnly(ada.personal) {
		t.Error("want only the personal workspace to be read-only, because the other one has another owner")
	}
	admin.setRole(ws, viewer, workspace.Member).Want(t, http.StatusOK)
	// The offer of a suspended owner has no effect until the suspension is lifted.
	admin.accept(offered).Want(t, http.StatusNotFound, fault.CodeInvitationNotFound)
	o.MustSuspend(grace.id)
	path := "/api/workspaces/" + ws
	wantReadOnly := func(what string, r response) {
		t.Helper()
		if r.Status != http.StatusForbidden || r.Text("code") != string(fault.CodeAccessDenied) ||
			!strings.Contains(r.Text("error"), "read-only") {
			t.Errorf("%s: got %d %s, want 403 ACCESS_DENIED with the reason", what, r.Status, r.Raw)
		}
	}
	wantReadOnly("rename", admin.Do(http.MethodPut, path, map[string]any{"name": "Other"}))
	wantReadOnly("invite", admin.invite(ws, f.newUser("new"), workspace.Viewer))
	wantReadOnly("invite an address", admin.Do(http.MethodPost, path+"/invitations",
		map[string]any{"email": "new@example.com", "role": "viewer"}))
	wantReadOnly("revoke an invitation", admin.Do(http.MethodDelete, path+"/invitations/"+invited, nil))
	wantReadOnly("change a role", admin.setRole(ws, member, workspace.Viewer))
	wantReadOnly("remove", admin.remove(ws, member))
	wantReadOnly("accept an invitation", guest.accept(invited))
	wantReadOnly("accept ownership", admin.accept(offered))
	for _, c := range []*user{admin, member, viewer} {
		c.Do(http.MethodGet, path, nil).Want(t, http.StatusOK)
		c.members(ws).Want(t, http.StatusOK)
	}
	admin.Do(http.MethodGet, path+"/invitations", nil).Want(t, http.StatusOK)
	viewer.setRole(ws, member, workspace.Viewer).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
	viewer.remove(ws, viewer).Want(t, http.StatusOK) // a member may leave

	o.MustLift(grace.id)
	admin.setRole(ws, member, workspace.Viewer).Want(t, http.StatusOK)
	guest.accept(invited).Want(t, http.StatusOK)
	o.MustLift(ada.id)
	admin.accept(offered).Want(t, http.StatusOK)
	if f.isReadOnly(ws) || f.isReadOnly(ada.personal) {
		t.Error("a workspace is read-only after the suspensions were lifted")
	}
}

// A suspended user gets no new workspace, also with a request that was authenticated before the suspension.
func TestSuspendedUserJoinsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuota(3))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := grace.create("Team")
	invited := grace.invite(ws, ada, workspace.Admin).Want(t, http.StatusCreated).Text("id")
	o := f.operator(ada, grace)
	o.MustSuspend(ada.id)
	ada.createWorkspace("Mine").Want(t, http.StatusForbidden, fault.CodeSuspended)
	ada.accept(invited).Want(t, http.StatusForbidden, fault.CodeSuspended)
	o.MustLift(ada.id)
	ada.accept(invited).Want(t, http.StatusOK)
	ada.create("Mine")
	ada.createWorkspace("Too many").Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
}

// breakAfter makes all transactions fail after the next n transactions.
func (f *fixture) breakAfter(n int) {
	f.wire.Before("TransactWriteItems", func() {
		if n == 1 {
			f.wire.Break("TransactWriteItems", dynamotest.ServerError)
		} else {
			f.breakAfter(n - 1)
		}
	})
}

// A user can be an owner of 50 workspaces, which do not fit into one transaction. A suspension that fails after some of
// them is completed by repetitions.
func TestSuspensionOfManyWorkspaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for i := range workspace.MaxMemberships - 1 {
		ada.create(fmt.Sprint("Team ", i))
	}
	_, o := f.operators(ada)
	for _, act := range []func(context.Context, string, db.Write) (suspension.Result, error){
		o.Suspend, o.Lift,
	} {
		changed, failures := 0, 0
		for {
			f.breakAfter(7)
			r, err := act(t.Context(), ada.id, o.Record())
			f.wire.Clear()
			if changed += r.Memberships; err == nil {
				break
			}
			failures++
		}
		if changed != workspace.MaxMemberships || failures < 5 {
			t.Errorf("%d memberships were changed with %d failures, want 50 and some failures", changed, failures)
		}
	}
}

// After suspensions and changes of members in any order, the stored numbers of suspended owners are right.
// checkConsistency compares them.
func TestChangesOfOwnersDuringSuspensions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuota(1000))
	users := f.newUsers("ada", "grace", "linus")
	o := f.operator(users...)
	ws := users[0].create("Team")
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 15).Draw(rt, "acts") {
			u := rapid.SampledFrom(users).Draw(rt, "user")
			by := rapid.SampledFrom(users).Draw(rt, "by")
			switch rapid.SampledFrom([]string{"suspend", "lift", "add", "offer", "demote", "remove"}).Draw(rt, "act") {
			case "suspend":
				o.MustSuspend(u.id)
			case "lift":
				o.MustLift(u.id)
			case "add":
				if r := by.invite(ws, u, workspace.Admin); r.Status == http.StatusCreated {
					u.accept(r.Text("id"))
				}
			case "offer":
				if r := by.setRole(ws, u, workspace.Owner); r.Status == http.StatusAccepted {
					u.accept(r.Body["invitation"].(map[string]any)["id"].(string))
				}
			case "demote":
				by.setRole(ws, u, workspace.Member)
			case "remove":
				by.remove(ws, u)
			}
		}
		f.checkConsistency()
		for _, u := range users {
			o.MustLift(u.id)
		}
		if w := f.snapshot().workspaces[ws]; w.SuspendedOwners != 0 {
			rt.Fatalf("got %d suspended owners after all suspensions were lifted", w.SuspendedOwners)
		}
	})
}

// A change of a member that was decided before a suspension is decided again.
func TestSuspensionBeforeAChangeIsStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	o := f.operator(ada, grace)
	ws := grace.createTeam(map[*user]workspace.Role{ada: workspace.Owner})
	for what, request := range map[string]func(){
		"demotion":   func() { grace.setRole(ws, ada, workspace.Member).Want(t, http.StatusOK) },
		"removal":    func() { grace.remove(ws, ada).Want(t, http.StatusOK) },
		"acceptance": nil, // the loop makes the offer first
	} {
		if what == "acceptance" {
			grace.setRole(ws, ada, workspace.Admin)
			offered := grace.offer(ws, ada)
			request = func() { ada.accept(offered) }
		}
		f.wire.Before("TransactWriteItems", func() { o.MustSuspend(ada.id) })
		request()
		f.checkConsistency()
		o.MustLift(ada.id)
		f.checkConsistency()
		if _, isMember := f.snapshot().members[ws+" "+ada.id]; !isMember {
			grace.add(ws, ada, workspace.Owner)
		} else if f.snapshot().members[ws+" "+ada.id].Role != workspace.Owner {
			grace.promote(ws, ada)
		}
	}
}

// An admin who is suspended between the read and the write of a revocation does not revoke the invitation.
func TestSuspensionBeforeARevocation(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	o := f.operator(f.owner1, f.owner2, f.admin)
	f.wire.Before("TransactWriteItems", func() { o.MustSuspend(f.admin.id) })
	f.admin.Do(http.MethodDelete, "/api/workspaces/"+f.ws+"/invitations/"+f.invitation, nil).
		Want(t, http.StatusForbidden, fault.CodeSuspended)
	acceptInvitation(f).Want(t, http.StatusOK)
}

// If a suspension is lifted while the memberships are being suspended, or the other way round, the later call decides.
func TestSuspensionIsLiftedInBetween(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	o, wired := f.operators(ada)
	for _, isSuspended := range []bool{false, true} {
		between, act := o.MustLift, wired.MustSuspend
		if isSuspended {
			o.MustSuspend(ada.id)
			between, act = o.MustSuspend, wired.MustLift
		}
		f.wire.Before("TransactWriteItems", func() { // of the account
			f.wire.Before("TransactWriteItems", func() { between(ada.id) }) // of the membership
		})
		act(ada.id)
		if got := f.snapshot().members[ada.personal+" "+ada.id].Suspended; got != isSuspended {
			t.Errorf("got a membership with suspended = %v, want %v", got, isSuspended)
		}
		f.checkConsistency()
	}
}

// Suspensions, their ends and changes of an owner run at the same time.
func TestConcurrentSuspensions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuota(1000))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	o := f.operator(ada, grace)
	act := func(act func(context.Context, string, db.Write) (suspension.Result, error), u *user) func() response {
		return func() response {
			if _, err := act(t.Context(), u.id, o.Record()); err != nil && !errors.Is(err, db.ErrConflict) {
				t.Error(err)
			}
			return response{}
		}
	}
	for range 8 {
		ws := grace.createTeam(map[*user]workspace.Role{ada: workspace.Admin})
		offered := grace.offer(ws, ada)
		concurrentStatuses(
			act(o.Suspend, ada), act(o.Suspend, ada),
			func() response { return ada.accept(offered) },
			func() response { return ada.createWorkspace("Mine") },
		)
		o.MustSuspend(ada.id)
		for key, m := range f.snapshot().members {
			if m.UserID == ada.id && !m.Suspended {
				t.Fatalf("the membership %s is not suspended", key)
			}
		}
		f.checkConsistency()
		concurrentStatuses(
			act(o.Lift, ada), act(o.Suspend, ada), act(o.Lift, ada),
			func() response { return grace.setRole(ws, ada, workspace.Admin) },
			func() response { return grace.remove(ws, ada) },
		)
		f.checkConsistency()
		o.MustLift(ada.id)
		for key, m := range f.snapshot().members {
			if m.Suspended {
				t.Fatalf("the membership %s is suspended", key)
			}
		}
	}
}

// A suspended member who inherits a workspace from a deleted account counts as a suspended owner.
func TestSuspendedHeir(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.skipConsistencyCheck = true // the account of ada still exists
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Admin})
	o := f.operator(ada, grace)
	o.MustSuspend(grace.id)
	if err := f.service.LeaveAll(t.Context(), ada.id); err != nil {
		t.Fatal(err)
	}
	if w := f.snapshot().workspaces[ws]; w.Owners != 1 || w.SuspendedOwners != 1 {
		t.Errorf("got %d owners and %d suspended owners, want 1 of each", w.Owners, w.SuspendedOwners)
	}
	o.MustLift(grace.id)
	if w := f.snapshot().workspaces[ws]; w.IsReadOnly() || w.SuspendedOwners != 0 {
		t.Errorf("got %d suspended owners after the suspension, want none", w.SuspendedOwners)
	}
}
