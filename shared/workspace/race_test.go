package workspace_test

import (
	"fmt"
	"net/http"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// concurrentStatuses runs all requests concurrently, and returns the number of responses by status.
func concurrentStatuses(all ...func() response) map[int]int {
	return slicetest.CountStatuses(slicetest.Concurrently(len(all), func(i int) response { return all[i]() }))
}

// Two owners race in every way that could leave a workspace without an owner. The audit at the end counts the owners.
func TestConcurrentChangesKeepOneOwner(t *testing.T) {
	t.Parallel()
	for name, race := range map[string]func(ws string, a, b *user) []func() response{
		"both leave": func(ws string, a, b *user) []func() response {
			return []func() response{func() response { return a.remove(ws, a) }, func() response { return b.remove(ws, b) }}
		},
		"each removes the other": func(ws string, a, b *user) []func() response {
			return []func() response{func() response { return a.remove(ws, b) }, func() response { return b.remove(ws, a) }}
		},
		"each demotes the other": func(ws string, a, b *user) []func() response {
			return []func() response{
				func() response { return a.setRole(ws, b, workspace.Viewer) }, func() response { return b.setRole(ws, a, workspace.Viewer) },
			}
		},
		"one leaves, the other is demoted": func(ws string, a, b *user) []func() response {
			return []func() response{func() response { return a.remove(ws, a) }, func() response { return a.setRole(ws, b, workspace.Member) }}
		},
		"one leaves, the other steps down": func(ws string, a, b *user) []func() response {
			return []func() response{func() response { return a.remove(ws, a) }, func() response { return b.setRole(ws, b, workspace.Member) }}
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
				statuses := concurrentStatuses(race(ws, a, b)...)
				if statuses[http.StatusOK] != 1 {
					t.Fatalf("statuses %v", statuses)
				}
				stored := f.snapshot()
				if n := stored.workspaces[ws].Owners; n != 1 {
					t.Fatalf("%d owners, want 1", n)
				}
				a, b = restored(t, stored, ws, a, b)
			}
		})
	}
}

// restored prepares the next round. It returns the remaining owner, and the other user, who is no longer a member.
func restored(t *testing.T, b snapshot, ws string, one, other *user) (owner, outsider *user) {
	t.Helper()
	if b.members[ws+" "+one.id].Role != workspace.Owner {
		one, other = other, one
	}
	if _, stayed := b.members[ws+" "+other.id]; stayed {
		one.remove(ws, other).Want(t, http.StatusOK)
	}
	return one, other
}

func TestMembershipQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuota(3))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	ws := ada.create("1")
	ada.create("2")
	full := ada.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "3"}).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if want := "You have reached the limit of 3 workspaces. Leave a workspace first."; full.Text("error") != want {
		t.Errorf("error %q", full.Text("error"))
	}
	ofGrace := grace.create("G")
	theirs := grace.add(ofGrace, ada, workspace.Member).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if want := "The user has reached the limit of 3 workspaces. The user must leave a workspace first."; theirs.Text("error") != want {
		t.Errorf("error %q", theirs.Text("error"))
	}
	ada.add(ws, grace, workspace.Owner).Want(t, http.StatusCreated)
	ada.add(ws, grace, workspace.Owner).Want(t, http.StatusConflict, fault.CodeConflict) // not the quota error: grace is already a member
	ada.remove(ws, ada).Want(t, http.StatusOK)
	grace.add(ofGrace, ada, workspace.Member).Want(t, http.StatusCreated) // ada is below the limit again
	ada.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "3"}).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)

	alone := newFixture(t, withQuota(1))
	alone.newUser("eve").Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "1"}).Want(t, http.StatusPaymentRequired)
}

// The default limit is 50 workspaces.
func TestDefaultMembershipQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for i := range workspace.MaxMemberships - 1 {
		ada.create(fmt.Sprint(i))
	}
	ada.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "51"}).Want(t, http.StatusPaymentRequired, fault.CodeQuotaExceeded)
	if n := len(ada.workspaces().List("workspaces")); n != 50 {
		t.Errorf("in %d workspaces", n)
	}
}

// The limit holds for concurrent requests that create workspaces and add members.
func TestMembershipQuotaUnderConcurrency(t *testing.T) {
	t.Parallel()
	const places, rivals = 4, 5
	f := newFixture(t, withQuota(1+places))
	ada := f.newUser("ada")
	var all []func() response
	for i := range rivals {
		other := f.newUser(fmt.Sprint("rival", i))
		ws := other.create("Team")
		all = append(all, func() response { return other.add(ws, ada, workspace.Member) }, func() response {
			return ada.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "Mine"})
		})
	}
	statuses := concurrentStatuses(all...)
	// A request with too many conflicts may fail with CONFLICT.
	if n := statuses[http.StatusCreated]; n > places || n+statuses[http.StatusPaymentRequired]+statuses[http.StatusConflict] != 2*rivals {
		t.Errorf("statuses %v", statuses)
	}
	for len(ada.workspaces().List("workspaces")) < 1+places {
		ada.create("More")
	}
	ada.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": "x"}).Want(t, http.StatusPaymentRequired)
}

func TestConcurrentAddAndRemoveOfOneMember(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withQuota(100))
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Admin})
	for range 15 {
		statuses := concurrentStatuses(func() response { return ada.add(ws, eve, workspace.Viewer) }, func() response { return grace.add(ws, eve, workspace.Admin) })
		if statuses[http.StatusCreated] != 1 || statuses[http.StatusConflict] != 1 {
			t.Fatalf("added: %v", statuses)
		}
		statuses = concurrentStatuses(func() response { return ada.remove(ws, eve) }, func() response { return eve.remove(ws, eve) })
		if statuses[http.StatusOK] != 1 || statuses[http.StatusNotFound] != 1 {
			t.Fatalf("removed: %v", statuses)
		}
	}
}

// After concurrent role changes, both copies of the membership have the same role. The audit checks this.
func TestConcurrentRoleChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace, eve := f.newUser("ada"), f.newUser("grace"), f.newUser("eve")
	ws := ada.createTeam(map[*user]workspace.Role{grace: workspace.Owner, eve: workspace.Member})
	for i := range 10 {
		statuses := concurrentStatuses(
			func() response { return ada.setRole(ws, eve, roles[i%4]) }, func() response { return grace.setRole(ws, eve, roles[(i+1)%4]) },
			func() response { return grace.setRole(ws, eve, roles[(i+2)%4]) },
		)
		if statuses[http.StatusOK]+statuses[http.StatusConflict] != 3 || statuses[http.StatusOK] == 0 {
			t.Fatalf("statuses %v", statuses)
		}
	}
}
