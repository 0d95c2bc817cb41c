package assistant

import (
	"net/http"
	"testing"
	"time"

	"devplatform/infra/operator/operatortest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/workspace"
)

// operator returns an operator, and stores the accounts of the users. Their sessions do not end.
func (f *fixture) operator(users ...*user) operatortest.Operator {
	f.t.Helper()
	names := map[string]string{}
	for _, u := range users {
		names[u.id] = u.name
	}
	return operatortest.NewBeside(f.t, f.sdk, f.tables.projects, f.clock.Now, names)
}

// The answers in progress of a suspended user end, and change no file.
func TestAnswerOfASuspendedUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CancelPoll = 10 * time.Millisecond }))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse("Once upon").
		withCall("1", "create_file", `{"path":"/a","content":""}`).
		withWait(make(chan struct{})).withText(" a time"))
	s := ada.openStream(projectID, "Write a story.", true)
	s.skipTo("data-action")
	o := f.operator(ada, grace)
	o.MustSuspend(ada.id)
	end := s.rest()
	checkTypes(t, end, "data-result finish [DONE]")
	if end[0].data()["applied"] != false {
		t.Errorf("got the result %v, want applied to be false", end[0])
	}
	o.MustLift(ada.id)
	ada.checkInterrupted(projectID)
}

// If a user, or the only owner of the workspace, is suspended after the last poll, the answer changes no file either.
func TestSuspensionAfterTheLastPoll(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CancelPoll = time.Hour }))
	ada, grace := f.newUser("ada"), f.newUser("grace")
	o := f.operator(ada, grace)
	team := f.newWorkspace(map[*user]workspace.Role{ada: workspace.Owner, grace: workspace.Member})
	projectID := ada.newProjectIn(team, workspace.Team)
	for name, suspended := range map[string]*user{"the user": grace, "the owner": ada} {
		f.model.enqueue(model.TaskChat, newResponse("Done.").
			withCall("1", "create_file", `{"path":"/a","content":""}`).withFunc(func() { o.MustSuspend(suspended.id) }))
		got := grace.chat(projectID, "Make it.", "apply", true).Want(t, http.StatusOK)
		if got.Body["applied"] != false {
			t.Errorf("%s: got %s, want applied to be false", name, got.Raw)
		}
		o.MustLift(suspended.id)
	}
}
