package assistant

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
)

// stream reads the frames of a streamed answer.
type stream struct {
	t      *testing.T
	body   io.ReadCloser
	reader *bufio.Reader
}

// openStream sends a message and returns the stream of its answer. It fails the test if the response is not a stream.
func (u *user) openStream(projectID, message string, apply bool) *stream {
	u.f.t.Helper()
	t := u.f.t
	body := fmt.Sprintf(`{"projectId":%q,"message":%q,"apply":%v}`, projectID, message, apply)
	request, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, u.f.server.URL+streamURL, strings.NewReader(body))
	u.f.must(err)
	request.Header.Set("Content-Type", "application/json")
	response, err := u.HTTP.Do(request)
	u.f.must(err)
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("got status %d, want 200", response.StatusCode)
	}
	for name, want := range map[string]string{
		"Content-Type":                  "text/event-stream",
		"X-Vercel-Ai-Ui-Message-Stream": "v1",
		"Cache-Control":                 "no-store",
	} {
		if got := response.Header.Get(name); got != want {
			t.Fatalf("got header %s: %q, want %q", name, got, want)
		}
	}
	return &stream{t, response.Body, bufio.NewReader(response.Body)}
}

// frame is an event of a stream.
type frame map[string]any

// data returns the field "data" of a frame.
func (f frame) data() map[string]any {
	data, _ := f["data"].(map[string]any)
	return data
}

// next returns the next frame. The type of the last frame is [DONE].
func (s *stream) next() frame {
	s.t.Helper()
	for {
		line, err := s.reader.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the stream ended before [DONE]: %v", err)
		}
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		switch {
		case !ok: // a comment or an empty line
			continue
		case data == "[DONE]":
			if rest, err := io.ReadAll(s.reader); err != nil || strings.TrimSpace(string(rest)) != "" {
				s.t.Errorf("got %q and error %v after [DONE], want the end of the stream", rest, err)
			}
			return frame{"type": data}
		}
		next := frame{}
		if err := json.Unmarshal([]byte(data), &next); err != nil {
			s.t.Fatalf("frame %s: %v", data, err)
		}
		return next
	}
}

// skipTo reads frames until it has read one of the given type.
func (s *stream) skipTo(frameType string) {
	s.t.Helper()
	for s.next()["type"] != frameType {
	}
}

// rest returns the remaining frames.
func (s *stream) rest() []frame {
	s.t.Helper()
	var all []frame
	for {
		all = append(all, s.next())
		if all[len(all)-1]["type"] == "[DONE]" {
			return all
		}
	}
}

