package assistant

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// cutOffOutcome is the outcome of an answer that reached the maximum length.
var cutOffOutcome = model.Outcome{Stop: model.StopLength, Model: "fake-model", Usage: fakeUsage}

// cancelAll cancels all answers in progress. It assumes that all of them belong to u.
func (u *user) cancelAll() {
	u.f.t.Helper()
	for key := range u.f.items(u.f.tables.conversations) {
		if messageID, ok := strings.CutPrefix(key.SK, "GENERATION#"); ok {
			u.Do(http.MethodPost, cancelURL(messageID), nil).Want(u.f.t, http.StatusAccepted)
		}
	}
}

// A cancellation takes effect even if the model finishes before the next poll.
func TestCancelAfterLastPoll(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CancelPoll = time.Hour }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse("Done.").
		withCall("1", "create_file", `{"path":"/a","content":""}`).withFunc(ada.cancelAll))
	got := ada.chat(projectID, "Make it.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != false {
		t.Errorf("got %s, want applied to be false", got.Raw)
	}
	ada.checkInterrupted(projectID)
	usage := ada.Get(usageURL).Want(t, http.StatusOK)
	if usage.Body["inputTokens"] != 100.0 || usage.Body["reservedTokens"] != 0.0 {
		t.Errorf("got usage %s, want 100 input tokens and no reserved tokens", usage.Raw)
	}
}

// If storage is unavailable when an answer ends, the answer is stored once storage is available again.
func TestAnswerIsStoredAfterOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	wire := f.startWire()
	f.model.enqueue(model.TaskChat, newResponse("Here.").withFunc(func() {
		wire.Break("TransactWriteItems", dynamotest.ServerError)
		time.AfterFunc(700*time.Millisecond, wire.Clear) // after the first retry of store
	}))
	if got := ada.chat(projectID, "Where?").Want(t, http.StatusOK).Text("response"); got != "Here." {
		t.Errorf("got response %q, want %q", got, "Here.")
	}
	if messages := ada.messages(projectID); len(messages) != 2 {
		t.Errorf("got messages %v, want one turn", messages)
	}
}

func TestUnansweredQuestionIsStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.Silence = 30 * time.Millisecond }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse().withWait(make(chan struct{})))
	ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	ada.checkInterrupted(projectID)
	ada.checkConversation(projectID, "Hello?", "")
}

func TestNotAppliedNote(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err        error
		wantPrefix string
	}{
		{
			err:        db.ErrUnavailable,
			wantPrefix: "It is not known whether the changes were applied",
		},
		{
			err:        fault.New(fault.CodePreconditionFailed, "operations[0]: If-Match"),
			wantPrefix: "The changes were not applied: some of these files were changed",
		},
		{
			err:        fault.New(fault.CodeQuotaExceeded, "The quota of files is used up."),
			wantPrefix: "The changes were not applied: The quota of files is used up.",
		},
		{
			err:        errors.New("an internal error"),
			wantPrefix: "The changes were not applied: " + fault.ErrInternal.Message,
		},
	} {
		if got := notAppliedNote(tc.err); !strings.HasPrefix(got, tc.wantPrefix) {
			t.Errorf("note for error %q: got %q, want the prefix %q", tc.err, got, tc.wantPrefix)
		}
	}
}

func TestPlausibleUsage(t *testing.T) {
	t.Parallel()
	request := model.Request{
		Messages:  []model.Message{{Role: model.User, Text: strings.Repeat("x", 4000)}},
		MaxOutput: 1000,
	}
	for _, tc := range []struct{ reported, want model.Usage }{
		{reported: model.Usage{Input: 1500, Output: 900}, want: model.Usage{Input: 1500, Output: 900}},
		{reported: model.Usage{Input: -5, Output: -1}, want: model.Usage{}},
		{ // the bytes of the request, and MaxOutput with the 10 received bytes, each with 4096 tokens for the format
			reported: model.Usage{Input: 1 << 40, Output: 1 << 40},
			want:     model.Usage{Input: 4000 + 4096, Output: 1000 + 10 + 4096},
		},
	} {
		if got := plausibleUsage(tc.reported, request, 10); got != tc.want {
			t.Errorf("plausibleUsage(%+v): got %+v, want %+v", tc.reported, got, tc.want)
		}
	}
}

// If a file is changed while the answer is generated, the change is not overwritten, and the answer is still returned.
func TestAnswerIsReturnedIfApplyFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/a.ts", "old\n")
	updateFile := func() {
		ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files", object{"path": "/a.ts", "content": "new\n"}).
			Want(t, http.StatusOK)
	}
	f.model.enqueue(model.TaskChat, newResponse("Done.").
		withCall("1", "update_file", `{"path":"/a.ts","content":"from the model\n"}`).
		withFunc(updateFile))
	got := ada.chat(projectID, "Change a.ts.", "apply", true).Want(t, http.StatusOK)
	const wantText = "Done.\n\n> The changes were not applied: some of these files were changed"
	if got.Body["applied"] != false || len(got.List("actions")) != 1 || !strings.Contains(got.Text("response"), wantText) {
		t.Errorf("got %s, want one action that was not applied, and the text %q", got.Raw, wantText)
	}
	ada.checkFile(projectID, "/a.ts", "new\n")
	if stored := ada.messages(projectID)[1]["content"]; stored != got.Text("response") {
		t.Errorf("got stored answer %q, want %q", stored, got.Text("response"))
	}
}

func TestCancelDuringRepair(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CancelPoll = 10 * time.Millisecond }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	first := newResponse("Two changes.").
		withCall("1", "create_file", `{"path":"/a","content":""}`).
		withCall("2", "delete_file", `{"path":"/missing"}`)
	repair := newResponse("").withFunc(ada.cancelAll).withWait(make(chan struct{}))
	f.model.enqueue(model.TaskChat, first, repair)
	got := ada.chat(projectID, "Change it.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != false {
		t.Errorf("got %s, want applied to be false", got.Raw)
	}
	ada.checkInterrupted(projectID)
	ada.checkNoFiles(projectID)
}
