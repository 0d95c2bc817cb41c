package assistant

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

const (
	chatURL     = "/api/ai/chat"
	streamURL   = "/api/ai/chat/stream"
	generateURL = "/api/ai/generate"
	usageURL    = "/api/ai/usage"
)

func conversationURL(projectID string) string { return "/api/ai/conversations/" + projectID }

func cancelURL(messageID string) string { return "/api/ai/messages/" + messageID + "/cancel" }

// chat sends a message about a project. extraFields are further fields of the body: a name, its value, a name, and so
// on.
func (u *user) chat(projectID, message string, extraFields ...any) slicetest.Response {
	u.f.t.Helper()
	body := object{"projectId": projectID, "message": message}
	for i := 0; i < len(extraFields); i += 2 {
		body[fmt.Sprint(extraFields[i])] = extraFields[i+1]
	}
	return u.Do(http.MethodPost, chatURL, body)
}

// generate sends a prompt.
func (u *user) generate(prompt string) slicetest.Response {
	u.f.t.Helper()
	return u.Do(http.MethodPost, generateURL, object{"prompt": prompt})
}

// messages returns the messages of a project's conversation.
func (u *user) messages(projectID string) []map[string]any {
	u.f.t.Helper()
	return u.Get(conversationURL(projectID)).Want(u.f.t, http.StatusOK).List("messages")
}

// checkInterrupted checks that a conversation has one turn, with an interrupted answer, and returns the answer.
func (u *user) checkInterrupted(projectID string) map[string]any {
	u.f.t.Helper()
	messages := u.messages(projectID)
	if len(messages) != 2 || messages[1]["status"] != "interrupted" {
		u.f.t.Fatalf("got messages %v, want one turn with an interrupted answer", messages)
	}
	return messages[1]
}

func TestChat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/a.ts", "const a = 1\n")
	f.model.enqueue(model.TaskChat, newResponse("Here ", "you are.").
		withCall("1", "create_file", `{"path":"/b.ts","content":"export {}\n"}`).
		withText("That ").withText("is all.").
		withCall("2", "edit_file", `{"path":"/a.ts","search":"1","replace":"2"}`))

	got := ada.chat(projectID, "Change it.").Want(t, http.StatusOK)
	messageID := got.Text("messageId")
	if !strings.HasPrefix(messageID, "msg_") {
		t.Errorf("got message ID %q, want the prefix msg_", messageID)
	}
	want := map[string]any{
		"conversationId": "cnv" + strings.TrimPrefix(projectID, "prj"),
		"response":       "Here you are.\n\nThat is all.",
		"code":           "export {}\n",
		"actions": []any{
			map[string]any{"type": "create_file", "path": "/b.ts", "content": "export {}\n"},
			map[string]any{"type": "edit_file", "path": "/a.ts", "search": "1", "replace": "2"},
		},
		"messageId": messageID,
		"model":     "fake-model",
		"usage":     map[string]any{"inputTokens": 100.0, "outputTokens": 10.0},
		"applied":   false,
	}
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	ada.checkFile(projectID, "/a.ts", "const a = 1\n") // not changed without apply

	messages := ada.messages(projectID)
	if len(messages) != 2 {
		t.Fatalf("got %d messages, want 2", len(messages))
	}
	question, answer := messages[0], messages[1]
	if question["content"] != "Change it." {
		t.Errorf("got question %v, want the content %q", question, "Change it.")
	}
	if answer["id"] != messageID || answer["code"] != "export {}\n" ||
		fmt.Sprint(answer["actions"]) != fmt.Sprint(got.Body["actions"]) {
		t.Errorf("got stored answer %v, want the answer of the response %s", answer, got.Raw)
	}
}

// A chat makes at most eight calls to DynamoDB, and one more if an action needs files that the prompt does not contain.
// Once a minute, a chat makes another call to report the usage of all users.
func TestDatabaseCallsOfChat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/a.ts", "1\n")
	ada.createFile(projectID, "/b.ts", "2\n")
	checkCalls := func(name string, got slicetest.Response, want int64) {
		t.Helper()
		if got.Want(t, http.StatusOK).Calls != want {
			t.Errorf("%s: got %d calls, want %d", name, got.Calls, want)
		}
	}
	currentFile := object{"currentFile": "/a.ts"}
	checkCalls("the first chat", ada.chat(projectID, "Hello."), 7)
	checkCalls("no files", ada.chat(projectID, "Hello."), 6)
	checkCalls("a current file", ada.chat(projectID, "Hello.", "context", currentFile), 7)
	f.model.enqueue(model.TaskChat, newResponse("").
		withCall("1", "edit_file", `{"path":"/a.ts","search":"1","replace":"2"}`).
		withCall("2", "create_file", `{"path":"/c.ts","content":""}`))
	checkCalls("a current file and a named file", ada.chat(projectID, "Like b.ts.", "context", currentFile), 7)
	f.model.enqueue(model.TaskChat, newResponse("").
		withCall("1", "edit_file", `{"path":"/b.ts","search":"2","replace":"3"}`))
	checkCalls("an edit of another file", ada.chat(projectID, "Hello.", "context", currentFile), 8)
	checkCalls("generate", ada.generate("A button."), 3)
}

