package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
)

func TestPromptFacts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/src/app.tsx", "current file\n")
	ada.createFile(projectID, "/src/list.tsx", "named file\n")
	ada.createFile(projectID, "/src/other.tsx", "other file\n")
	f.model.enqueue(model.TaskChat, newResponse("First.").
		withCall("1", "create_file", `{"path":"/x","content":""}`))
	ada.chat(projectID, "One.").Want(t, http.StatusOK)
	work := object{"currentFile": "/src/app.tsx", "framework": "vue"}
	ada.chat(projectID, "What about list.tsx?", "context", work).Want(t, http.StatusOK)
	facts := f.model.requests()[1].Facts
	for _, tc := range []struct {
		name      string
		got, want any
	}{
		{"prompt", facts.Prompt, "What about list.tsx?"},
		{"framework", facts.Framework, "vue"},
		{"current file", facts.CurrentFile, "/src/app.tsx"},
		{"paths", fmt.Sprint(facts.Paths), "[/src/app.tsx /src/list.tsx /src/other.tsx]"},
		{
			"files", fmt.Sprint(facts.Files),
			"[{/src/app.tsx current file\n false} {/src/list.tsx named file\n false}]",
		},
		{"turns", fmt.Sprint(facts.Turns), "[{One. First. [create_file /x]}]"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}

// The prompt contains the manifests in the nearest folder with a manifest, starting at the folder of the current file.
func TestPromptManifests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	for _, path := range []string{"/package.json", "/go.mod", "/web/package.json", "/web/src/app.js", "/main.go"} {
		ada.createFile(projectID, path, path)
	}
	for i, tc := range []struct {
		currentFile string
		want        []string // the files in the prompt
	}{
		{"", []string{"/package.json", "/go.mod"}},
		{"/main.go", []string{"/main.go", "/package.json", "/go.mod"}},
		{"/web/src/app.js", []string{"/web/src/app.js", "/web/package.json"}},
		{"/web/package.json", []string{"/web/package.json"}},
	} {
		ada.chat(projectID, "Hello.", "context", object{"currentFile": tc.currentFile}).Want(t, http.StatusOK)
		var got []string
		for _, document := range f.model.requests()[i].Facts.Files {
			got = append(got, document.Path)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("current file %q: files in the prompt (-want +got):\n%s", tc.currentFile, diff)
		}
	}
}

// The prompt shortens the file list of a large project and the content of a large file.
func TestPromptOfLargeProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	path := func(folder, number int) string {
		return fmt.Sprintf("/src/%03d/a-file-with-a-long-name-%02d.ts", folder, number)
	}
	for folder := range 55 {
		var operations []object
		for number := range 20 {
			operations = append(operations, object{"op": "create", "path": path(folder, number), "content": "x"})
		}
		ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files/batch", object{"operations": operations}).
			Want(t, http.StatusOK)
	}
	const largeFile = "/z/large.ts"
	ada.createFile(projectID, largeFile, strings.Repeat("const line = 'of a large file'\n", 1<<15))
	f.model.enqueue(model.TaskChat, newResponse("").
		withCall("1", "edit_file", fmt.Sprintf(`{"path":%q,"search":"x","replace":"y"}`, path(54, 19))).
		withCall("2", "create_file", `{"path":"/z","content":""}`).
		withCall("3", "create_file", fmt.Sprintf(`{"path":%q,"content":""}`, strings.Repeat("/deep", 90))))
	message := "What is in " + largeFile + " and " + path(54, 18) + "?"
	got := ada.chat(projectID, message, "context", object{"currentFile": largeFile}).Want(t, http.StatusOK)
	if len(got.List("actions")) != 2 || !strings.Contains(got.Text("response"), "Left out: `create_file /z`") {
		t.Errorf("got %s, want two actions and a note about /z, which is a folder", got.Raw)
	}
	if got.Calls > 16 { // the files of each tool call are looked up together, not one by one
		t.Errorf("got %d calls to DynamoDB, want at most 16", got.Calls)
	}
	request := f.model.requests()[0]
	size := 0
	for _, m := range request.Messages {
		size += len(m.Text)
	}
	if size > 200_000 {
		t.Errorf("got a prompt of %d bytes, want at most 200000", size)
	}
	facts := request.Facts
	if facts.CurrentFile != largeFile || len(facts.Files) != 2 || !facts.Files[0].Cut {
		t.Errorf("got the current file %q and %d files, want %q, shortened, and the named file",
			facts.CurrentFile, len(facts.Files), largeFile)
	}
}

func TestRetryWithSmallerPrompt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/large.ts", strings.Repeat("const line = 'of a large file'\n", 1<<12))
	tooLong := newResponse().withError(&model.Error{Fault: model.TooLong, Cause: errors.New("context length")})
	chat := func() slicetest.Response {
		return ada.chat(projectID, "Hello.", "context", object{"currentFile": "/large.ts"})
	}
	f.model.enqueue(model.TaskChat, tooLong, newResponse("Shorter."))
	if got := chat().Want(t, http.StatusOK).Text("response"); got != "Shorter." {
		t.Errorf("got response %q, want that of the second request", got)
	}
	requests := f.model.requests()
	if len(requests) != 2 {
		t.Fatalf("got %d requests, want 2", len(requests))
	}
	first, second := len(requests[0].Facts.Files[0].Content), len(requests[1].Facts.Files[0].Content)
	if second*3 > first {
		t.Errorf("second request: got %d bytes of the file, want at most a third of the %d bytes in the first request",
			second, first)
	}
	if requests[1].MaxOutput != requests[0].MaxOutput {
		t.Errorf("second request: got MaxOutput %d, want %d as in the first request",
			requests[1].MaxOutput, requests[0].MaxOutput)
	}

	f.model.enqueue(model.TaskChat, tooLong, tooLong)
	chat().Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
}

// When there are many turns, a summary replaces the older half of them.
func TestOldTurnsAreSummarized(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	for i := range summaryTurns {
		f.clock.Advance(time.Minute)
		ada.chat(projectID, fmt.Sprint("Question ", i)).Want(t, http.StatusOK)
	}
	// The first summary fails, but the answer does not. The next turn generates the summary.
	f.model.enqueue(model.TaskSummarize,
		newResponse("").withError(&model.Error{Fault: model.Unavailable, Cause: errors.New("unavailable")}),
		newResponse("The ", "summary."))
	for i := summaryTurns; i < summaryTurns+2; i++ {
		f.clock.Advance(time.Minute)
		ada.chat(projectID, fmt.Sprint("Question ", i)).Want(t, http.StatusOK)
	}
	ada.chat(projectID, "The last question.").Want(t, http.StatusOK)

	requests := f.model.requests()
	facts := requests[len(requests)-1].Facts
	if facts.Summary != "The summary." {
		t.Errorf("got summary %q, want %q", facts.Summary, "The summary.")
	}
	// The summary was generated before the last of these turns was stored. It covers half of the others, rounded up.
	const turns = summaryTurns + 2
	const summarized = turns / 2
	if len(facts.Turns) != turns-summarized {
		t.Fatalf("got %d turns in the prompt, want %d", len(facts.Turns), turns-summarized)
	}
	if first := facts.Turns[0].User; first != "Question 5" {
		t.Errorf("got the first turn %q in the prompt, want %q", first, "Question 5")
	}
	if n := len(ada.messages(projectID)); n != 2*(turns+1) {
		t.Errorf("got %d messages, want %d", n, 2*(turns+1))
	}
}
