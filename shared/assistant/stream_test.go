package assistant

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
	"devplatform/shared/project"
)

// frames reads a stream.
type frames struct {
	t      *testing.T
	body   io.ReadCloser
	reader *bufio.Reader
}

// stream starts a stream. The test fails if it does not start.
func (b *browser) stream(projectID, message string, apply bool) *frames {
	b.w.t.Helper()
	body := fmt.Sprintf(`{"projectId":%q,"message":%q,"apply":%v}`, projectID, message, apply)
	r, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodPost, b.w.server.URL+chatPath+"/stream", strings.NewReader(body))
	b.w.must(err)
	r.Header.Set("Content-Type", "application/json")
	response, err := b.HTTP.Do(r)
	b.w.must(err)
	h := response.Header
	if response.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" || h.Get("Cache-Control") != "no-store" {
		b.w.t.Fatalf("%d %v", response.StatusCode, h)
	}
	b.w.t.Cleanup(func() { _ = response.Body.Close() })
	return &frames{b.w.t, response.Body, bufio.NewReader(response.Body)}
}

// next returns the next frame. At the end its type is [DONE].
func (f *frames) next() map[string]any {
	f.t.Helper()
	for {
		line, err := f.reader.ReadString('\n')
		if err != nil {
			f.t.Fatalf("the stream ended: %v", err)
		}
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		switch {
		case !ok:
			continue
		case data == "[DONE]":
			if rest, err := io.ReadAll(f.reader); err != nil || strings.TrimSpace(string(rest)) != "" {
				f.t.Errorf("after [DONE]: %q, %v", rest, err)
			}
			return map[string]any{"type": data}
		}
		frame := map[string]any{}
		if err := json.Unmarshal([]byte(data), &frame); err != nil {
			f.t.Fatalf("%s: %v", data, err)
		}
		return frame
	}
}

// rest returns the remaining frames.
func (f *frames) rest() []map[string]any {
	f.t.Helper()
	var all []map[string]any
	for {
		all = append(all, f.next())
		if all[len(all)-1]["type"] == "[DONE]" {
			return all
		}
	}
}

func types(frames []map[string]any) string {
	var all []string
	for _, frame := range frames {
		all = append(all, fmt.Sprint(frame["type"]))
	}
	return strings.Join(all, " ")
}

func TestStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	resume := make(chan struct{})
	w.model.play(model.TaskChat, says("Here ").waiting(resume).saying("it is.").calling("1", "create_file", `{"path":"/b.ts","content":"b\n"}`))
	f := ada.stream(projectID, "Make it.", true)
	head := []map[string]any{f.next(), f.next(), f.next()}
	if types(head) != "start text-start text-delta" || head[2]["delta"] != "Here " || !strings.HasPrefix(fmt.Sprint(head[0]["messageId"]), "msg_") {
		t.Errorf("%v", head)
	}
	close(resume)
	rest := f.rest()
	if got := types(rest); got != "text-delta text-end tool-input-start tool-input-delta tool-input-delta tool-input-available data-action data-result finish [DONE]" {
		t.Errorf("%s", got)
	}
	action, _ := rest[6]["data"].(map[string]any)
	result, _ := rest[7]["data"].(map[string]any)
	if fmt.Sprint(action) != "map[content:b\n path:/b.ts type:create_file]" || result["messageId"] != head[0]["messageId"] || result["response"] != "Here it is." ||
		result["applied"] != true || rest[8]["finishReason"] != "stop" || fmt.Sprint(rest[5]["input"]) != "map[content:b\n path:/b.ts]" {
		t.Errorf("%v", rest)
	}
	if ada.content(projectID, "/b.ts") != "b\n" || len(ada.history(projectID)) != 2 {
		t.Error("the answer was not applied or not stored")
	}
}