func TestConcurrentChats(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	users := []*user{f.newUser("ada"), f.newUser("grace")}
	workspaceID := f.newWorkspace(map[*user]workspace.Role{users[0]: workspace.Owner, users[1]: workspace.Member})
	projectID := users[0].newProjectIn(workspaceID, workspace.Team)
	started := make(chan struct{}, 2)
	resume := make(chan struct{})
	for range users {
		f.model.enqueue(model.TaskChat, newResponse("Answer").
			withFunc(func() { started <- struct{}{} }).withWait(resume).withText("ed."))
	}
	go func() { // resume when both answers have started
		<-started
		<-started
		close(resume)
	}()
	responses := slicetest.Concurrently(2, func(i int) slicetest.Response {
		return users[i].chat(projectID, fmt.Sprint("Question ", i))
	})
	for _, response := range responses {
		response.Want(t, http.StatusOK)
	}
	messages := users[0].messages(projectID)
	if len(messages) != 4 {
		t.Fatalf("got %d messages, want 4", len(messages))
	}
	for i := 0; i < 4; i += 2 {
		question, answer := messages[i], messages[i+1]
		number := strings.TrimPrefix(fmt.Sprint(question["content"]), "Question ")
		response := responses[int(number[0]-'0')]
		if question["role"] != "user" || answer["role"] != "assistant" ||
			answer["content"] != "Answered." || answer["id"] != response.Text("messageId") {
			t.Errorf("got question %v and answer %v, want a question and its answer", question, answer)
		}
	}
}

func TestChatAccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner, member := f.newUser("owner"), f.newUser("member")
	viewer, nonMember := f.newUser("viewer"), f.newUser("nonmember")
	workspaceID := f.newWorkspace(map[*user]workspace.Role{
		owner: workspace.Owner, member: workspace.Member, viewer: workspace.Viewer,
	})
	public := owner.newProjectIn(workspaceID, workspace.Public)
	private := owner.newProjectIn(workspaceID, workspace.Private)
	for _, url := range []string{chatURL, streamURL} {
		chat := func(u *user, projectID string) slicetest.Response {
			return u.Do(http.MethodPost, url, object{"projectId": projectID, "message": "Hello."})
		}
		chat(viewer, public).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
		chat(nonMember, public).Want(t, http.StatusForbidden, fault.CodeAccessDenied)
		chat(member, private).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		chat(nonMember, private).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
		chat(owner, "prj_unknown").Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	}
	if n := len(f.model.requests()); n != 0 {
		t.Errorf("got %d model requests from users without access, want 0", n)
	}
	member.chat(public, "Hello.").Want(t, http.StatusOK)
}

func TestValidation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	for _, tc := range []struct {
		field string // the field that the error names
		body  object
	}{
		{"message", object{"projectId": projectID, "message": ""}},
		{"message", object{"projectId": projectID, "message": " \n\t"}},
		{"message", object{"projectId": projectID, "message": strings.Repeat("é", 32_001)}},
		{"projectId", object{"message": "Hello."}},
		{"context.currentFile", object{
			"projectId": projectID, "message": "Hello.", "context": object{"currentFile": "../a"},
		}},
		{"context.framework", object{
			"projectId": projectID, "message": "Hello.", "context": object{"framework": "a\nb"},
		}},
		{"apply", object{"projectId": projectID, "message": "Hello.", "apply": "yes"}},
	} {
		for _, url := range []string{chatURL, streamURL} {
			got := ada.Do(http.MethodPost, url, tc.body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
			if !strings.HasPrefix(got.Text("error"), tc.field+":") {
				t.Errorf("got error %q, want the prefix %q", got.Text("error"), tc.field+":")
			}
		}
	}
	for _, body := range []object{
		{"prompt": ""},
		{"prompt": " "},
		{},
		{"prompt": "a", "language": "a\tb"},
		{"prompt": "a", "framework": strings.Repeat("x", 65)},
	} {
		ada.Do(http.MethodPost, generateURL, body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	ada.chat(projectID, strings.Repeat("é", 32_000)).Want(t, http.StatusOK)
}

// A user can have a limited number of answers in progress. Chats, streams and generate calls count together. Another
// user has a limit of its own.
func TestAnswersInProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, grace := f.newUser("ada"), f.newUser("grace")
	projectID, other := ada.newProject(), grace.newProject()
	refuse := func() {
		for url, body := range map[string]object{
			chatURL:     {"projectId": projectID, "message": "Hello."},
			streamURL:   {"projectId": projectID, "message": "Hello."},
			generateURL: {"prompt": "Hello."},
		} {
			refused := ada.Do(http.MethodPost, url, body).Want(t, http.StatusTooManyRequests, fault.CodeRateLimited)
			if got := refused.Header.Get("Retry-After"); got != "160" { // quota.Lease in seconds
				t.Errorf("%s: got Retry-After %q, want 160", url, got)
			}
		}
		grace.chat(other, "Hello.").Want(t, http.StatusOK)
	}
	f.model.enqueue(model.TaskChat, newResponse("Done.").withFunc(refuse))
	ada.chat(projectID, "Hello.").Want(t, http.StatusOK)
	ada.chat(projectID, "Hello.").Want(t, http.StatusOK)
	if n := len(f.model.requests()); n != 3 {
		t.Errorf("the model was called %d times, want 3: for two answers of ada and one of grace", n)
	}
}
