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

func TestCutOffAnswerIsNotApplied(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse("Two files.").
		withCall("1", "create_file", `{"path":"/a","content":""}`).withOutcome(cutOffOutcome))
	got := ada.chat(projectID, "Make both.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != false || len(got.List("actions")) != 1 ||
		!strings.Contains(got.Text("response"), "cut off here") {
		t.Errorf("got %s, want one action that was not applied, and a note that the answer was cut off", got.Raw)
	}
	ada.checkInterrupted(projectID)
	ada.checkNoFiles(projectID)

	f.model.enqueue(model.TaskGenerate, newResponse("```js\nlet a").withOutcome(cutOffOutcome))
	got = ada.generate("One.").Want(t, http.StatusOK)
	if got.Text("explanation") != "> "+cutOff || got.Text("code") != "let a\n" {
		t.Errorf("got %s, want the incomplete code and a note that the answer was cut off", got.Raw)
	}
}

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
		time.AfterFunc(700*time.Millisecond, wire.Clear)
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

// If the current file has the maximum size, the prompt still contains the files that the message names.
func TestPromptWithLargeCurrentFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/one.js", strings.Repeat("x", 1<<20))
	ada.createFile(projectID, "/a.ts", "export {}\n")
	ada.chat(projectID, "Change /a.ts", "context", object{"currentFile": "/one.js"}).Want(t, http.StatusOK)
	if files := f.model.requests()[0].Subject.Files; len(files) != 2 || files[1].Path != "/a.ts" {
		t.Errorf("got %d files in the prompt, want /one.js and /a.ts", len(files))
	}
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
		{reported: model.Usage{Input: 1 << 40, Output: 1 << 40}, want: model.Usage{Input: 8096, Output: 5106}},
	} {
		if got := plausibleUsage(tc.reported, request, 10); got != tc.want {
			t.Errorf("plausibleUsage(%+v): got %+v, want %+v", tc.reported, got, tc.want)
		}
	}
}
