package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/api"
	"devplatform/shared/assistant/model"
	"devplatform/shared/project"
	"devplatform/shared/workspace"
)

const chatPath = "/api/ai/chat"

// chat asks about a project; more are further fields of the body, in turn with their values.
func (b *browser) chat(projectID, message string, more ...any) answered {
	b.w.t.Helper()
	body := object{"projectId": projectID, "message": message}
	for i := 0; i < len(more); i += 2 {
		body[fmt.Sprint(more[i])] = more[i+1]
	}
	return b.Do(http.MethodPost, chatPath, body)
}

// history is the messages of a project's conversation.
func (b *browser) history(projectID string) []map[string]any {
	b.w.t.Helper()
	return b.Get("/api/ai/conversations/"+projectID).Want(b.w.t, http.StatusOK).List("messages")
}

func TestAChatAnswersWithTextCodeAndActions(t *testing.T) {
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
		t.Error("it was applied")
	}
	messages := ada.history(projectID)
	if len(messages) != 2 || messages[0]["content"] != "Change it." || messages[1]["id"] != got.Text("messageId") || messages[1]["code"] != "export {}\n" ||
		fmt.Sprint(messages[1]["actions"]) != fmt.Sprint(got.Body["actions"]) {
		t.Errorf("history %v", messages)
	}
}

func TestTheCodeOfAnAnswer(t *testing.T) {
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
		t.Error("it was applied otherwise")
	}
	ada.Get("/api/projects/"+projectID+"/files?path=/old.ts").Want(t, http.StatusNotFound)
	types := ada.Get("/api/projects/"+projectID+"/events").Want(t, http.StatusOK).Texts("events", "type")
	if fmt.Sprint(types[:4]) != "[file.created file.deleted file.updated file.created]" || len(types) != 7 {
		t.Errorf("events %v", types)
	}
}

// Whoever changes a file while the model is at work is not overwritten, and what was said is not lost.
func TestWhatCannotBeAppliedIsAnsweredAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/a.ts", "mine\n")
	w.model.play(model.TaskChat, says("Done.").calling("1", "update_file", `{"path":"/a.ts","content":"the model's\n"}`).doing(func() {
		ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files", object{"path": "/a.ts", "content": "mine, newer\n"}).Want(t, http.StatusOK)
	}))
	got := ada.chat(projectID, "Change it.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != false || len(got.List("actions")) != 1 || !strings.Contains(got.Text("response"), "Done.\n\n> The changes were not applied: some of these files have changed meanwhile.") {
		t.Errorf("%s", got.Raw)
	}
	if ada.content(projectID, "/a.ts") != "mine, newer\n" {
		t.Error("it was overwritten")
	}
	if messages := ada.history(projectID); messages[1]["content"] != got.Text("response") {
		t.Errorf("history %v", messages[1])
	}
}

func TestAnActionThatFailsGoesBackOnce(t *testing.T) {
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
	asked := w.model.asked()
	if len(asked) != 2 {
		t.Fatalf("asked %d times", len(asked))
	}
	last := asked[1].Messages[len(asked[1].Messages)-1]
	var failed []bool
	for _, r := range last.Results {
		failed = append(failed, r.Failed)
	}
	if fmt.Sprint(failed) != "[true false false true true]" || len(asked[1].Messages[len(asked[1].Messages)-2].Calls) != 5 {
		t.Errorf("went back: %+v", last)
	}
}

func TestWhatStillFailsIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	again := says("").calling("1", "delete_file", `{"path":"/none.ts"}`)
	w.model.play(model.TaskChat, again, again, again)
	got := ada.chat(projectID, "Delete it.").Want(t, http.StatusOK)
	if strings.Count(got.Text("response"), "Left out: `delete_file /none.ts`") != 1 || len(got.List("actions")) != 0 || len(w.model.asked()) != 2 {
		t.Errorf("%s after %d requests", got.Raw, len(w.model.asked()))
	}
	// A repair that fails does not undo what was fine.
	w.model.play(model.TaskChat, says("One of two.").calling("1", "create_file", `{"path":"/x","content":""}`).calling("2", "delete_file", `{"path":"/none.ts"}`),
		says("").failing(&model.Error{Fault: model.Unavailable, Cause: errors.New("down")}))
	got = ada.chat(projectID, "Delete it.").Want(t, http.StatusOK)
	if len(got.List("actions")) != 1 || !strings.Contains(got.Text("response"), "Left out") {
		t.Errorf("%s", got.Raw)
	}
}

