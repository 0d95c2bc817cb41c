package workspace_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// teamFixture is a workspace with two owners and an admin, and a user who is not a member.
type teamFixture struct {
	*fixture
	owner1, owner2, admin, outsider *user
	ws                              string
}

func newTeamFixture(t *testing.T) *teamFixture {
	t.Helper()
	f := &teamFixture{fixture: newFixture(t)}
	users := f.newUsers("owner1", "owner2", "admin", "outsider")
	f.owner1, f.owner2, f.admin, f.outsider = users[0], users[1], users[2], users[3]
	f.ws = f.owner1.createTeam(map[*user]workspace.Role{f.owner2: workspace.Owner, f.admin: workspace.Admin})
	return f
}

func createWorkspace(f *teamFixture) response { return f.owner1.createWorkspace("New") }
func addOutsider(f *teamFixture) response     { return f.owner1.add(f.ws, f.outsider, workspace.Member) }
func addOwner(f *teamFixture) response        { return f.owner1.add(f.ws, f.outsider, workspace.Owner) }
func promoteAdmin(f *teamFixture) response    { return f.owner1.setRole(f.ws, f.admin, workspace.Owner) }
func removeAdmin(f *teamFixture) response     { return f.owner1.remove(f.ws, f.admin) }
func adminLeaves(f *teamFixture) response     { return f.admin.remove(f.ws, f.admin) }
func ownerStepsDown(f *teamFixture) response {
	return f.owner1.setRole(f.ws, f.owner1, workspace.Admin)
}
func ownerLeaves(f *teamFixture) response { return f.owner1.remove(f.ws, f.owner1) }

// changes contains requests for all kinds of changes of memberships.
var changes = map[string]struct {
	do         func(f *teamFixture) response
	wantStatus int
	wantEvents int
}{
	"create a workspace": {do: createWorkspace, wantStatus: http.StatusCreated, wantEvents: 0},
	"add a member":       {do: addOutsider, wantStatus: http.StatusCreated, wantEvents: 1},
	"add an owner":       {do: addOwner, wantStatus: http.StatusCreated, wantEvents: 1},
	"promote a member":   {do: promoteAdmin, wantStatus: http.StatusOK, wantEvents: 0},
	"remove a member":    {do: removeAdmin, wantStatus: http.StatusOK, wantEvents: 1},
	"leave":              {do: adminLeaves, wantStatus: http.StatusOK, wantEvents: 1},
	"step down as owner": {do: ownerStepsDown, wantStatus: http.StatusOK, wantEvents: 0},
	"leave as owner":     {do: ownerLeaves, wantStatus: http.StatusOK, wantEvents: 1},
}

// A change is stored completely, with both copies of the membership, the counters and its event, or not at all. If a
// response is lost, the SDK sends the request again and gets the result of the first one.
func TestChangesUnderFaults(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		for _, injected := range []dynamotest.Fault{
			dynamotest.LostReply, dynamotest.LostReplies.Times(dynamotest.Attempts),
			dynamotest.ServerError.Times(dynamotest.Attempts),
		} {
			t.Run(name+", "+injected.Name, func(t *testing.T) {
				t.Parallel()
				f := newTeamFixture(t)
				before, eventsBefore := f.snapshot(), len(f.events())
				wantStatus, wantEvents := http.StatusServiceUnavailable, 0
				if injected.Name == dynamotest.LostReply.Name {
					wantStatus = change.wantStatus
				}
				if injected.Executed {
					wantEvents = change.wantEvents
				}
				f.wire.Break("TransactWriteItems", injected)
				if r := change.do(f); r.Status != wantStatus || f.wire.Hits() != injected.Calls {
					t.Errorf("got %d %s after %d faults, want status %d after %d",
						r.Status, r.Raw, f.wire.Hits(), wantStatus, injected.Calls)
				}
				isStored := !cmp.Equal(before, f.snapshot(), cmp.AllowUnexported(snapshot{}))
				if n := len(f.events()) - eventsBefore; isStored != injected.Executed || n != wantEvents {
					t.Errorf("stored: %v, with %d events; want %v, with %d", isStored, n, injected.Executed, wantEvents)
				}
			})
		}
	}
}

