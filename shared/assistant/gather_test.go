package assistant

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
)

func TestPromptSubject(t *testing.T) {
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
	subject := f.model.requests()[1].Subject
	for _, tc := range []struct {
		name      string
		got, want any
	}{
		{"prompt", subject.Prompt, "What about list.tsx?"},
		{"framework", subject.Framework, "vue"},
		{"paths", fmt.Sprint(subject.Paths), "[/src/app.tsx /src/list.tsx /src/other.tsx]"},
		{
			"files", fmt.Sprint(subject.Files),
			"[{/src/app.tsx current file\n false} {/src/list.tsx named file\n false}]",
		},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}

// If the message names no file, the prompt contains the files that the previous answer changed, as they are now.
func TestPromptContainsChangedFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	for _, path := range []string{"/a.ts", "/b.ts", "/c.ts", "/open.ts"} {
		ada.createFile(projectID, path, "0\n")
	}
	first := newResponse("Done.")
	for i := range maxNamedFiles {
		edit := fmt.Sprintf(`{"path":"/a.ts","search":"%d","replace":"%d"}`, i, i+1)
		first = first.withCall(fmt.Sprint("edit", i), "edit_file", edit)
	}
	f.model.enqueue(model.TaskChat, first.
		withCall("rename", "rename_file", `{"path":"/b.ts","to":"/d.ts"}`).
		withCall("create", "create_file", `{"path":"/e.ts","content":"new\n"}`))
	ada.chat(projectID, "Change them.", "apply", true).Want(t, http.StatusOK)
	ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files", object{"path": "/a.ts", "content": "by hand\n"}).
		Want(t, http.StatusOK)
	ada.Do(http.MethodDelete, "/api/projects/"+projectID+"/files?path=/e.ts", nil).Want(t, http.StatusOK)
	changed := newResponse("").withCall("1", "edit_file", `{"path":"/a.ts","search":"hand","replace":"the assistant"}`)
	for i, tc := range []struct {
		message, current string
		want             string
	}{
		{"Now make it green.", "/open.ts", "[{/open.ts 0\n false} {/a.ts by hand\n false} {/d.ts 0\n false}]"},
		{"Now make c.ts green.", "", "[{/c.ts 0\n false}]"}, // the previous answer changed /a.ts
		{"Now make it green.", "", "[]"},                    // the previous answer changed nothing
	} {
		f.model.enqueue(model.TaskChat, changed)
		changed = newResponse("Done.")
		ada.chat(projectID, tc.message, "context", object{"currentFile": tc.current}).Want(t, http.StatusOK)
		if got := fmt.Sprint(f.model.requests()[i+1].Subject.Files); got != tc.want {
			t.Errorf("%s: got the files %s, want %s", tc.message, got, tc.want)
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
		for _, document := range f.model.requests()[i].Subject.Files {
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
	if got.Calls > 9 { // the calls of tools read only the content of the edited file
		t.Errorf("got %d calls to DynamoDB, want at most 9", got.Calls)
	}
	request := f.model.requests()[0]
	size := 0
	for _, m := range request.Messages {
		size += len(m.Text)
	}
	if size > 200_000 {
		t.Errorf("got a prompt of %d bytes, want at most 200000", size)
	}
	if files := request.Subject.Files; len(files) != 2 || files[0].Path != largeFile || !files[0].Cut {
		t.Errorf("got %d files, want the current file %q, shortened, and the named file", len(files), largeFile)
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
		t.Errorf("got response %q, want the response to the second request", got)
	}
	requests := f.model.requests()
	if len(requests) != 2 {
		t.Fatalf("got %d requests, want 2", len(requests))
	}
	first, second := len(requests[0].Subject.Files[0].Content), len(requests[1].Subject.Files[0].Content)
	if second*3 > first {
		t.Errorf("second request: got %d bytes of the file, want at most a third of the %d bytes in the first request",
			second, first)
	}
	if requests[1].MaxOutput != requests[0].MaxOutput {
		t.Errorf("second request: got MaxOutput %d, want %d as in the first request",
			requests[1].MaxOutput, requests[0].MaxOutput)
	}

	// The third request also has a smaller MaxOutput, and so has the repair.
	f.model.enqueue(model.TaskChat, tooLong, tooLong, newResponse().withCall("1", "delete_file", `{"path":"/missing"}`))
	chat().Want(t, http.StatusOK)
	var limits []int
	for _, request := range f.model.requests()[2:] {
		limits = append(limits, request.MaxOutput)
	}
	if want := []int{maxOutput, maxOutput, smallOutput, smallOutput}; !slices.Equal(limits, want) {
		t.Errorf("got requests with MaxOutput %v, want %v", limits, want)
	}

	f.model.enqueue(model.TaskChat, tooLong, tooLong, tooLong)
	chat().Want(t, http.StatusBadRequest, fault.CodeValidationFailed)

	f.model.enqueue(model.TaskGenerate, tooLong, newResponse("```js\n1\n```"))
	if got := ada.generate("One.").Want(t, http.StatusOK).Text("code"); got != "1\n" {
		t.Errorf("got code %q, want the code of the second response", got)
	}
	requests = f.model.requests()
	if got := requests[len(requests)-1].MaxOutput; got != smallOutput {
		t.Errorf("generate: got a second request with MaxOutput %d, want %d", got, smallOutput)
	}
	f.model.enqueue(model.TaskGenerate, tooLong, tooLong)
	ada.generate("One.").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
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
	messages := requests[len(requests)-1].Messages
	if text := messages[len(messages)-1].Text; !strings.Contains(text, " conversation before>\nThe summary.\n") {
		t.Errorf("got the prompt %q, want it with the summary", text)
	}
	// The summary was generated before the last of these turns was stored. It covers half of the others, rounded up.
	const turns = summaryTurns + 2
	const summarized = turns / 2
	if want := 2*(turns-summarized) + 1; len(messages) != want || messages[0].Text != "Question 5" {
		t.Errorf("got %d messages from %q, want %d from %q", len(messages), messages[0].Text, want, "Question 5")
	}
	if n := len(ada.messages(projectID)); n != 2*(turns+1) {
		t.Errorf("got %d messages, want %d", n, 2*(turns+1))
	}
}

// upload uploads a file.
func (u *user) upload(projectID, path string, data []byte) {
	u.f.t.Helper()
	sum := sha256.Sum256(data)
	uploads := "/api/projects/" + projectID + "/uploads"
	body := object{"path": path, "size": len(data), "sha256": hex.EncodeToString(sum[:])}
	announced := u.Do(http.MethodPost, uploads, body).Want(u.f.t, http.StatusCreated)
	r, err := http.NewRequestWithContext(u.f.t.Context(), http.MethodPut, announced.Text("url"), bytes.NewReader(data))
	u.f.must(err)
	headers, _ := announced.Body["headers"].(map[string]any)
	for name, value := range headers {
		r.Header.Set(name, fmt.Sprint(value))
	}
	response, err := http.DefaultClient.Do(r)
	u.f.must(err)
	u.f.must(response.Body.Close())
	u.Do(http.MethodPost, uploads+"/"+announced.Text("id")+"/complete", nil).Want(u.f.t, http.StatusCreated)
}

// A file of more than 1 MiB is never read. The prompt says that the model cannot read it. The model can rename, delete
// and replace it, but not edit it.
func TestPromptOfProjectWithLargeFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/app.ts", "app\n")
	ada.createFile(projectID, "/icon.png", "icon")
	ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files",
		object{"path": "/icon.png", "content": "/w==", "encoding": "base64"}).Want(t, http.StatusOK)
	ada.upload(projectID, "/data.txt", bytes.Repeat([]byte("text "), 400_000))
	ada.upload(projectID, "/old.txt", bytes.Repeat([]byte("text "), 400_000))
	const note = "not readable, because it is binary or larger than 1 MiB: "
	for i, tc := range []struct{ message, current, want string }{
		{"What is in data.txt and app.ts?", "", note + `"/data.txt"`},
		{"What is this?", "/data.txt", note + `"/data.txt"`},
		{"What is icon.png?", "", note + `"/icon.png"`},
		{"What is app.ts?", "", ""},
	} {
		ada.chat(projectID, tc.message, "context", object{"currentFile": tc.current}).Want(t, http.StatusOK)
		request := f.model.requests()[i]
		text := request.Messages[len(request.Messages)-1].Text
		if !strings.Contains(text, tc.want) || (tc.want == "" && strings.Contains(text, note)) || len(text) > 10_000 {
			t.Errorf("%s: got a request of %d bytes, want one with %q:\n%.2000s", tc.message, len(text), tc.want, text)
		}
	}
	f.model.enqueue(model.TaskChat, newResponse("Done.").
		withCall("1", "edit_file", `{"path":"/data.txt","search":"text","replace":"x"}`).
		withCall("2", "rename_file", `{"path":"/data.txt","to":"/moved.txt"}`).
		withCall("3", "delete_file", `{"path":"/old.txt"}`))
	answer := ada.chat(projectID, "Change data.txt.", "apply", true).Want(t, http.StatusOK)
	paths := ada.Get("/api/projects/"+projectID+"/files").Texts("files", "path")
	if fmt.Sprint(paths) != "[/app.ts /icon.png /moved.txt]" {
		t.Errorf("got the files %v after %s, want /data.txt renamed and /old.txt deleted", paths, answer.Raw)
	}
	if requests := f.model.requests(); !strings.Contains(fmt.Sprint(requests[len(requests)-1]), "larger than 1 MiB") {
		t.Error("the prompt does not say why the edit failed")
	}
}
