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
	"devplatform/shared/project"
)

// cut is the outcome of an answer that reached the maximum length.
var cut = model.Outcome{Stop: model.StopLength, Model: "script-1", Usage: scriptUsage}

// An incomplete answer is not applied.
func TestCutOffAnswerIsNotApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says("Two files.").calling("1", "create_file", `{"path":"/a","content":""}`).ending(cut))
	got := ada.chat(projectID, "Make both.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != false || len(got.List("actions")) != 1 || !strings.Contains(got.Text("response"), "cut off here") {
		t.Errorf("%s", got.Raw)
	}
	if messages := ada.history(projectID); messages[1]["status"] != "interrupted" {
		t.Errorf("%v", messages[1])
	}
	if got := ada.Get("/api/projects/"+projectID+"/files").Want(t, http.StatusOK); len(got.List("files")) != 0 {
		t.Error("the answer was applied")
	}
	w.model.play(model.TaskGenerate, says("```js\nlet a").ending(cut))
	if got := ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "One."}).Want(t, http.StatusOK); got.Text("explanation") != "> "+cutOff || got.Text("code") != "let a\n" {
		t.Errorf("%s", got.Raw)
	}
}

// An accepted cancellation takes effect even if the model finishes before the next poll.
func TestCancelAfterLastPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CancelPoll, l.GlobalMonthlyTokens = time.Hour, 1<<40 }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says("Done.").calling("1", "create_file", `{"path":"/a","content":""}`).doing(func() {
		for key := range w.dump(w.names.conversations) {
			if id, ok := strings.CutPrefix(key.SK, "GENERATION#"); ok {
				ada.Do(http.MethodPost, "/api/ai/messages/"+id+"/cancel", nil).Want(t, http.StatusAccepted)
			}
		}
	}))
	if got := ada.chat(projectID, "Make it.", "apply", true).Want(t, http.StatusOK); got.Body["applied"] != false {
		t.Errorf("%s", got.Raw)
	}
	if messages := ada.history(projectID); len(messages) != 2 || messages[1]["status"] != "interrupted" {
		t.Errorf("%v", messages)
	}
	if got := ada.Get("/api/ai/usage").Want(t, http.StatusOK); got.Body["inputTokens"] != 100.0 || got.Body["reservedTokens"] != 0.0 {
		t.Errorf("%s", got.Raw)
	}
}

// A complete answer is stored when storage is available again.
func TestAnswerIsStoredAfterOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	wire := w.interpose(nil)
	w.model.play(model.TaskChat, says("Here.").doing(func() {
		wire.Break("TransactWriteItems", dynamotest.ServerError)
		time.AfterFunc(700*time.Millisecond, wire.Mend)
	}))
	if got := ada.chat(projectID, "Where?").Want(t, http.StatusOK); got.Text("response") != "Here." {
		t.Errorf("%s", got.Raw)
	}
	if messages := ada.history(projectID); len(messages) != 2 {
		t.Errorf("%v", messages)
	}
}

// A question is stored even if the model never answered it.
func TestUnansweredQuestionIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.Silence = 30 * time.Millisecond }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says().waiting(make(chan struct{})))
	ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	if messages := ada.history(projectID); len(messages) != 2 || messages[0]["content"] != "Hello?" || messages[1]["status"] != "interrupted" || messages[1]["content"] != "" {
		t.Errorf("%v", messages)
	}
}

// The largest current file leaves room for files that the message names.
func TestLargeCurrentFileLeavesRoomForNamedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/one.js", strings.Repeat("x", 1<<20))
	ada.file(projectID, "/a.ts", "export {}\n")
	ada.chat(projectID, "Change /a.ts", "context", object{"currentFile": "/one.js"}).Want(t, http.StatusOK)
	if files := w.model.requests()[0].Facts.Files; len(files) != 2 || files[1].Path != "/a.ts" {
		t.Errorf("%d files", len(files))
	}
}

func TestWhyNotApplied(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"It is not known whether the changes were applied":                             db.ErrUnavailable,
		"The changes were not applied: some of these files were changed":               fault.New(fault.CodePreconditionFailed, "operations[0]: If-Match"),
		"The changes were not applied: The quota of files is used up.":                 fault.New(fault.CodeQuotaExceeded, "The quota of files is used up."),
		"The changes were not applied: Something went wrong on our side. Please try a": errors.New("a bug"),
	} {
		if got := notAppliedNote(err); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// The usage that a provider reports is bounded by what is possible.
func TestPlausibleUsage(t *testing.T) {
	t.Parallel()
	request := model.Request{Messages: []model.Message{{Role: model.User, Text: strings.Repeat("x", 4000)}}, MaxOutput: 1000}
	for reported, want := range map[model.Usage]model.Usage{
		{Input: 1500, Output: 900}:        {Input: 1500, Output: 900},
		{Input: -5, Output: -1}:           {},
		{Input: 1 << 40, Output: 1 << 40}: {Input: 8096, Output: 5106},
	} {
		if got := plausibleUsage(reported, request, 10); got != want {
			t.Errorf("%+v became %+v, want %+v", reported, got, want)
		}
	}
}
