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

func TestPromptFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/src/app.tsx", "the current one\n")
	ada.file(projectID, "/src/list.tsx", "the named one\n")
	ada.file(projectID, "/src/else.tsx", "neither\n")
	w.model.play(model.TaskChat, says("First.").calling("1", "create_file", `{"path":"/x","content":""}`))
	ada.chat(projectID, "One.").Want(t, http.StatusOK)
	ada.chat(projectID, "What about list.tsx?", "context", object{"currentFile": "/src/app.tsx", "framework": "vue"}).Want(t, http.StatusOK)
	facts := w.model.requests()[1].Facts
	if facts.Prompt != "What about list.tsx?" || facts.Framework != "vue" || facts.CurrentFile != "/src/app.tsx" ||
		fmt.Sprint(facts.Paths) != "[/src/app.tsx /src/else.tsx /src/list.tsx]" ||
		fmt.Sprint(facts.Files) != "[{/src/app.tsx the current one\n false} {/src/list.tsx the named one\n false}]" ||
		fmt.Sprint(facts.Turns) != "[{One. First. [create_file /x]}]" {
		t.Errorf("%+v", facts)
	}
}

// The prompt shows the manifest nearest to the current file, or that of the project.
func TestPromptManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	for _, path := range []string{"/package.json", "/go.mod", "/web/package.json", "/web/src/app.js", "/main.go"} {
		ada.file(projectID, path, path)
	}
	for i, c := range []struct{ current, want string }{
		{"", "/package.json /go.mod"}, {"/main.go", "/main.go /package.json /go.mod"}, {"/web/src/app.js", "/web/src/app.js /web/package.json"}, {"/web/package.json", "/web/package.json"},
	} {
		ada.chat(projectID, "Hm.", "context", object{"currentFile": c.current}).Want(t, http.StatusOK)
		var shown []string
		for _, f := range w.model.requests()[i].Facts.Files {
			shown = append(shown, f.Path)
		}
		if got := strings.Join(shown, " "); got != c.want {
			t.Errorf("current file %q: %s, want %s", c.current, got, c.want)
		}
	}
}

// A large project and a current file of the largest size are shown in part.
func TestPromptOfLargeProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	for i := range 55 {
		var operations []object
		for j := range 20 {
			operations = append(operations, object{"op": "create", "path": fmt.Sprintf("/src/%03d/a-file-with-a-long-name-%02d.ts", i, j), "content": "x"})
		}
		ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files/batch", object{"operations": operations}).Want(t, http.StatusOK)
	}
	ada.file(projectID, "/z/large.ts", strings.Repeat("const line = 'of a large file'\n", 1<<15))
	w.model.play(model.TaskChat, says("").calling("1", "edit_file", `{"path":"/src/054/a-file-with-a-long-name-19.ts","search":"x","replace":"y"}`).
		calling("2", "create_file", `{"path":"/z","content":""}`).
		calling("3", "create_file", `{"path":"`+strings.Repeat("/deep", 90)+`","content":""}`))
	got := ada.chat(projectID, "What is in /z/large.ts and /src/054/a-file-with-a-long-name-18.ts?", "context", object{"currentFile": "/z/large.ts"}).Want(t, http.StatusOK)
	if len(got.List("actions")) != 2 || !strings.Contains(got.Text("response"), "Left out: `create_file /z`") {
		t.Errorf("%s", got.Raw)
	}
	if got.Calls > 16 { // two rounds with three tool calls, none of which looks up folders one by one
		t.Errorf("%d calls", got.Calls)
	}
	request := w.model.requests()[0]
	size := 0
	for _, m := range request.Messages {
		size += len(m.Text)
	}
	if size > 200_000 || len(request.Facts.Files) != 2 || request.Facts.CurrentFile != "/z/large.ts" || !request.Facts.Files[0].Cut {
		t.Errorf("a prompt of %d bytes, %d files, current %q", size, len(request.Facts.Files), request.Facts.CurrentFile)
	}
}

func TestRetryWithSmallerPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/large.ts", strings.Repeat("const line = 'of a large file'\n", 1<<12))
	tooLong := says("").failing(&model.Error{Fault: model.TooLong, Cause: errors.New("context length")})
	tooLong.steps = nil
	w.model.play(model.TaskChat, tooLong, says("Now."))
	ask := func() answered { return ada.chat(projectID, "Hm?", "context", object{"currentFile": "/large.ts"}) }
	if got := ask().Want(t, http.StatusOK); got.Text("response") != "Now." {
		t.Errorf("%s", got.Raw)
	}
	asked := w.model.requests()
	if len(asked) != 2 || len(asked[1].Facts.Files[0].Content)*3 > len(asked[0].Facts.Files[0].Content) || asked[1].MaxOutput != asked[0].MaxOutput {
		t.Errorf("%d requests", len(asked))
	}
	w.model.play(model.TaskChat, tooLong, tooLong)
	ask().Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
}

// When there are many turns, a summary replaces the older half of them.
func TestOldTurnsAreSummarized(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	for i := range summaryTurns {
		w.clock.Advance(time.Minute)
		ada.chat(projectID, fmt.Sprint("Question ", i)).Want(t, http.StatusOK)
	}
	w.model.play(model.TaskSummarize, says("").failing(&model.Error{Fault: model.Unavailable, Cause: errors.New("down")}), says("They ", "asked."))
	for range 2 { // the first summary fails, which does not fail the answer
		w.clock.Advance(time.Minute)
		ada.chat(projectID, "Another.").Want(t, http.StatusOK)
	}
	ada.chat(projectID, "The last.").Want(t, http.StatusOK)
	asked := w.model.requests()
	last := asked[len(asked)-1]
	if last.Facts.Summary != "They asked." || len(last.Facts.Turns) != summaryTurns+2-(summaryTurns+2)/2 || last.Facts.Turns[0].User != "Question 5" {
		t.Errorf("the prompt has the summary %q and %d turns, beginning with %+v", last.Facts.Summary, len(last.Facts.Turns), last.Facts.Turns[0])
	}
	if n := len(ada.history(projectID)); n != 2*(summaryTurns+3) {
		t.Errorf("%d messages", n)
	}
}
