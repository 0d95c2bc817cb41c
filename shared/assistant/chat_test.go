package assistant

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
	"devplatform/shared/project"
	"devplatform/shared/workspace"
)

const chatPath = "/api/ai/chat"

// chat asks about a project. more alternates between further fields of the body and their values.
func (b *browser) chat(projectID, message string, more ...any) answered {
	b.w.t.Helper()
	body := object{"projectId": projectID, "message": message}
	for i := 0; i < len(more); i += 2 {
		body[fmt.Sprint(more[i])] = more[i+1]
	}
	return b.Do(http.MethodPost, chatPath, body)
}

// history returns the messages of a project's conversation.
func (b *browser) history(projectID string) []map[string]any {
	b.w.t.Helper()
	return b.Get("/api/ai/conversations/"+projectID).Want(b.w.t, http.StatusOK).List("messages")
}

func TestChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/a.ts", "const a = 1\n")
	w.model.play(model.TaskChat, says("Here ", "you are.").
		calling("1", "create_file", `{"path":"/b.ts","content":"export {}\n"}`).saying("That ").saying("is all.").
		calling("2", "edit_file", `{"path":"/a.ts","search":"1","replace":"2"}`))
	got := ada.chat(projectID, "Change it.").Want(t, http.StatusOK)
	actions := got.List("actions")
	if got.Text("response") != "Here you are.\n\nThat is all." || got.Text("code") != "export {}\n" || len(actions) != 2 || got.Body["applied"] != false ||
		got.Text("model") != "script-1" || fmt.Sprint(got.Body["usage"]) != "map[inputTokens:100 outputTokens:10]" ||
		got.Text("conversationId") != "cnv"+strings.TrimPrefix(projectID, "prj") || !strings.HasPrefix(got.Text("messageId"), "msg_") {
		t.Errorf("%s", got.Raw)
	}
	if fmt.Sprint(actions) != "[map[content:export {}\n path:/b.ts type:create_file] map[path:/a.ts replace:2 search:1 type:edit_file]]" {
		t.Errorf("%v", actions)
	}
	if ada.content(projectID, "/a.ts") != "const a = 1\n" {
		t.Error("the answer was applied without a request")
	}
	messages := ada.history(projectID)
	if len(messages) != 2 || messages[0]["content"] != "Change it." || messages[1]["id"] != got.Text("messageId") || messages[1]["code"] != "export {}\n" ||
		fmt.Sprint(messages[1]["actions"]) != fmt.Sprint(got.Body["actions"]) {
		t.Errorf("history %v", messages)
	}
}

func TestMainCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	for _, c := range []struct{ text, want string }{{"Nothing to show.", ""}, {"So:\n\n```js\nlet a\n```\n\n```\nother\n```", "let a\n"}} {
		w.model.play(model.TaskChat, says(c.text))
		if got := ada.chat(projectID, "Show me.").Want(t, http.StatusOK); got.Text("code") != c.want || len(got.List("actions")) != 0 || got.Body["actions"] == nil {
			t.Errorf("%q: %s", c.text, got.Raw)
		}
	}
}

// The budget is eight calls to DynamoDB, and one more for files that an action needs and the prompt does not have.
func TestCallBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.GlobalMonthlyTokens = 1 << 40 }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/a.ts", "1\n")
	ada.file(projectID, "/b.ts", "2\n")
	check := func(name string, got answered, want int64) {
		t.Helper()
		if got.Want(t, http.StatusOK).Calls != want {
			t.Errorf("%s: %d calls, want %d", name, got.Calls, want)
		}
	}
	check("no files read", ada.chat(projectID, "Hello."), 7)
	check("a current file", ada.chat(projectID, "Hello.", "context", object{"currentFile": "/a.ts"}), 8)
	w.model.play(model.TaskChat, says("").calling("1", "edit_file", `{"path":"/a.ts","search":"1","replace":"2"}`).calling("2", "create_file", `{"path":"/c.ts","content":""}`))
	check("a current file and a named file", ada.chat(projectID, "Like b.ts.", "context", object{"currentFile": "/a.ts"}), 8)
	w.model.play(model.TaskChat, says("").calling("1", "edit_file", `{"path":"/b.ts","search":"2","replace":"3"}`))
	check("an edit of a file that is not in the prompt", ada.chat(projectID, "Hello.", "context", object{"currentFile": "/a.ts"}), 9)
	check("generate", ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "A button."}), 3)
}

