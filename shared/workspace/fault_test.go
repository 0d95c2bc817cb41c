package workspace_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// changes are requests of every kind that change memberships.
var changes = map[string]struct {
	do     func(s *teamFixture) response
	status int // if nothing fails
	events int
}{
	"create":       {func(s *teamFixture) response { return s.ada.Do(http.MethodPost, "/api/workspaces", `{"name":"x"}`) }, http.StatusCreated, 0},
	"add":          {func(s *teamFixture) response { return s.ada.add(s.ws, s.fresh, workspace.Member) }, http.StatusCreated, 1},
	"add owner":    {func(s *teamFixture) response { return s.ada.add(s.ws, s.fresh, workspace.Owner) }, http.StatusCreated, 1},
	"promote":      {func(s *teamFixture) response { return s.ada.setRole(s.ws, s.grace, workspace.Owner) }, http.StatusOK, 0},
	"remove":       {func(s *teamFixture) response { return s.ada.remove(s.ws, s.grace) }, http.StatusOK, 1},
	"leave":        {func(s *teamFixture) response { return s.grace.remove(s.ws, s.grace) }, http.StatusOK, 1},
	"step down":    {func(s *teamFixture) response { return s.ada.setRole(s.ws, s.ada, workspace.Admin) }, http.StatusOK, 0},
	"owner leaves": {func(s *teamFixture) response { return s.ada.remove(s.ws, s.ada) }, http.StatusOK, 1},
}

// teamFixture is a workspace with two owners and an admin, and a user who is not a member.
type teamFixture struct {
	*fixture
	ada, grace, second, fresh *user
	ws                        string
}

func newTeamFixture(t *testing.T) *teamFixture {
	t.Helper()
	s := &teamFixture{fixture: newFixture(t)}
	s.ada, s.grace, s.second, s.fresh = s.newUser("ada"), s.newUser("grace"), s.newUser("second"), s.newUser("fresh")
	s.ws = s.ada.createTeam(map[*user]workspace.Role{s.grace: workspace.Admin, s.second: workspace.Owner})
	return s
}

// If a response is lost, the SDK sends the request again and gets the result of the first one. The change happens once.
func TestLostResponseIsRetried(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTeamFixture(t)
			before := len(s.events())
			s.wire.Break("TransactWriteItems", dynamotest.LostReply)
			if a := change.do(s); a.Status != change.status {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
			if s.wire.Hits() != 1 {
				t.Fatal("no response was lost")
			}
			if got := len(s.events()) - before; got != change.events {
				t.Errorf("%d events", got)
			}
		})
	}
}

// A write that DynamoDB rejects changes nothing: no member, no mirror, no count, no event.
func TestFailedWriteChangesNothing(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTeamFixture(t)
			before, priorEvents := s.snapshot(), s.events()
			s.wire.Break("TransactWriteItems", dynamotest.ServerError.Times(dynamotest.Attempts))
			change.do(s).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
			if s.wire.Hits() != dynamotest.Attempts {
				t.Fatalf("%d failed attempts", s.wire.Hits())
			}
			if diff := cmp.Diff(before, s.snapshot(), cmp.AllowUnexported(snapshot{})); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(priorEvents, s.events()); diff != "" {
				t.Error(diff)
			}
			if a := change.do(s); a.Status != change.status {
				t.Errorf("again: %d %s", a.Status, a.Raw)
			}
		})
	}
}

// If no response ever arrives, the request fails, but the change has been made completely, with its event.
func TestWriteWithoutResponseIsAtomic(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTeamFixture(t)
			before, priorEvents := s.snapshot(), len(s.events())
			s.wire.Break("TransactWriteItems", dynamotest.LostReplies.Times(dynamotest.Attempts))
			change.do(s).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
			if cmp.Equal(before, s.snapshot(), cmp.AllowUnexported(snapshot{})) {
				t.Error("the change was not made")
			}
			if got := len(s.events()) - priorEvents; got != change.events {
				t.Errorf("%d events", got)
			}
		})
	}
}