func TestFailedReadReturnsUnavailable(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	eventsBefore := len(f.events())
	for operation, request := range map[string]func() response{
		"Query":        f.owner1.workspaces,
		"BatchGetItem": func() response { return removeAdmin(f) },
	} {
		f.wire.Break(operation, dynamotest.ServerError.Times(dynamotest.Attempts))
		request().Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	}
	f.wire.Break("BatchGetItem", dynamotest.ServerError.Times(dynamotest.Attempts))
	f.owner1.members(f.ws).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	if len(f.events()) != eventsBefore {
		t.Error("a failed read emitted events")
	}
}

// Each case makes a change between the read and the write of a request. The service must then read the memberships and
// check the rules again.
func TestConcurrentRoleAndMemberChanges(t *testing.T) {
	t.Parallel()
	demoteCaller := func(f *teamFixture) response { return f.owner2.setRole(f.ws, f.owner1, workspace.Viewer) }
	removeCaller := func(f *teamFixture) response { return f.owner2.remove(f.ws, f.owner1) }
	promoteTarget := func(f *teamFixture) response { return f.owner2.setRole(f.ws, f.admin, workspace.Owner) }
	addTarget := func(f *teamFixture) response { return f.owner2.add(f.ws, f.outsider, workspace.Viewer) }
	otherOwnerLeaves := func(f *teamFixture) response { return f.owner2.remove(f.ws, f.owner2) }
	for name, tc := range map[string]struct {
		between, request func(*teamFixture) response
		wantStatus       int
		wantCode         fault.Code
	}{
		"caller demoted before adding": {
			demoteCaller, addOutsider, http.StatusForbidden, fault.CodeAccessDenied,
		},
		"caller removed before adding": {
			removeCaller, addOutsider, http.StatusNotFound, fault.CodeWorkspaceNotFound,
		},
		"caller demoted before removing": {
			demoteCaller, removeAdmin, http.StatusForbidden, fault.CodeAccessDenied,
		},
		"caller removed before promoting": {
			removeCaller, promoteAdmin, http.StatusNotFound, fault.CodeWorkspaceNotFound,
		},
		"caller demoted before stepping down": {
			demoteCaller, ownerStepsDown, http.StatusForbidden, fault.CodeAccessDenied,
		},
		"caller demoted before leaving": {
			demoteCaller, ownerLeaves, http.StatusOK, "",
		},
		"caller removed before leaving": {
			removeCaller, ownerLeaves, http.StatusNotFound, fault.CodeWorkspaceNotFound,
		},
		"target left before removal": {
			adminLeaves, removeAdmin, http.StatusNotFound, fault.CodeMemberNotFound,
		},
		"target promoted before removal": {
			promoteTarget, removeAdmin, http.StatusOK, "",
		},
		"target already promoted": {
			promoteTarget, promoteAdmin, http.StatusOK, "",
		},
		"target already added": {
			addTarget, addOutsider, http.StatusConflict, fault.CodeConflict,
		},
		"other owner left before the caller leaves": {
			otherOwnerLeaves, ownerLeaves, http.StatusConflict, fault.CodeConflict,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTeamFixture(t)
			f.wire.Before("TransactWriteItems", func() {
				if r := tc.between(f); r.Status >= http.StatusBadRequest {
					t.Errorf("change between read and write: got %d %s, want success", r.Status, r.Raw)
				}
			})
			r := tc.request(f)
			if r.Status != tc.wantStatus || r.Text("code") != string(tc.wantCode) {
				t.Errorf("got %d %s, want %d %s", r.Status, r.Raw, tc.wantStatus, tc.wantCode)
			}
		})
	}
}

// A change with repeated conflicts fails after 20 attempts, each of at most three reads and one transaction. It changes
// nothing.
func TestGivesUpAfterRepeatedConflicts(t *testing.T) {
	t.Parallel()
	f := newTeamFixture(t)
	conflicts := 0
	var conflict func()
	conflict = func() {
		conflicts++
		f.wire.Clear()
		f.owner2.setRole(f.ws, f.admin, roles[conflicts%3+1]).Want(t, http.StatusOK)
		f.wire.Before("TransactWriteItems", conflict)
	}
	f.wire.Before("TransactWriteItems", conflict)
	r := removeAdmin(f)
	f.wire.Clear()
	if r.Status != http.StatusConflict || r.Calls > 20*4 {
		t.Errorf("got %d %s after %d calls, want status 409 after at most 80 calls", r.Status, r.Raw, r.Calls)
	}
	if _, isMember := f.snapshot().members[f.ws+" "+f.admin.id]; !isMember || conflicts < 3 {
		t.Errorf("after %d conflicts, the target is a member: %v; want true after at least 3 conflicts", conflicts, isMember)
	}
}
