package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
)

func TestActionsAreAppliedAsOneBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/a.ts", "const a = 1\n")
	ada.createFile(projectID, "/old.ts", "old\n")
	f.model.enqueue(model.TaskChat, newResponse("Done.").
		withCall("1", "create_file", `{"path":"/b.ts","content":"b\n"}`).
		withCall("2", "edit_file", `{"path":"/b.ts","search":"b","replace":"c"}`).
		withCall("3", "edit_file", `{"path":"/a.ts","search":"1","replace":"2"}`).
		withCall("4", "rename_file", `{"path":"/old.ts","to":"/new.ts"}`))
	got := ada.chat(projectID, "Change it.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != true || len(got.List("actions")) != 4 {
		t.Errorf("got %s, want four applied actions", got.Raw)
	}
	ada.checkFile(projectID, "/a.ts", "const a = 2\n")
	ada.checkFile(projectID, "/b.ts", "c\n")
	ada.checkFile(projectID, "/new.ts", "old\n")
	ada.Get("/api/projects/"+projectID+"/files?path=/old.ts").Want(t, http.StatusNotFound)
	types := ada.Get("/api/projects/"+projectID+"/events").Want(t, http.StatusOK).Texts("events", "type")
	const want = "[file.created file.deleted file.updated file.created]"
	if len(types) != 7 || fmt.Sprint(types[:4]) != want {
		t.Errorf("got events %v, want 7 events that begin with %s", types, want)
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

func TestFailedActionsAreRepairedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/a.ts", "a a\n")
	ada.createFile(projectID, "/u.ts", "u\n")
	first := newResponse("Changing both.").
		withCall("1", "edit_file", `{"path":"/a.ts","search":"a","replace":"b"}`).
		withCall("2", "create_file", `{"path":"/b.ts","content":"b\n"}`).
		withCall("5", "update_file", `{"path":"/u.ts","content":"v\n"}`).
		withCall("3", "delete_file", `{"path":"/missing.ts"}`).
		withCall("4", "create_file", `{"path":"/c.ts","content":`)
	second := newResponse("Sorry, again.").
		withCall("1", "edit_file", `{"path":"/a.ts","search":"a a","replace":"b"}`).
		withCall("2", "update_file", `{"path":"/u.ts","content":"v\n"}`).
		withCall("3", "create_file", `{"path":"/b.ts","content":"other\n"}`)
	f.model.enqueue(model.TaskChat, first, second)
	got := ada.chat(projectID, "Change u.ts.").Want(t, http.StatusOK)

	var actions []string
	for _, action := range got.List("actions") {
		actions = append(actions, fmt.Sprint(action["type"], " ", action["path"]))
	}
	if want := "[create_file /b.ts update_file /u.ts edit_file /a.ts]"; fmt.Sprint(actions) != want {
		t.Errorf("got actions %v, want %s", actions, want)
	}
	text := got.Text("response")
	if !strings.HasPrefix(text, "Changing both.\n\n> Left out: `delete_file /missing.ts`: ") ||
		!strings.Contains(text, "> Left out: `create_file`: ") {
		t.Errorf("got text %q, want notes about the two remaining failures", text)
	}
	if strings.Contains(text, "/a.ts") || strings.Contains(text, "Sorry") {
		t.Errorf("got text %q, want neither the repaired call nor the text of the repair", text)
	}
	if got, want := fmt.Sprint(got.Body["usage"]), "map[inputTokens:200 outputTokens:20]"; got != want {
		t.Errorf("got usage %s, want the sum of both requests: %s", got, want)
	}

	requests := f.model.requests()
	if len(requests) != 2 {
		t.Fatalf("got %d model requests, want 2", len(requests))
	}
	messages := requests[1].Messages
	calls, results := messages[len(messages)-2].Calls, messages[len(messages)-1].Results
	var failed []bool
	for _, result := range results {
		failed = append(failed, result.Failed)
	}
	if want := "[true false false true true]"; fmt.Sprint(failed) != want || len(calls) != 5 {
		t.Errorf("repair request: got %d calls with failures %v, want 5 calls with failures %s", len(calls), failed, want)
	}
}

func TestRemainingFailuresAreLeftOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	failing := newResponse("").withCall("1", "delete_file", `{"path":"/missing.ts"}`)
	f.model.enqueue(model.TaskChat, failing, failing, failing)
	got := ada.chat(projectID, "Delete it.").Want(t, http.StatusOK)
	if strings.Count(got.Text("response"), "Left out: `delete_file /missing.ts`") != 1 || len(got.List("actions")) != 0 {
		t.Errorf("got %s, want no actions and one note about the failure", got.Raw)
	}
	if n := len(f.model.requests()); n != 2 {
		t.Errorf("got %d model requests, want 2", n)
	}

	// A failed repair does not undo the actions that succeeded.
	f.model.enqueue(model.TaskChat,
		newResponse("One of two.").
			withCall("1", "create_file", `{"path":"/x","content":""}`).
			withCall("2", "delete_file", `{"path":"/missing.ts"}`),
		newResponse("").withError(&model.Error{Fault: model.Unavailable, Cause: errors.New("unavailable")}))
	got = ada.chat(projectID, "Delete it.").Want(t, http.StatusOK)
	if len(got.List("actions")) != 1 || !strings.Contains(got.Text("response"), "Left out") {
		t.Errorf("got %s, want one action and a note about the failure", got.Raw)
	}
}

func TestAnswerWithoutTextListsActions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse().
		withCall("1", "create_file", `{"path":"/x","content":""}`).
		withOutcome(cutOffOutcome))
	got := ada.chat(projectID, "Make it.").Want(t, http.StatusOK).Text("response")
	const want = "These are the changes:\n\n- `create_file /x`\n\n" +
		"> The answer was cut off here: it reached the maximum length. Its changes are not applied. " +
		"Ask for fewer changes at once."
	if got != want {
		t.Errorf("got response %q, want %q", got, want)
	}
}