// Invalid JSON is not sent to the client, and failed calls are not among the actions.
func TestMalformedCallsAreNotStreamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says("").
		calling("1", "create_file", `{"path":"/a" "content":"SECRET"}`).
		calling("2", "delete_file", `{"path":"/none"}`).
		calling("3", "format_disk", `{"path":"/"}`).
		calling("4", "create_file", `{"path":"/a","path":"/b","content":""}`),
		says("quiet").calling("1", "create_file", `{"path":"/a","content":"repaired"}`))
	all := ada.stream(projectID, "Make it.", false).rest()
	available, actions, failed, response, started := 0, 0, 0, "", map[any]bool{}
	for _, frame := range all {
		switch frame["type"] {
		case "tool-input-start":
			if started[frame["toolCallId"]] {
				t.Errorf("the call %v started twice", frame["toolCallId"])
			}
			started[frame["toolCallId"]] = true
		case "tool-input-available":
			available++
		case "tool-input-error":
			failed++
		case "data-action":
			actions++
		case "data-result":
			result, _ := frame["data"].(map[string]any)
			response = fmt.Sprint(result["response"])
		}
		if strings.Contains(fmt.Sprint(frame), "SECRET") || strings.Contains(fmt.Sprint(frame), "quiet") {
			t.Errorf("%v", frame)
		}
	}
	if available != 2 || failed != 3 || actions != 1 || len(started) != 5 { // the deletion and the repair are whole
		t.Errorf("%d available, %d failed, %d actions, %d started: %s", available, failed, actions, len(started), types(all))
	}
	if strings.Count(response, "Left out") != 3 {
		t.Errorf("%q", response)
	}
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	down := &model.Error{Fault: model.Unavailable, Cause: errors.New("its own words")}
	w.model.play(model.TaskChat, says("Half of").calling("1", "create_file", `{"path":"/a","content":""}`).failing(down))
	all := ada.stream(projectID, "Make it.", true).rest()
	if last := types(all[len(all)-3:]); last != "error finish [DONE]" || all[len(all)-2]["finishReason"] != "error" || !strings.Contains(fmt.Sprint(all[len(all)-3]["errorText"]), "try again") {
		t.Errorf("%v", all)
	}
	messages := ada.history(projectID)
	if len(messages) != 2 || messages[1]["status"] != "interrupted" || messages[1]["content"] != "Half of" {
		t.Errorf("%v", messages)
	}
	if got := ada.Get("/api/projects/"+projectID+"/files").Want(t, http.StatusOK); len(got.List("files")) != 0 {
		t.Error("an incomplete answer was applied")
	}
	// An error before the first output is an ordinary response.
	w.model.play(model.TaskChat, says().failing(down))
	ada.Do(http.MethodPost, chatPath+"/stream", object{"projectId": projectID, "message": "Hm?"}).Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)
	// The details of an internal error are not sent, and the stream still ends properly.
	w.model.play(model.TaskChat, says("Half of").doing(func() { panic("a bug") }))
	all = ada.stream(projectID, "Make it.", true).rest()
	if types(all[len(all)-3:]) != "error finish [DONE]" || strings.Contains(fmt.Sprint(all), "bug") {
		t.Errorf("%v", all)
	}
}

func TestCancelledAnswerIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.CancelPoll = 10 * time.Millisecond }))
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	w.model.play(model.TaskChat, says("Once upon").calling("1", "create_file", `{"path":"/a","content":""}`).waiting(make(chan struct{})).saying(" a time"))
	f := ada.stream(projectID, "Tell me.", true)
	id := fmt.Sprint(f.next()["messageId"])
	for f.next()["type"] != "data-action" {
	}
	ada.Do(http.MethodPost, "/api/ai/messages/"+id+"/cancel", nil).Want(t, http.StatusAccepted)
	all := f.rest()
	result, _ := all[0]["data"].(map[string]any)
	if types(all) != "data-result finish [DONE]" || all[1]["finishReason"] != "other" || result["response"] != "Once upon" || result["applied"] != false {
		t.Errorf("%v", all)
	}
	messages := ada.history(projectID)
	if len(messages) != 2 || messages[1]["status"] != "interrupted" || messages[1]["id"] != id {
		t.Errorf("%v", messages)
	}
}

// If the client disconnects, the answer is completed and stored.
func TestAnswerIsStoredAfterClientDisconnects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	projectID := ada.project("", project.Private)
	resume, done := make(chan struct{}), make(chan struct{})
	w.model.play(model.TaskChat, says("Once ").waiting(resume).saying(strings.Repeat("upon a time ", 1000)).doing(func() { close(done) }))
	f := ada.stream(projectID, "Tell me.", false)
	for f.next()["type"] != "text-delta" {
	}
	_ = f.body.Close()
	close(resume)
	<-done
	var messages []map[string]any
	for len(messages) < 2 { // until it is stored
		messages = ada.history(projectID)
	}
	if messages[1]["status"] != "complete" || !strings.HasSuffix(fmt.Sprint(messages[1]["content"]), "a time ") {
		t.Errorf("%v", messages[1])
	}
}

// brokenWriter panics when the response starts, like a server that aborts it.
type brokenWriter struct{ header http.Header }

func (w brokenWriter) Header() http.Header       { return w.header }
func (w brokenWriter) WriteHeader(int)           { panic(http.ErrAbortHandler) }
func (w brokenWriter) Write([]byte) (int, error) { panic(http.ErrAbortHandler) }

// A stream whose response is aborted leaks no goroutine. The test is not parallel, because it checks all goroutines.
func TestAbortedStreamLeaksNoGoroutine(t *testing.T) {
	w := newWorld(t)
	ada := w.user("ada")
	w.model.play(model.TaskChat, says("One ", "two ", "three."))
	body := `{"projectId":"` + ada.project("", project.Private) + `","message":"Hello?"}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, chatPath+"/stream", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.AddCookie(&http.Cookie{Name: "session", Value: ada.name})
	func() {
		defer func() { _ = recover() }()
		w.server.Config.Handler.ServeHTTP(brokenWriter{http.Header{}}, r)
	}()
	if len(w.model.requests()) != 1 {
		t.Fatal("the model was not called")
	}
	buffer := make([]byte, 1<<20)
	for range 200 {
		stacks := string(buffer[:runtime.Stack(buffer, true)])
		if !strings.Contains(stacks, "created by devplatform/shared/assistant.") {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("leaked goroutines:\n%s", buffer[:runtime.Stack(buffer, true)])
}
