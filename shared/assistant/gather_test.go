package assistant

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
)

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
