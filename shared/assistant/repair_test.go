package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
	"devplatform/shared/project"
)

// A repair is matched with the failures by path and tool, not by the IDs of the calls.
func TestRepairs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second scene
		remaining     []string // failures
	}{
		"one of two failures with the same path": {
			says("Both.").calling("1", "edit_file", `{"path":"/a","search":"x","replace":"y"}`).calling("2", "edit_file", `{"path":"/a","search":"z","replace":"y"}`),
			says("").calling("1", "edit_file", `{"path":"/a","search":"a1","replace":"y"}`).calling("2", "edit_file", `{"path":"/a","search":"still not","replace":"y"}`),
			[]string{"`edit_file /a`"},
		},
		"both failures with the same path": {
			says("Both.").calling("1", "edit_file", `{"path":"/a","search":"x","replace":"y"}`).calling("2", "edit_file", `{"path":"/a","search":"z","replace":"y"}`),
			says("").calling("1", "edit_file", `{"path":"/a","search":"a1","replace":"y"}`).calling("2", "edit_file", `{"path":"/a","search":"a2","replace":"y"}`),
			nil,
		},
		"with another tool": {
			says("Both.").calling("1", "create_file", `{"path":"/a","content":"new"}`),
			says("").calling("1", "update_file", `{"path":"/a","content":"new"}`),
			nil,
		},
		"input that was cut off": {
			says("Both.").calling("1", "create_file", `{"path":"/n","content":"ne`).calling("2", "create_file", `{"path":"/m","content":"`),
			says("").calling("1", "create_file", `{"path":"/n","content":"new"}`),
			[]string{"`create_file`"},
		},
		"new failure": {
			says("Both.").calling("1", "delete_file", `{"path":"/none"}`),
			says("").calling("1", "delete_file", `{"path":"/nor/this"}`),
			[]string{"`delete_file /none`", "`delete_file /nor/this`"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.user("ada")
			projectID := ada.project("", project.Private)
			ada.file(projectID, "/a", "a1 a2\n")
			w.model.play(model.TaskChat, c.first, c.second)
			response := ada.chat(projectID, "Change it.").Want(t, http.StatusOK).Text("response")
			if n := strings.Count(response, "Left out"); n != len(c.remaining) {
				t.Errorf("%q", response)
			}
			for _, call := range c.remaining {
				if !strings.Contains(response, "Left out: "+call) {
					t.Errorf("no note about %s: %q", call, response)
				}
			}
		})
	}
}

// An answer can be cancelled during its repair.
func TestCancelDuringRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CancelPoll = 10 * time.Millisecond }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says("Two.").calling("1", "create_file", `{"path":"/a","content":""}`).calling("2", "delete_file", `{"path":"/none"}`),
		says("").doing(func() {
			for key := range w.dump(w.names.conversations) {
				if id, ok := strings.CutPrefix(key.SK, "GENERATION#"); ok {
					ada.Do(http.MethodPost, "/api/ai/messages/"+id+"/cancel", nil).Want(t, http.StatusAccepted)
				}
			}
		}).waiting(make(chan struct{})))
	if got := ada.chat(projectID, "Change it.", "apply", true).Want(t, http.StatusOK); got.Body["applied"] != false {
		t.Errorf("%s", got.Raw)
	}
	if messages := ada.history(projectID); messages[1]["status"] != "interrupted" {
		t.Errorf("%v", messages)
	}
	if got := ada.Get("/api/projects/"+projectID+"/files").Want(t, http.StatusOK); len(got.List("files")) != 0 {
		t.Error("the cancelled answer was applied")
	}
}

// Calls of tools that were not offered are ignored.
func TestGenerateIgnoresCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	w.model.play(model.TaskGenerate, says("```js\n1\n```").calling("1", "create_file", `{"path":"/a","content":""}`), says().calling("1", "create_file", `{}`))
	if got := ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "One."}).Want(t, http.StatusOK); got.Text("code") != "1\n" {
		t.Errorf("%s", got.Raw)
	}
	ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "One."}).Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
}