func TestAnAnswerOfActionsAloneSaysWhatTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says().calling("1", "create_file", `{"path":"/x","content":""}`).ending(model.Outcome{Stop: model.StopLength, Usage: scriptUsage}))
	got := ada.chat(projectID, "Make it.").Want(t, http.StatusOK)
	if got.Text("response") != "These are the changes:\n\n- `create_file /x`\n\n> The answer was cut off here: it has reached its greatest length. Nothing of it is applied." {
		t.Errorf("%s", got.Raw)
	}
}

// The budget: eight calls to DynamoDB, and two more for what an action has to see beside what the prompt has.
func TestCallsOfAChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.GlobalMonthlyTokens = 1 << 40 }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	ada.file(projectID, "/a.ts", "1\n")
	ada.file(projectID, "/b.ts", "2\n")
	check := func(what string, got answered, want int64) {
		t.Helper()
		if got.Want(t, http.StatusOK).Calls != want {
			t.Errorf("%s: %d calls, not %d", what, got.Calls, want)
		}
	}
	check("no files read", ada.chat(projectID, "Hello."), 7)
	check("a current file", ada.chat(projectID, "Hello.", "context", object{"currentFile": "/a.ts"}), 8)
	w.model.play(model.TaskChat, says("").calling("1", "edit_file", `{"path":"/a.ts","search":"1","replace":"2"}`).calling("2", "create_file", `{"path":"/c.ts","content":""}`))
	check("and one named", ada.chat(projectID, "Like b.ts.", "context", object{"currentFile": "/a.ts"}), 8)
	w.model.play(model.TaskChat, says("").calling("1", "edit_file", `{"path":"/b.ts","search":"2","replace":"3"}`))
	check("an edit of another", ada.chat(projectID, "Hello.", "context", object{"currentFile": "/a.ts"}), 9)
	check("generate", ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "A button."}), 3)
}

func TestWhatAModelIsTold(t *testing.T) {
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
	facts := w.model.asked()[1].Facts
	if facts.Prompt != "What about list.tsx?" || facts.Framework != "vue" || facts.CurrentFile != "/src/app.tsx" ||
		fmt.Sprint(facts.Paths) != "[/src/app.tsx /src/else.tsx /src/list.tsx]" ||
		fmt.Sprint(facts.Files) != "[{/src/app.tsx the current one\n false} {/src/list.tsx the named one\n false}]" ||
		fmt.Sprint(facts.Turns) != "[{One. First. [create_file /x]}]" {
		t.Errorf("%+v", facts)
	}
}

// What a file is built with goes with it: the manifest nearest to it, or else the project's own.
func TestManifestsAreTold(t *testing.T) {
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
		var told []string
		for _, f := range w.model.asked()[i].Facts.Files {
			told = append(told, f.Path)
		}
		if got := strings.Join(told, " "); got != c.want {
			t.Errorf("with %q: %s, not %s", c.current, got, c.want)
		}
	}
}

// A large project, and a current file of the largest size, are told of in part.
func TestALargeProjectFits(t *testing.T) {
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
	if got.Calls > 16 { // two rounds of three calls, none of which asks for folders one by one
		t.Errorf("%d calls", got.Calls)
	}
	request := w.model.asked()[0]
	size := 0
	for _, m := range request.Messages {
		size += len(m.Text)
	}
	if size > 200_000 || len(request.Facts.Files) != 2 || request.Facts.CurrentFile != "/z/large.ts" || !request.Facts.Files[0].Cut {
		t.Errorf("a prompt of %d bytes, %d files, current %q", size, len(request.Facts.Files), request.Facts.CurrentFile)
	}
}

func TestAModelThatFindsItTooLongIsAskedForLess(t *testing.T) {
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
	asked := w.model.asked()
	if len(asked) != 2 || len(asked[1].Facts.Files[0].Content)*3 > len(asked[0].Facts.Files[0].Content) || asked[1].MaxOutput != asked[0].MaxOutput {
		t.Errorf("asked %d times", len(asked))
	}
	w.model.play(model.TaskChat, tooLong, tooLong)
	ask().Want(t, http.StatusBadRequest, api.CodeValidationFailed)
}

func TestFaultsOfTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CallsPerMinute = 1000 }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	kept := 0
	for _, c := range []struct {
		fault  model.Fault
		after  time.Duration
		status int
		code   api.Code
		retry  string
	}{
		{model.Unavailable, 0, 503, api.CodeAIUnavailable, "5"},
		{model.Unavailable, 1500 * time.Millisecond, 503, api.CodeAIUnavailable, "2"},
		{model.Refused, 0, 422, api.CodeAIRefused, ""},
		{model.Misconfigured, 0, 500, api.CodeInternal, ""},
		{model.TooLong, 0, 400, api.CodeValidationFailed, ""},
	} {
		err := &model.Error{Fault: c.fault, RetryAfter: c.after, Cause: errors.New("the provider's own words")}
		for _, said := range []string{"", "Half of"} {
			var parts []string
			if said != "" {
				parts = append(parts, said)
			}
			w.model.play(model.TaskChat, says(parts...).failing(err))
			if c.fault == model.TooLong && said == "" {
				w.model.play(model.TaskChat, says().failing(err))
			}
			got := ada.chat(projectID, "Hello?").Want(t, c.status, c.code)
			if got.Header.Get("Retry-After") != c.retry || strings.Contains(got.Raw, "own words") {
				t.Errorf("%s: %v %s", c.fault, got.Header, got.Raw)
			}
			if said != "" {
				kept++
			}
			messages := ada.history(projectID)
			if len(messages) != 2*kept {
				t.Fatalf("%s after %q: %d messages", c.fault, said, len(messages))
			}
			if last := len(messages) - 1; said != "" && (messages[last]["status"] != "interrupted" || messages[last]["content"] != said) {
				t.Errorf("%v", messages[last])
			}
		}
		w.model.play(model.TaskGenerate, says("Half of").failing(err))
		ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Hello?"}).Want(t, c.status, c.code)
	}
	w.model.play(model.TaskChat, says())
	ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, api.CodeAIUnavailable)
	if got := ada.Get("/api/ai/usage").Want(t, http.StatusOK); got.Body["reservedTokens"] != 0.0 {
		t.Errorf("%s", got.Raw)
	}
}

func TestTimeAndSilenceEndAnAnswer(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*Limits){
		"time":    func(l *Limits) { l.Generation = 50 * time.Millisecond },
		"silence": func(l *Limits) { l.Silence = 50 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withLimits(limit))
			ada := w.user("ada")
			projectID := ada.project("", project.Private)
			w.model.play(model.TaskChat, says("Well").waiting(make(chan struct{})))
			ada.chat(projectID, "Hello?").Want(t, http.StatusServiceUnavailable, api.CodeAIUnavailable)
			if messages := ada.history(projectID); len(messages) != 2 || messages[1]["status"] != "interrupted" {
				t.Errorf("%v", messages)
			}
		})
	}
}

func TestTwoChatsAtOnceBothEndUpWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, grace := w.user("ada"), w.user("grace")
	projectID := ada.project(w.workspace(map[*browser]workspace.Role{ada: workspace.Owner, grace: workspace.Member}), project.Team)
	both := make(chan struct{}, 2)
	goOn := make(chan struct{})
	for range 2 {
		w.model.play(model.TaskChat, says("Answer").doing(func() { both <- struct{}{} }).waiting(goOn).saying("ed."))
	}
	go func() {
		<-both
		<-both
		close(goOn)
	}()
	answers := slicetest.AtOnce(2, func(i int) answered { return []*browser{ada, grace}[i].chat(projectID, fmt.Sprint("Question ", i)) })
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

func TestWhoMayChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, member, viewer, stranger := w.user("ada"), w.user("member"), w.user("viewer"), w.user("stranger")
	team := w.workspace(map[*browser]workspace.Role{ada: workspace.Owner, member: workspace.Member, viewer: workspace.Viewer})
	open, closed := ada.project(team, project.Public), ada.project(team, project.Private)
	for _, path := range []string{chatPath, chatPath + "/stream"} {
		ask := func(b *browser, projectID string) answered {
			return b.Do(http.MethodPost, path, object{"projectId": projectID, "message": "Hello."})
		}
		ask(viewer, open).Want(t, http.StatusForbidden, api.CodeAccessDenied)
		ask(stranger, open).Want(t, http.StatusForbidden, api.CodeAccessDenied)
		ask(member, closed).Want(t, http.StatusNotFound, api.CodeProjectNotFound)
		ask(stranger, closed).Want(t, http.StatusNotFound, api.CodeProjectNotFound)
		ask(ada, "prj_nothing").Want(t, http.StatusNotFound, api.CodeProjectNotFound)
	}
	if len(w.model.asked()) != 0 {
		t.Errorf("a model was asked")
	}
	member.chat(open, "Hello.").Want(t, http.StatusOK)
}

func TestRulesOfQuestions(t *testing.T) {
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
			got := ada.Do(http.MethodPost, path, body).Want(t, http.StatusBadRequest, api.CodeValidationFailed)
			if !strings.HasPrefix(got.Text("error"), strings.TrimRight(field, ": ")+":") {
				t.Errorf("%s: %s", field, got.Raw)
			}
		}
	}
	for _, body := range []object{{"prompt": ""}, {"prompt": " "}, {}, {"prompt": "a", "language": "a\tb"}, {"prompt": "a", "framework": strings.Repeat("x", 65)}} {
		ada.Do(http.MethodPost, "/api/ai/generate", body).Want(t, http.StatusBadRequest, api.CodeValidationFailed)
	}
	ada.chat(projectID, strings.Repeat("é", 32_000)).Want(t, http.StatusOK)
}

func TestGeneratedCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	w.model.play(model.TaskGenerate, says("This is it:\n\n```python\nprint(1)\n```\n\nRun it."), says("I can't."))
	got := ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Print one.", "framework": "flask"}).Want(t, http.StatusOK)
	if got.Text("code") != "print(1)\n" || got.Text("language") != "python" || got.Text("framework") != "flask" || got.Text("explanation") != "This is it:\n\nRun it." {
		t.Errorf("%s", got.Raw)
	}
	got = ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Print one.", "language": "cobol"}).Want(t, http.StatusOK)
	if got.Text("code") != "" || got.Text("language") != "cobol" || got.Text("explanation") != "I can't." {
		t.Errorf("%s", got.Raw)
	}
}

// An answer that stops nowhere is cut where one message holds it.
func TestAnAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	var parts []string
	for range 500 {
		parts = append(parts, strings.Repeat("\"\x00", 512))
	}
	w.model.play(model.TaskChat, says(parts...))
	got := ada.chat(projectID, "Go on.").Want(t, http.StatusOK)
	if n := len(got.Text("response")); n > maxAnswer || n < maxAnswer/2-2048 || strings.Contains(got.Text("response"), "\x00") || !strings.Contains(got.Text("response"), "cut off here") {
		t.Errorf("%d bytes", n)
	}
	if len(ada.history(projectID)) != 2 {
		t.Error("it was not kept")
	}
}

// Once there are many turns, the older half is in a note from then on.
func TestOldTurnsBecomeANote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	for i := range manyTurns {
		w.clock.Advance(time.Minute)
		ada.chat(projectID, fmt.Sprint("Question ", i)).Want(t, http.StatusOK)
	}
	w.model.play(model.TaskSummarize, says("").failing(&model.Error{Fault: model.Unavailable, Cause: errors.New("down")}), says("They ", "asked."))
	for range 2 { // the first note fails, and nobody minds
		w.clock.Advance(time.Minute)
		ada.chat(projectID, "Another.").Want(t, http.StatusOK)
	}
	ada.chat(projectID, "The last.").Want(t, http.StatusOK)
	asked := w.model.asked()
	last := asked[len(asked)-1]
	if last.Facts.Summary != "They asked." || len(last.Facts.Turns) != manyTurns+2-(manyTurns+2)/2 || last.Facts.Turns[0].User != "Question 5" {
		t.Errorf("told %q and %d turns from %+v", last.Facts.Summary, len(last.Facts.Turns), last.Facts.Turns[0])
	}
	if n := len(ada.history(projectID)); n != 2*(manyTurns+3) {
		t.Errorf("%d messages", n)
	}
}