// checkTypes fails the test if the frames do not have the given types, which are separated by spaces.
func checkTypes(t *testing.T, frames []frame, want string) {
	t.Helper()
	var types []string
	for _, frame := range frames {
		types = append(types, fmt.Sprint(frame["type"]))
	}
	if got := strings.Join(types, " "); got != want {
		t.Fatalf("got frames of the types %s, want %s: %v", got, want, frames)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	resume := make(chan struct{})
	f.model.enqueue(model.TaskChat, newResponse("Here ").withWait(resume).withText("it is.").
		withCall("1", "create_file", `{"path":"/b.ts","content":"b\n"}`))
	s := ada.openStream(projectID, "Make it.", true)

	// The first text is sent before the answer is complete.
	beginning := []frame{s.next(), s.next(), s.next()}
	checkTypes(t, beginning, "start text-start text-delta")
	messageID := beginning[0]["messageId"]
	if !strings.HasPrefix(fmt.Sprint(messageID), "msg_") || beginning[2]["delta"] != "Here " {
		t.Errorf("got frames %v, want a message ID and the text %q", beginning, "Here ")
	}

	close(resume)
	rest := s.rest()
	checkTypes(t, rest, "text-delta text-end tool-input-start tool-input-delta tool-input-delta tool-input-available "+
		"data-action data-result finish [DONE]")
	available, action, result, finish := rest[5], rest[6].data(), rest[7].data(), rest[8]
	wantInput := map[string]any{"path": "/b.ts", "content": "b\n"}
	if diff := cmp.Diff(any(wantInput), available["input"]); diff != "" {
		t.Errorf("input of the tool call (-want +got):\n%s", diff)
	}
	wantAction := map[string]any{"type": "create_file", "path": "/b.ts", "content": "b\n"}
	if diff := cmp.Diff(wantAction, action); diff != "" {
		t.Errorf("action (-want +got):\n%s", diff)
	}
	if result["messageId"] != messageID || result["response"] != "Here it is." || result["applied"] != true {
		t.Errorf("got result %v, want the applied answer %v", result, messageID)
	}
	if finish["finishReason"] != "stop" {
		t.Errorf("got finish reason %v, want stop", finish["finishReason"])
	}
	ada.checkFile(projectID, "/b.ts", "b\n")
	if n := len(ada.messages(projectID)); n != 2 {
		t.Errorf("got %d messages, want 2", n)
	}
}

// Input is streamed as the model sends it, also if it is not valid JSON. Failed calls do not become actions.
func TestMalformedCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	const malformed = `{"path":"/a" "content":"after the error"}`
	first := newResponse("").
		withCall("1", "create_file", malformed).
		withCall("2", "delete_file", `{"path":"/missing"}`).
		withCall("3", "unknown_tool", `{"path":"/"}`).
		withCall("4", "create_file", `{"path":"/a","path":"/b","content":""}`)
	repair := newResponse("TEXT OF THE REPAIR").withCall("1", "create_file", `{"path":"/a","content":"repaired"}`)
	f.model.enqueue(model.TaskChat, first, repair)
	count, started, inputs, text := map[any]int{}, map[any]bool{}, map[any]string{}, ""
	for _, frame := range ada.openStream(projectID, "Make it.", false).rest() {
		count[frame["type"]]++
		switch frame["type"] {
		case "tool-input-start":
			if started[frame["toolCallId"]] {
				t.Errorf("the call %v started twice", frame["toolCallId"])
			}
			started[frame["toolCallId"]] = true
		case "tool-input-delta":
			inputs[frame["toolCallId"]] += fmt.Sprint(frame["inputTextDelta"])
		case "data-result":
			text = fmt.Sprint(frame.data()["response"])
		}
		if content := fmt.Sprint(frame); strings.Contains(content, "TEXT OF THE REPAIR") {
			t.Errorf("got frame %s, want no text of the repair", content)
		}
	}
	if inputs["1"] != malformed {
		t.Errorf("got the input %q in the stream, want %q", inputs["1"], malformed)
	}
	for frameType, want := range map[string]int{
		"tool-input-start":     5,
		"tool-input-available": 2, // call 2, and the repaired call
		"tool-input-error":     3, // calls 1, 3 and 4
		"data-action":          1, // the repaired call
	} {
		if count[frameType] != want {
			t.Errorf("got %d frames of the type %s, want %d", count[frameType], frameType, want)
		}
	}
	if n := strings.Count(text, "Left out"); n != 3 {
		t.Errorf("got %d notes about failed calls, want 3: %q", n, text)
	}
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	unavailable := &model.Error{Fault: model.Unavailable, Cause: errors.New("the provider's message")}
	f.model.enqueue(model.TaskChat, newResponse("Half of").
		withCall("1", "create_file", `{"path":"/a","content":""}`).withError(unavailable))
	frames := ada.openStream(projectID, "Make it.", true).rest()
	end := frames[len(frames)-3:]
	checkTypes(t, end, "error finish [DONE]")
	if !strings.Contains(fmt.Sprint(end[0]["errorText"]), "try again") || end[1]["finishReason"] != "error" {
		t.Errorf("got %v at the end of the stream, want an error text and the finish reason error", end)
	}
	if answer := ada.checkInterrupted(projectID); answer["content"] != "Half of" {
		t.Errorf("got stored answer %v, want the content %q", answer, "Half of")
	}
	ada.checkNoFiles(projectID)

	// If an error occurs before the model's first output, the response is an ordinary error response.
	f.model.enqueue(model.TaskChat, newResponse().withError(unavailable))
	ada.Do(http.MethodPost, streamURL, object{"projectId": projectID, "message": "Hello?"}).
		Want(t, http.StatusServiceUnavailable, fault.CodeAIUnavailable)

	// After a panic, the stream still ends with an error, which does not contain any details.
	f.model.enqueue(model.TaskChat, newResponse("Half of").withFunc(func() { panic("internal details") }))
	frames = ada.openStream(projectID, "Make it.", true).rest()
	checkTypes(t, frames[len(frames)-3:], "error finish [DONE]")
	if strings.Contains(fmt.Sprint(frames), "internal details") {
		t.Errorf("got frames %v, want no details of the panic", frames)
	}
}

func TestCancelledAnswerIsStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CancelPoll = 10 * time.Millisecond }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	f.model.enqueue(model.TaskChat, newResponse("Once upon").
		withCall("1", "create_file", `{"path":"/a","content":""}`).
		withWait(make(chan struct{})).withText(" a time"))
	s := ada.openStream(projectID, "Write a story.", true)
	messageID := fmt.Sprint(s.next()["messageId"])
	s.skipTo("data-action")
	ada.Do(http.MethodPost, cancelURL(messageID), nil).Want(t, http.StatusAccepted)
	end := s.rest()
	checkTypes(t, end, "data-result finish [DONE]")
	if result := end[0].data(); result["response"] != "Once upon" || result["applied"] != false {
		t.Errorf("got result %v, want the text %q and applied to be false", result, "Once upon")
	}
	if end[1]["finishReason"] != "other" {
		t.Errorf("got finish reason %v, want other", end[1]["finishReason"])
	}
	if answer := ada.checkInterrupted(projectID); answer["id"] != messageID {
		t.Errorf("got stored answer %v, want the ID %s", answer, messageID)
	}
}

// If the client disconnects, the answer is completed and stored.
func TestAnswerIsStoredAfterClientDisconnects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	resume, done := make(chan struct{}), make(chan struct{})
	f.model.enqueue(model.TaskChat, newResponse("Once ").withWait(resume).
		withText(strings.Repeat("upon a time ", 1000)).withFunc(func() { close(done) }))
	s := ada.openStream(projectID, "Write a story.", false)
	s.skipTo("text-delta")
	_ = s.body.Close()
	close(resume)
	<-done
	var messages []map[string]any
	for len(messages) < 2 { // wait until the turn is stored
		messages = ada.messages(projectID)
	}
	answer := messages[1]
	if answer["status"] != "complete" || !strings.HasSuffix(fmt.Sprint(answer["content"]), "a time ") {
		t.Errorf("got stored answer %v, want the complete answer", answer)
	}
}

// abortingWriter is an http.ResponseWriter that panics when the response starts. It simulates a server that aborts the
// response.
type abortingWriter struct{ header http.Header }

func (w abortingWriter) Header() http.Header       { return w.header }
func (w abortingWriter) WriteHeader(int)           { panic(http.ErrAbortHandler) }
func (w abortingWriter) Write([]byte) (int, error) { panic(http.ErrAbortHandler) }

// This test is not parallel, because it checks all goroutines.
func TestAbortedStreamLeaksNoGoroutine(t *testing.T) {
	f := newFixture(t)
	ada := f.newUser("ada")
	f.model.enqueue(model.TaskChat, newResponse("One ", "two ", "three."))
	body := `{"projectId":"` + ada.newProject() + `","message":"Hello?"}`
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, streamURL, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.AddCookie(&http.Cookie{Name: "session", Value: ada.name})
	func() {
		defer func() { _ = recover() }()
		f.server.Config.Handler.ServeHTTP(abortingWriter{http.Header{}}, request)
	}()
	if n := len(f.model.requests()); n != 1 {
		t.Fatalf("got %d model requests, want 1", n)
	}
	buffer := make([]byte, 1<<20)
	for range 200 {
		stacks := string(buffer[:runtime.Stack(buffer, true)])
		if !strings.Contains(stacks, "created by devplatform/shared/assistant.") {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("goroutines are still running after 2 seconds:\n%s", buffer[:runtime.Stack(buffer, true)])
}