func TestFailedReadReturnsUnavailable(t *testing.T) {
	t.Parallel()
	s := newTeamFixture(t)
	priorEvents := len(s.events())
	for operation, ask := range map[string]func() response{
		"Query":        s.ada.workspaces,
		"GetItem":      func() response { return s.ada.add(s.ws, s.fresh, workspace.Member) },
		"BatchGetItem": func() response { return s.ada.remove(s.ws, s.grace) },
	} {
		s.wire.Break(operation, dynamotest.ServerError.Times(dynamotest.Attempts))
		ask().Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	}
	s.wire.Break("GetItem", dynamotest.ServerError.Times(dynamotest.Attempts))
	s.ada.members(s.ws).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	if len(s.events()) != priorEvents {
		t.Error("a failed read emitted events")
	}
}

// A change is written only if the decision is still valid: the role of the caller may change between the read and the
// write.
func TestConcurrentRoleAndMemberChanges(t *testing.T) {
	t.Parallel()
	type step = func(s *teamFixture) response
	lower := func(s *teamFixture) response { return s.second.setRole(s.ws, s.ada, workspace.Viewer) }
	expel := func(s *teamFixture) response { return s.second.remove(s.ws, s.ada) }
	for name, tc := range map[string]struct {
		first, then step
		status      int
		code        fault.Code
	}{
		"caller demoted before adding":        {lower, changes["add"].do, http.StatusForbidden, fault.CodeAccessDenied},
		"caller removed before adding":        {expel, changes["add"].do, http.StatusNotFound, fault.CodeWorkspaceNotFound},
		"caller demoted before removing":      {lower, changes["remove"].do, http.StatusForbidden, fault.CodeAccessDenied},
		"caller removed before promoting":     {expel, changes["promote"].do, http.StatusNotFound, fault.CodeWorkspaceNotFound},
		"caller demoted before stepping down": {lower, changes["step down"].do, http.StatusForbidden, fault.CodeAccessDenied},
		"caller demoted before leaving":       {lower, changes["owner leaves"].do, http.StatusOK, ""},
		"caller removed before leaving":       {expel, changes["owner leaves"].do, http.StatusNotFound, fault.CodeWorkspaceNotFound},
		"target left before removal": {
			func(s *teamFixture) response { return s.grace.remove(s.ws, s.grace) }, changes["remove"].do, http.StatusNotFound, fault.CodeMemberNotFound,
		},
		"target promoted before removal": {
			func(s *teamFixture) response { return s.second.setRole(s.ws, s.grace, workspace.Owner) }, changes["remove"].do, http.StatusOK, "",
		},
		"target already promoted": {
			func(s *teamFixture) response { return s.second.setRole(s.ws, s.grace, workspace.Owner) }, changes["promote"].do, http.StatusOK, "",
		},
		"target already added": {
			func(s *teamFixture) response { return s.second.add(s.ws, s.fresh, workspace.Viewer) }, changes["add"].do, http.StatusConflict, fault.CodeConflict,
		},
		"other owner left before leaving": {
			func(s *teamFixture) response { return s.second.remove(s.ws, s.second) }, changes["owner leaves"].do, http.StatusConflict, fault.CodeConflict,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTeamFixture(t)
			s.wire.Before("TransactWriteItems", func() {
				if a := tc.first(s); a.Status >= http.StatusBadRequest {
					t.Errorf("first: %d %s", a.Status, a.Raw)
				}
			})
			a := tc.then(s)
			if a.Status != tc.status || a.Text("code") != string(tc.code) {
				t.Errorf("%d %s, want %d %s", a.Status, a.Raw, tc.status, tc.code)
			}
		})
	}
}

// A change with repeated conflicts fails after 20 attempts, each of one read and one transaction, and changes nothing.
func TestGivesUpAfterRepeatedConflicts(t *testing.T) {
	t.Parallel()
	s := newTeamFixture(t)
	rounds := 0
	var conflict func()
	conflict = func() {
		rounds++
		s.wire.Mend()
		s.second.setRole(s.ws, s.grace, roles[rounds%3+1]).Want(t, http.StatusOK)
		s.wire.Before("TransactWriteItems", conflict)
	}
	s.wire.Before("TransactWriteItems", conflict)
	a := s.ada.remove(s.ws, s.grace)
	s.wire.Mend()
	if a.Status != http.StatusConflict || a.Calls > 20*2 {
		t.Errorf("%d %s in %d calls", a.Status, a.Raw, a.Calls)
	}
	if _, is := s.snapshot().members[s.ws+" "+s.grace.id]; !is || rounds < 3 {
		t.Errorf("removed after %d rounds", rounds)
	}
}
