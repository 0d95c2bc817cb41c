package workspace_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// changes are every kind of change, each on a world of its own.
var changes = map[string]struct {
	do     func(s *scene) answer
	status int // when nothing is in the way
	events int
}{
	"create":     {func(s *scene) answer { return s.ada.Do(http.MethodPost, "/api/workspaces", `{"name":"x"}`) }, http.StatusCreated, 0},
	"add":        {func(s *scene) answer { return s.ada.add(s.ws, s.fresh, workspace.Member) }, http.StatusCreated, 1},
	"add owner":  {func(s *scene) answer { return s.ada.add(s.ws, s.fresh, workspace.Owner) }, http.StatusCreated, 1},
	"promote":    {func(s *scene) answer { return s.ada.setRole(s.ws, s.grace, workspace.Owner) }, http.StatusOK, 0},
	"remove":     {func(s *scene) answer { return s.ada.remove(s.ws, s.grace) }, http.StatusOK, 1},
	"leave":      {func(s *scene) answer { return s.grace.remove(s.ws, s.grace) }, http.StatusOK, 1},
	"step down":  {func(s *scene) answer { return s.ada.setRole(s.ws, s.ada, workspace.Admin) }, http.StatusOK, 0},
	"owner goes": {func(s *scene) answer { return s.ada.remove(s.ws, s.ada) }, http.StatusOK, 1},
}

// scene is a workspace with two owners, an admin and somebody who is not in it yet.
type scene struct {
	*world
	ada, grace, second, fresh *person
	ws                        string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{world: newWorld(t)}
	s.ada, s.grace, s.second, s.fresh = s.person("ada"), s.person("grace"), s.person("second"), s.person("fresh")
	s.ws = s.ada.team(map[*person]workspace.Role{s.grace: workspace.Admin, s.second: workspace.Owner})
	return s
}

// A lost reply is no failure: the SDK asks again and is told what the first time brought. The change happened once.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			before := len(s.history())
			s.wire.Break("TransactWriteItems", dynamotest.LostReply)
			if a := change.do(s); a.Status != change.status {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
			if s.wire.Hits() != 1 {
				t.Fatal("no reply was lost")
			}
			if got := len(s.history()) - before; got != change.events {
				t.Errorf("%d events", got)
			}
		})
	}
}

// What DynamoDB never took left nothing: no member, no mirror, no count, no event.
func TestRefusedWritesLeaveNothing(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			before, told := s.books(), s.history()
			s.wire.Break("TransactWriteItems", dynamotest.ServerError.Times(dynamotest.Attempts))
			change.do(s).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
			if s.wire.Hits() != dynamotest.Attempts {
				t.Fatalf("refused %d times", s.wire.Hits())
			}
			if diff := cmp.Diff(before, s.books(), cmp.AllowUnexported(books{})); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(told, s.history()); diff != "" {
				t.Error(diff)
			}
			if a := change.do(s); a.Status != change.status {
				t.Errorf("again: %d %s", a.Status, a.Raw)
			}
		})
	}
}

// A change whose reply never arrives is reported as failed and has happened, whole and with its event.
func TestUnansweredWritesAreWhole(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			before, told := s.books(), len(s.history())
			s.wire.Break("TransactWriteItems", dynamotest.LostReplies.Times(dynamotest.Attempts))
			change.do(s).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
			if cmp.Equal(before, s.books(), cmp.AllowUnexported(books{})) {
				t.Error("nothing happened")
			}
			if got := len(s.history()) - told; got != change.events {
				t.Errorf("%d events", got)
			}
		})
	}
}

func TestReadsFailClean(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	told := len(s.history())
	for operation, ask := range map[string]func() answer{
		"Query":        s.ada.workspaces,
		"GetItem":      func() answer { return s.ada.add(s.ws, s.fresh, workspace.Member) },
		"BatchGetItem": func() answer { return s.ada.remove(s.ws, s.grace) },
	} {
		s.wire.Break(operation, dynamotest.ServerError.Times(dynamotest.Attempts))
		ask().Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	}
	s.wire.Break("GetItem", dynamotest.ServerError.Times(dynamotest.Attempts))
	s.ada.members(s.ws).Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	if len(s.history()) != told {
		t.Error("something happened")
	}
}

// A decision is only written while it is true: whoever loses their role between reading and writing has lost it.
func TestStaleDecisions(t *testing.T) {
	t.Parallel()
	type step = func(s *scene) answer
	lower := func(s *scene) answer { return s.second.setRole(s.ws, s.ada, workspace.Viewer) }
	expel := func(s *scene) answer { return s.second.remove(s.ws, s.ada) }
	for name, tc := range map[string]struct {
		first, then step
		status      int
		code        fault.Code
	}{
		"adds, and is an owner no more":       {lower, changes["add"].do, http.StatusForbidden, fault.CodeAccessDenied},
		"adds, and is a member no more":       {expel, changes["add"].do, http.StatusNotFound, fault.CodeWorkspaceNotFound},
		"removes, and is an owner no more":    {lower, changes["remove"].do, http.StatusForbidden, fault.CodeAccessDenied},
		"promotes, and is a member no more":   {expel, changes["promote"].do, http.StatusNotFound, fault.CodeWorkspaceNotFound},
		"steps down, and is an owner no more": {lower, changes["step down"].do, http.StatusForbidden, fault.CodeAccessDenied},
		"leaves, with a lower role":           {lower, changes["owner goes"].do, http.StatusOK, ""},
		"leaves, and was removed":             {expel, changes["owner goes"].do, http.StatusNotFound, fault.CodeWorkspaceNotFound},
		"removes one who has left": {
			func(s *scene) answer { return s.grace.remove(s.ws, s.grace) }, changes["remove"].do, http.StatusNotFound, fault.CodeMemberNotFound,
		},
		"removes one who has risen": {
			func(s *scene) answer { return s.second.setRole(s.ws, s.grace, workspace.Owner) }, changes["remove"].do, http.StatusOK, "",
		},
		"promotes one who has risen": {
			func(s *scene) answer { return s.second.setRole(s.ws, s.grace, workspace.Owner) }, changes["promote"].do, http.StatusOK, "",
		},
		"adds one who was added": {
			func(s *scene) answer { return s.second.add(s.ws, s.fresh, workspace.Viewer) }, changes["add"].do, http.StatusConflict, fault.CodeConflict,
		},
		"leaves, as the other did": {
			func(s *scene) answer { return s.second.remove(s.ws, s.second) }, changes["owner goes"].do, http.StatusConflict, fault.CodeConflict,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
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

// A change that stays stale is given up after 20 attempts, each of one read and one transaction, and has changed nothing.
func TestAlwaysStale(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	turn := 0
	var meet func()
	meet = func() {
		turn++
		s.wire.Mend()
		s.second.setRole(s.ws, s.grace, roles[turn%3+1]).Want(t, http.StatusOK)
		s.wire.Before("TransactWriteItems", meet)
	}
	s.wire.Before("TransactWriteItems", meet)
	a := s.ada.remove(s.ws, s.grace)
	s.wire.Mend()
	if a.Status != http.StatusConflict || a.Calls > 20*2 {
		t.Errorf("%d %s in %d calls", a.Status, a.Raw, a.Calls)
	}
	if _, is := s.books().members[s.ws+" "+s.grace.id]; !is || turn < 3 {
		t.Errorf("removed after %d rounds", turn)
	}
}
