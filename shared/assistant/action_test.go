package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
	"devplatform/shared/project"
)

func TestActionsAreAppliedAsOneBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/a.ts", "const a = 1\n")
	ada.file(projectID, "/old.ts", "old\n")
	w.model.play(model.TaskChat, says("Done.").
		calling("1", "create_file", `{"path":"/b.ts","content":"b\n"}`).
		calling("2", "edit_file", `{"path":"/b.ts","search":"b","replace":"c"}`).
		calling("3", "edit_file", `{"path":"/a.ts","search":"1","replace":"2"}`).
		calling("4", "rename_file", `{"path":"/old.ts","to":"/new.ts"}`))
	got := ada.chat(projectID, "Change it.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != true || len(got.List("actions")) != 4 {
		t.Errorf("%s", got.Raw)
	}
	if ada.content(projectID, "/a.ts")+ada.content(projectID, "/b.ts")+ada.content(projectID, "/new.ts") != "const a = 2\nc\nold\n" {
		t.Error("the files have other contents")
	}
	ada.Get("/api/projects/"+projectID+"/files?path=/old.ts").Want(t, http.StatusNotFound)
	types := ada.Get("/api/projects/"+projectID+"/events").Want(t, http.StatusOK).Texts("events", "type")
	if fmt.Sprint(types[:4]) != "[file.created file.deleted file.updated file.created]" || len(types) != 7 {
		t.Errorf("events %v", types)
	}
}

// A change of a file while the model works is not overwritten, and the answer is not lost.
func TestAnswerIsReturnedIfApplyFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/a.ts", "mine\n")
	w.model.play(model.TaskChat, says("Done.").calling("1", "update_file", `{"path":"/a.ts","content":"the model's\n"}`).doing(func() {
		ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files", object{"path": "/a.ts", "content": "mine, newer\n"}).Want(t, http.StatusOK)
	}))
	got := ada.chat(projectID, "Change it.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != false || len(got.List("actions")) != 1 || !strings.Contains(got.Text("response"), "Done.\n\n> The changes were not applied: some of these files were changed.") {
		t.Errorf("%s", got.Raw)
	}
	if ada.content(projectID, "/a.ts") != "mine, newer\n" {
		t.Error("the newer content was overwritten")
	}
	if messages := ada.history(projectID); messages[1]["content"] != got.Text("response") {
		t.Errorf("history %v", messages[1])
	}
}

func TestFailedActionsAreRepairedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/a.ts", "a a\n")
	ada.file(projectID, "/u.ts", "u\n")
	first := says("Changing both.").
		calling("1", "edit_file", `{"path":"/a.ts","search":"a","replace":"b"}`).
		calling("2", "create_file", `{"path":"/b.ts","content":"b\n"}`).
		calling("5", "update_file", `{"path":"/u.ts","content":"v\n"}`).
		calling("3", "delete_file", `{"path":"/none.ts"}`).
		calling("4", "create_file", `{"path":"/c.ts","content":`)
	w.model.play(model.TaskChat, first, says("Sorry, again.").
		calling("1", "edit_file", `{"path":"/a.ts","search":"a a","replace":"b"}`).
		calling("2", "update_file", `{"path":"/u.ts","content":"v\n"}`).
		calling("3", "create_file", `{"path":"/b.ts","content":"other\n"}`))
	got := ada.chat(projectID, "Change it.").Want(t, http.StatusOK)
	var done []string
	for _, a := range got.List("actions") {
		done = append(done, fmt.Sprint(a["type"], " ", a["path"]))
	}
	if fmt.Sprint(done) != "[create_file /b.ts update_file /u.ts edit_file /a.ts]" {
		t.Errorf("actions %v", done)
	}
	response := got.Text("response")
	if !strings.HasPrefix(response, "Changing both.\n\n> Left out: `delete_file /none.ts`: ") || !strings.Contains(response, "> Left out: `create_file`: ") ||
		strings.Contains(response, "/a.ts") || strings.Contains(response, "Sorry") {
		t.Errorf("response %q", response)
	}
	if fmt.Sprint(got.Body["usage"]) != "map[inputTokens:200 outputTokens:20]" {
		t.Errorf("usage %v", got.Body["usage"])
	}
	asked := w.model.requests()
	if len(asked) != 2 {
		t.Fatalf("%d requests", len(asked))
	}
	last := asked[1].Messages[len(asked[1].Messages)-1]
	var failed []bool
	for _, r := range last.Results {
		failed = append(failed, r.Failed)
	}
	if fmt.Sprint(failed) != "[true false false true true]" || len(asked[1].Messages[len(asked[1].Messages)-2].Calls) != 5 {
		t.Errorf("the repair request ends with %+v", last)
	}
}

func TestRemainingFailuresAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	again := says("").calling("1", "delete_file", `{"path":"/none.ts"}`)
	w.model.play(model.TaskChat, again, again, again)
	got := ada.chat(projectID, "Delete it.").Want(t, http.StatusOK)
	if strings.Count(got.Text("response"), "Left out: `delete_file /none.ts`") != 1 || len(got.List("actions")) != 0 || len(w.model.requests()) != 2 {
		t.Errorf("%s after %d requests", got.Raw, len(w.model.requests()))
	}
	// A failed repair does not undo the actions that succeeded.
	w.model.play(model.TaskChat, says("One of two.").calling("1", "create_file", `{"path":"/x","content":""}`).calling("2", "delete_file", `{"path":"/none.ts"}`),
		says("").failing(&model.Error{Fault: model.Unavailable, Cause: errors.New("down")}))
	got = ada.chat(projectID, "Delete it.").Want(t, http.StatusOK)
	if len(got.List("actions")) != 1 || !strings.Contains(got.Text("response"), "Left out") {
		t.Errorf("%s", got.Raw)
	}
}

func TestAnswerWithoutTextListsActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says().calling("1", "create_file", `{"path":"/x","content":""}`).ending(model.Outcome{Stop: model.StopLength, Usage: scriptUsage}))
	got := ada.chat(projectID, "Make it.").Want(t, http.StatusOK)
	if got.Text("response") != "These are the changes:\n\n- `create_file /x`\n\n> The answer was cut off here: it reached the maximum length. Its changes are not applied." {
		t.Errorf("%s", got.Raw)
	}
}