// An answer with too many calls is cut off, like an answer with too much text.
func TestTooManyCallsAreCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	endless := says("All.")
	for i := range 10 * maxCalls {
		endless = endless.calling(fmt.Sprint(i), "delete_file", `{"path":"/none"}`)
	}
	w.model.play(model.TaskChat, endless, endless)
	response := ada.chat(projectID, "Delete all.").Want(t, http.StatusOK).Text("response")
	if n := strings.Count(response, "Left out"); n > 2*maxCalls || n < maxCalls {
		t.Errorf("%d calls were left out", n)
	}
}

func TestBlankAnswerIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says(" \n"))
	ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	if messages := ada.history(projectID); len(messages) != 0 {
		t.Errorf("%v", messages)
	}
}

// The tokens that the model has read are counted even if it never answers.
func TestUsageOfASilentModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.Silence = 300 * time.Millisecond }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says().waiting(make(chan struct{})).ending(model.Outcome{}))
	ada.chat(projectID, strings.Repeat("word ", 4000)).Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	if used, _ := ada.Get("/api/ai/usage").Want(t, http.StatusOK).Body["inputTokens"].(float64); used < 5000 {
		t.Errorf("%v tokens", used)
	}
	// A model that is thinking is not silent, however long it takes in total.
	thinking := says()
	for i := range 10 {
		thinking = thinking.with(step{wait: after(time.Duration(i+1) * 50 * time.Millisecond)}, step{part: model.Part{Kind: model.Thinking}})
	}
	w.model.play(model.TaskChat, thinking.saying("Thought."))
	if got := ada.chat(projectID, "Hm?").Want(t, http.StatusOK); got.Text("response") != "Thought." {
		t.Errorf("%s", got.Raw)
	}
}

func after(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}

// A summary that hangs, panics or fails does not affect the answer.
func TestFailingSummaries(t *testing.T) {
	t.Parallel()
	down := &model.Error{Fault: model.Unavailable, Cause: errors.New("down")}
	for name, c := range map[string]struct {
		summary scene
		chat    scene
		status  int
	}{
		"hangs":                     {says("They").waiting(make(chan struct{})), says("Fine."), http.StatusOK},
		"hangs, and the chat fails": {says("They").waiting(make(chan struct{})), says().failing(down), http.StatusServiceUnavailable},
		"panics":                    {says("They").doing(func() { panic("a bug") }), says("Fine."), http.StatusOK},
		"is cut off in the middle":  {says("They").failing(down), says("Fine."), http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summaryWait := 20 * time.Millisecond
			if c.status != http.StatusOK {
				summaryWait = time.Hour // a failed answer does not wait
			}
			w := newWorld(t, withLimits(func(l *Limits) { l.SummaryWait = summaryWait }))
			ada := w.user("ada")
			projectID := ada.project("", project.Private)
			for range summaryTurns {
				ada.chat(projectID, "Question").Want(t, http.StatusOK)
			}
			w.model.play(model.TaskSummarize, c.summary)
			w.model.play(model.TaskChat, c.chat)
			ada.chat(projectID, "Another.").Want(t, c.status)
			ada.chat(projectID, "And one more.").Want(t, http.StatusOK)
			asked := w.model.requests()
			if last := asked[len(asked)-1]; last.Facts.Summary != "" {
				t.Errorf("the prompt has the summary %q", last.Facts.Summary)
			}
		})
	}
}

// If too few tokens are left, no summary is generated, and no more tokens are used than were left.
func TestNoSummaryWithoutTokens(t *testing.T) {
	t.Parallel()
	const limit = 26_000
	w := newWorld(t, withLimits(func(l *Limits) { l.MonthlyTokens = limit }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	for range summaryTurns {
		w.model.play(model.TaskChat, says("Yes.").ending(model.Outcome{Stop: model.StopEnd, Usage: model.Usage{Input: 1000, Output: 1000}}))
		ada.chat(projectID, "Question").Want(t, http.StatusOK)
	}
	ada.chat(projectID, "Another.").Want(t, http.StatusOK)
	for _, r := range w.model.requests() {
		if r.Task == model.TaskSummarize {
			t.Error("a summary was started")
		}
	}
}
