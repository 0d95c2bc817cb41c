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
	invitation, offer               string // IDs of invitations by owner1: of outsider, and of admin to become an owner
}

func newTeamFixture(t *testing.T) *teamFixture {
	t.Helper()
	f := &teamFixture{fixture: newFixture(t)}
	users := f.newUsers("owner1", "owner2", "admin", "outsider")
	f.owner1, f.owner2, f.admin, f.outsider = users[0], users[1], users[2], users[3]
	f.ws = f.owner1.createTeam(map[*user]workspace.Role{f.owner2: workspace.Owner, f.admin: workspace.Admin})
	f.invitation = f.owner1.invite(f.ws, f.outsider, workspace.Member).Want(t, http.StatusCreated).Text("id")
	f.offer = f.owner1.offer(f.ws, f.admin)
	return f
}

func createWorkspace(f *teamFixture) response { return f.owner1.createWorkspace("New") }
func inviteEve(f *teamFixture) response {
	return f.owner1.invite(f.ws, f.newUser("eve"), workspace.Admin)
}
func changeInvitation(f *teamFixture) response {
	return f.owner1.invite(f.ws, f.outsider, workspace.Admin)
}
func inviteAddress(f *teamFixture) response {
	return f.owner1.inviteAddress(f.ws, "new@example.com", workspace.Member)
}
func acceptInvitation(f *teamFixture) response { return f.outsider.accept(f.invitation) }
func acceptOffer(f *teamFixture) response      { return f.admin.accept(f.offer) }
func decline(f *teamFixture) response {
	return f.outsider.Do(http.MethodPost, "/api/invitations/"+f.invitation+"/decline", nil)
}
func revoke(f *teamFixture) response {
	return f.owner1.Do(http.MethodDelete, "/api/workspaces/"+f.ws+"/invitations/"+f.invitation, nil)
}
func rename(f *teamFixture) response {
	return f.owner1.Do(http.MethodPut, "/api/workspaces/"+f.ws, map[string]string{"name": "New"})
}
func deleteTeam(f *teamFixture) response    { return f.owner1.delete(f.ws, "Team") }
func deleteByOther(f *teamFixture) response { return f.owner2.delete(f.ws, "Team") }
func demoteAdmin(f *teamFixture) response   { return f.owner1.setRole(f.ws, f.admin, workspace.Viewer) }
func removeAdmin(f *teamFixture) response   { return f.owner1.remove(f.ws, f.admin) }
func adminLeaves(f *teamFixture) response   { return f.admin.remove(f.ws, f.admin) }
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
	"rename":             {do: rename, wantStatus: http.StatusOK, wantEvents: 0},
	"invite":             {do: changeInvitation, wantStatus: http.StatusCreated, wantEvents: 0},
	"invite an address":  {do: inviteAddress, wantStatus: http.StatusCreated, wantEvents: 0},
	"revoke":             {do: revoke, wantStatus: http.StatusOK, wantEvents: 0},
	"decline":            {do: decline, wantStatus: http.StatusOK, wantEvents: 0},
	"accept":             {do: acceptInvitation, wantStatus: http.StatusOK, wantEvents: 1},
	"accept ownership":   {do: acceptOffer, wantStatus: http.StatusOK, wantEvents: 0},
	"demote a member":    {do: demoteAdmin, wantStatus: http.StatusOK, wantEvents: 0},
	"remove a member":    {do: removeAdmin, wantStatus: http.StatusOK, wantEvents: 1},
	"leave":              {do: adminLeaves, wantStatus: http.StatusOK, wantEvents: 1},
	"step down as owner": {do: ownerStepsDown, wantStatus: http.StatusOK, wantEvents: 0},
	"leave as owner":     {do: ownerLeaves, wantStatus: http.StatusOK, wantEvents: 1},
	"delete":             {do: deleteTeam, wantStatus: http.StatusAccepted, wantEvents: 0},
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
	otherInvites := func(f *teamFixture) response { return f.owner2.invite(f.ws, f.newUser("eve"), workspace.Admin) }
	demoteOther := func(f *teamFixture) response { return f.owner1.setRole(f.ws, f.owner2, workspace.Member) }
	otherOwnerLeaves := func(f *teamFixture) response { return f.owner2.remove(f.ws, f.owner2) }
	replaceCaller := func(f *teamFixture) response { // the numbers of owners and members stay the same
		acceptOffer(f)
		return demoteCaller(f)
	}
	const denied, gone, ended = fault.CodeAccessDenied, fault.CodeWorkspaceNotFound, fault.CodeInvitationNotFound
	for name, tc := range map[string]struct {
		between, request func(*teamFixture) response
		want             fault.Code // "" for success
	}{
		"caller demoted before inviting":                      {demoteCaller, inviteEve, denied},
		"caller removed before inviting":                      {removeCaller, inviteEve, gone},
		"caller demoted before revoking":                      {demoteCaller, revoke, denied},
		"caller demoted before renaming":                      {demoteCaller, rename, denied},
		"inviter demoted before acceptance":                   {demoteCaller, acceptInvitation, ended},
		"inviter removed before acceptance":                   {removeCaller, acceptInvitation, ended},
		"inviter stepped down before acceptance of ownership": {ownerStepsDown, acceptOffer, ended},
		"inviter stepped down before acceptance":              {ownerStepsDown, acceptInvitation, ""},
		"revoked before acceptance":                           {revoke, acceptInvitation, ended},
		"declined before acceptance":                          {decline, acceptInvitation, ended},
		"accepted before acceptance":                          {acceptInvitation, acceptInvitation, ended},
		"accepted before revocation":                          {acceptInvitation, revoke, ended},
		"role changed before acceptance":                      {changeInvitation, acceptInvitation, ""},
		"member left before acceptance of ownership":          {adminLeaves, acceptOffer, ended},
		"member demoted before acceptance of ownership":       {demoteAdmin, acceptOffer, ""},
		"invitation before inviter leaves":                    {otherInvites, otherOwnerLeaves, ""},
		"invitation before inviter is demoted":                {otherInvites, demoteOther, ""},
		"joined before invitation":                            {acceptInvitation, changeInvitation, fault.CodeConflict},
		"caller demoted before deletion":                      {demoteCaller, deleteTeam, denied},
		"caller removed before deletion":                      {removeCaller, deleteTeam, gone},
		"caller replaced before deletion":                     {replaceCaller, deleteTeam, denied},
		"renamed before deletion":                             {rename, deleteTeam, fault.CodeValidationFailed},
		"joined before deletion":                              {acceptInvitation, deleteTeam, ""},
		"left before deletion":                                {otherOwnerLeaves, deleteTeam, ""},
		"deleted before deletion":                             {deleteByOther, deleteTeam, gone},
		"deleted before inviting":                             {deleteByOther, inviteEve, gone},
		"deleted before acceptance":                           {deleteByOther, acceptInvitation, ended},
		"deleted before acceptance of ownership":              {deleteByOther, acceptOffer, ended},
		"deleted before leaving":                              {deleteByOther, adminLeaves, gone},
		"deleted before renaming":                             {deleteByOther, rename, gone},
		"caller demoted before removing":                      {demoteCaller, removeAdmin, denied},
		"caller removed before demoting":                      {removeCaller, demoteAdmin, gone},
		"caller demoted before stepping down":                 {demoteCaller, ownerStepsDown, denied},
		"caller demoted before leaving":                       {demoteCaller, ownerLeaves, ""},
		"caller removed before leaving":                       {removeCaller, ownerLeaves, gone},
		"target left before removal":                          {adminLeaves, removeAdmin, fault.CodeMemberNotFound},
		"target promoted before removal":                      {acceptOffer, removeAdmin, ""},
		"other owner left before the caller leaves":           {otherOwnerLeaves, ownerLeaves, fault.CodeConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTeamFixture(t)
			f.wire.Before("TransactWriteItems", func() {
				if r := tc.between(f); r.Status >= http.StatusBadRequest {
					t.Errorf("change between read and write: got %d %s, want success", r.Status, r.Raw)
				}
			})
			if r := tc.request(f); r.Text("code") != string(tc.want) || tc.want == "" && r.Status >= http.StatusBadRequest {
				t.Errorf("got %d %s, want the code %q", r.Status, r.Raw, tc.want)
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