func TestConcurrentChats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.user("ada"), w.user("grace")
	projectID := ada.project(w.workspace(map[*browser]workspace.Role{ada: workspace.Owner, grace: workspace.Member}), project.Team)
	started := make(chan struct{}, 2)
	resume := make(chan struct{})
	for range 2 {
		w.model.play(model.TaskChat, says("Answer").doing(func() { started <- struct{}{} }).waiting(resume).saying("ed."))
	}
	go func() {
		<-started
		<-started
		close(resume)
	}()
	answers := slicetest.Concurrently(2, func(i int) answered { return []*browser{ada, grace}[i].chat(projectID, fmt.Sprint("Question ", i)) })
	for _, a := range answers {
		a.Want(t, http.StatusOK)
	}
	messages := ada.history(projectID)
	if len(messages) != 4 {
		t.Fatalf("%d messages", len(messages))
	}
	for i := 0; i < 4; i += 2 {
		question, answer := messages[i], messages[i+1]
		n := strings.TrimPrefix(fmt.Sprint(question["content"]), "Question ")
		if question["role"] != "user" || answer["role"] != "assistant" || answer["content"] != "Answered." || answer["id"] != answers[int(n[0]-'0')].Text("messageId") {
			t.Errorf("%v, %v", question, answer)
		}
	}
}

func TestChatAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, member, viewer, stranger := w.user("ada"), w.user("member"), w.user("viewer"), w.user("stranger")
	team := w.workspace(map[*browser]workspace.Role{ada: workspace.Owner, member: workspace.Member, viewer: workspace.Viewer})
	open, closed := ada.project(team, project.Public), ada.project(team, project.Private)
	for _, path := range []string{chatPath, chatPath + "/stream"} {
		ask := func(b *browser, projectID string) answered {
			return b.Do(http.MethodPost, path, object{"projectId": projectID, "message": "Hello."})
		}
		ask(viewer, open).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
		ask(stranger, open).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
		ask(member, closed).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		ask(stranger, closed).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		ask(ada, "prj_nothing").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	}
	if len(w.model.requests()) != 0 {
		t.Errorf("the model was called")
	}
	member.chat(open, "Hello.").Want(t, http.StatusOK)
}

func TestValidation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	for field, body := range map[string]object{
		"message":             {"projectId": projectID, "message": ""},
		"message:":            {"projectId": projectID, "message": " \n\t"},
		"message: ":           {"projectId": projectID, "message": strings.Repeat("é", 32_001)},
		"projectId":           {"message": "Hello."},
		"context.currentFile": {"projectId": projectID, "message": "Hello.", "context": object{"currentFile": "../a"}},
		"context.framework":   {"projectId": projectID, "message": "Hello.", "context": object{"framework": "a\nb"}},
		"apply":               {"projectId": projectID, "message": "Hello.", "apply": "yes"},
	} {
		for _, path := range []string{chatPath, chatPath + "/stream"} {
			got := ada.Do(http.MethodPost, path, body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			if !strings.HasPrefix(got.Text("error"), strings.TrimRight(field, ": ")+":") {
				t.Errorf("%s: %s", field, got.Raw)
			}
		}
	}
	for _, body := range []object{{"prompt": ""}, {"prompt": " "}, {}, {"prompt": "a", "language": "a\tb"}, {"prompt": "a", "framework": strings.Repeat("x", 65)}} {
		ada.Do(http.MethodPost, "/api/ai/generate", body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	ada.chat(projectID, strings.Repeat("é", 32_000)).Want(t, http.StatusOK)
}
