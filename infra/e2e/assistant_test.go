package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/platformtest"
	"devplatform/infra/uistream"
)

// minuteStart limits the wait for the beginning of a minute: a limit per minute is tested within one minute.
const minuteStart = 30 * time.Second

// The operations of the assistant work with the scaffold provider, which `make run` uses by default.
func TestAssistantWithScaffoldProvider(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", platformtest.Object{"framework": "react"})

	body := ada.Do("POST", "/api/ai/chat", platformtest.Object{
		"projectId": project, "message": "Create a todo list.", "apply": true,
	}.String()).Want(t, http.StatusOK)
	actions, _ := body["actions"].([]any)
	if body["applied"] != true || len(actions) == 0 || body["code"] == "" || body["conversationId"] != "cnv"+strings.TrimPrefix(project, "prj") {
		t.Fatalf("got answer %v, want applied actions in the conversation of the project", body)
	}
	first, _ := actions[0].(map[string]any)
	file := ada.Do("GET", "/api/projects/"+project+"/files?path="+fmt.Sprint(first["path"]), "").Want(t, http.StatusOK)
	if first["type"] != "create_file" || file["content"] != first["content"] || body["code"] != first["content"] {
		t.Errorf("got file %v, want the file of the first action %v", file, first)
	}
	created := 0
	for _, event := range ada.Do("GET", "/api/projects/"+project+"/events", "").List(t, "events") {
		if event["type"] == "file.created" {
			created++
		}
	}
	if created < 2 {
		t.Errorf("got %d file.created events, want at least 2", created)
	}
	messages := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages")
	if len(messages) != 2 || messages[0]["role"] != "user" || messages[1]["id"] != body["messageId"] || messages[1]["status"] != "complete" {
		t.Errorf("got messages %v, want the user's message and the complete answer", messages)
	}
	generated := ada.Do("POST", "/api/ai/generate", `{"prompt":"A login form with validation","language":"typescript"}`).
		Want(t, http.StatusOK)
	if generated["code"] != "" || generated["language"] != "typescript" ||
		!strings.Contains(fmt.Sprint(generated["explanation"]), "AI_PROVIDER=openai") ||
		!strings.Contains(fmt.Sprint(generated["model"]), "scaffold") {
		t.Errorf("got %v, want a refusal of the scaffold model", generated)
	}
	usage := ada.Do("GET", "/api/ai/usage", "").Want(t, http.StatusOK)
	if usage["calls"] != 2.0 || usage["totalTokens"] == 0.0 || usage["reservedTokens"] != 0.0 {
		t.Errorf("got usage %v, want 2 calls with tokens and no reserved tokens", usage)
	}
	ada.Do("DELETE", "/api/ai/conversations/"+project, "").Want(t, http.StatusOK)
	if messages := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages"); len(messages) != 0 {
		t.Errorf("got messages %v after the deletion of the conversation, want none", messages)
	}
}

// The client of the AI SDK for JavaScript can read the stream.
func TestAISDKReadsTheStream(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", platformtest.Object{"framework": "react"})
	address, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	var cookie string
	for _, c := range ada.HTTP.Jar.Cookies(address) {
		cookie = c.Name + "=" + c.Value
	}
	m := uistream.Read(t, p.URL, cookie, uistream.Request{
		ProjectID: project, Message: "Create a kanban board.", Apply: true,
	})
	var calls, actions, results int
	var text string
	for _, part := range m.Parts {
		switch {
		case part.Type == "text":
			text += part.Text
		case part.Type == "data-action":
			actions++
		case part.Type == "data-result":
			results++
		case strings.HasPrefix(part.Type, "tool-") && part.State == "input-available":
			calls++
		}
	}
	if m.Failure != "" || len(m.Errors) != 0 || m.FinishReason != "stop" {
		t.Errorf("got failure %q, errors %q and finish reason %q, want stop without errors", m.Failure, m.Errors, m.FinishReason)
	}
	if m.Role != "assistant" || !strings.HasPrefix(m.ID, "msg_") || text == "" {
		t.Errorf("got message %q of role %q with text %q, want an answer of the assistant", m.ID, m.Role, text)
	}
	if calls == 0 || actions != calls || results != 1 {
		t.Errorf("got %d tool calls, %d actions and %d results, want an action for each call and 1 result",
			calls, actions, results)
	}
	m = uistream.Read(t, p.URL, cookie, uistream.Request{ProjectID: "prj_none", Message: "Hello?"})
	if m.Status != http.StatusNotFound || !strings.Contains(m.Body, "PROJECT_NOT_FOUND") {
		t.Errorf("unknown project: got status %d with body %s, want 404 PROJECT_NOT_FOUND", m.Status, m.Body)
	}
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

const modelKey = "sk-a-key-that-must-stay-out-of-every-log"

// fakeModel is an OpenAI-compatible server. A test determines its answers.
type fakeModel struct {
	*httptest.Server
	// answer writes the answer to a request. The response ends when it returns.
	answer func(*modelAnswer)
}

// modelAnswer is a streamed answer in progress.
type modelAnswer struct {
	http.ResponseWriter
	ctx context.Context
}

func newFakeModel(t *testing.T, answer func(*modelAnswer)) *fakeModel {
	t.Helper()
	m := &fakeModel{answer: answer}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+modelKey {
			http.Error(w, `{"error":{"message":"wrong path or key"}}`, http.StatusUnauthorized)
			return
		}
		// The server detects that a client disconnected only after it has read the whole body.
		_, _ = io.Copy(io.Discard, r.Body)
		m.answer(&modelAnswer{w, r.Context()})
	}))
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

// start starts a platform whose assistant uses the server.
func (m *fakeModel) start(t *testing.T, env ...string) *platformtest.Platform {
	t.Helper()
	provider := []string{
		"AI_PROVIDER=openai", "AI_MODEL=test-model", "OPENAI_BASE_URL=" + m.URL + "/v1", "OPENAI_API_KEY=" + modelKey,
	}
	return platformtest.Start(t, append(provider, env...)...)
}

// chunk sends a chunk of the stream. delta and finishReason are JSON.
func (a *modelAnswer) chunk(delta, finishReason string) {
	a.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(a, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"test-model",`+
		`"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finishReason)
	_ = http.NewResponseController(a.ResponseWriter).Flush()
}

// text sends a part of the text.
func (a *modelAnswer) text(text string) { a.chunk(`{"content":`+string(mustJSON(text))+`}`, "null") }

// call sends a tool call.
func (a *modelAnswer) call(name, input string) {
	a.chunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function",`+
		`"function":{"name":%q,"arguments":%s}}]}`, name, mustJSON(input)), "null")
}

// end completes the answer and sends its usage in tokens.
func (a *modelAnswer) end(input, output int) {
	a.chunk(`{}`, `"stop"`)
	fmt.Fprintf(a, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"test-model","choices":[],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n",
		input, output, input+output)
}

// The client receives each part of the answer before the model sends the next one. The complete answer is applied.
func TestAnswersAreStreamed(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	m := newFakeModel(t, func(a *modelAnswer) {
		a.text("Here")
		select {
		case <-proceed:
		case <-a.ctx.Done():
			return
		}
		a.text(" it is.")
		a.call("create_file", `{"path":"/hello.txt","content":"Hello"}`)
		a.end(100, 20)
	})
	p := m.start(t)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", nil)
	request := platformtest.Object{"projectId": project, "message": "Say hello in a file.", "apply": true}
	f := ada.Stream("/api/ai/chat/stream", request.String())
	id := f.Until("start")["messageId"]
	if delta := f.Until("text-delta")["delta"]; delta != "Here" {
		t.Errorf("got the first text delta %v, want Here", delta)
	}
	close(proceed)
	if input := f.Until("tool-input-available"); input["toolName"] != "create_file" {
		t.Errorf("got tool call %v, want create_file", input)
	}
	if action, _ := f.Until("data-action")["data"].(map[string]any); action["path"] != "/hello.txt" {
		t.Errorf("got action %v, want the path /hello.txt", action)
	}
	result, _ := f.Until("data-result")["data"].(map[string]any)
	if result["messageId"] != id || result["response"] != "Here it is." || result["applied"] != true {
		t.Errorf("got result %v, want the applied answer of message %v", result, id)
	}
	if usage := fmt.Sprint(result["usage"]); usage != "map[inputTokens:100 outputTokens:20]" {
		t.Errorf("got usage %s, want 100 input tokens and 20 output tokens", usage)
	}
	if reason := f.Until("finish")["finishReason"]; reason != "stop" {
		t.Errorf("got finish reason %v, want stop", reason)
	}
	f.Until("[DONE]")
	ada.Do("GET", "/api/projects/"+project+"/files?path=/hello.txt", "").Want(t, http.StatusOK)
}

// A cancelled answer stops at the model's server within 2 s, and its text so far is stored. If the client disconnects
// without cancelling, the answer is completed.
func TestCancelAndDisconnect(t *testing.T) {
	t.Parallel()
	stopped, proceed := make(chan time.Time, 1), make(chan struct{})
	m := newFakeModel(t, nil)
	m.answer = func(a *modelAnswer) {
		a.text("Once upon a time")
		select {
		case <-a.ctx.Done():
			stopped <- time.Now()
			return
		case <-proceed:
		}
		a.text(" there was a client.")
		a.end(10, 10)
	}
	p := m.start(t)
	ada, grace := platformtest.NewClient(t, p.URL), platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	grace.SignUp("grace")
	project := ada.NewProject("Site", nil)
	request := platformtest.Object{"projectId": project, "message": "Write a story."}.String()

	f := ada.Stream("/api/ai/chat/stream", request)
	id := fmt.Sprint(f.Until("start")["messageId"])
	f.Until("text-delta")
	grace.Do("POST", "/api/ai/messages/"+id+"/cancel", "").WantError(t, http.StatusNotFound, "MESSAGE_NOT_FOUND")
	ada.Do("POST", "/api/ai/messages/"+id+"/cancel", "").Want(t, http.StatusAccepted)
	cancelled := time.Now()
	if took := (<-stopped).Sub(cancelled); took > 2*time.Second {
		t.Errorf("the generation stopped %v after it was cancelled, want at most 2 s", took)
	}
	if got := f.Types(); got[len(got)-1] != "[DONE]" {
		t.Errorf("got the frames %v after the cancellation, want [DONE] at the end", got)
	}
	f = ada.Stream("/api/ai/chat/stream", request)
	f.Until("text-delta")
	f.Body.Close()
	close(proceed)
	var messages []map[string]any
	platformtest.Eventually(t, "the answer is stored although its client disconnected", func() bool {
		messages = ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages")
		return len(messages) == 4
	})
	if messages[1]["status"] != "interrupted" || messages[1]["content"] != "Once upon a time" || messages[1]["id"] != id {
		t.Errorf("got cancelled answer %v, want its text so far with status interrupted", messages[1])
	}
	if messages[3]["status"] != "complete" || messages[3]["content"] != "Once upon a time there was a client." {
		t.Errorf("got answer %v after the client disconnected, want the complete text", messages[3])
	}
}

// Errors of the model's server are reported with their codes. They reserve no tokens, and store only the text that the
// model sent.
func TestModelErrors(t *testing.T) {
	t.Parallel()
	var answer func(*modelAnswer)
	var mu sync.Mutex
	m := newFakeModel(t, func(a *modelAnswer) {
		mu.Lock()
		write := answer
		mu.Unlock()
		write(a)
	})
	setAnswer := func(write func(*modelAnswer)) {
		mu.Lock()
		defer mu.Unlock()
		answer = write
	}
	p := m.start(t, "LIMIT_AI_MINUTE=1000")
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", nil)
	request := platformtest.Object{"projectId": project, "message": "Hello?"}.String()

	setAnswer(func(a *modelAnswer) {
		a.Header().Set("Retry-After", "7")
		http.Error(a, `{"error":{"message":"slow down","type":"rate_limit"}}`, http.StatusTooManyRequests)
	})
	for _, path := range []string{"/api/ai/chat", "/api/ai/chat/stream", "/api/ai/generate"} {
		body := request
		if path == "/api/ai/generate" {
			body = `{"prompt":"Hello?"}`
		}
		throttled := ada.Do("POST", path, body)
		throttled.WantError(t, http.StatusServiceUnavailable, "AI_UNAVAILABLE")
		if got := throttled.Header.Get("Retry-After"); got != "7" {
			t.Errorf("%s: got Retry-After %q, want 7", path, got)
		}
	}
	setAnswer(func(a *modelAnswer) {
		http.Error(a, `{"error":{"message":"bad key `+modelKey+`"}}`, http.StatusUnauthorized)
	})
	ada.Do("POST", "/api/ai/chat", request).WantError(t, http.StatusInternalServerError, "INTERNAL_ERROR")
	setAnswer(func(a *modelAnswer) {
		a.chunk(`{}`, `"content_filter"`)
		fmt.Fprint(a, "data: [DONE]\n\n")
	})
	ada.Do("POST", "/api/ai/chat", request).WantError(t, http.StatusUnprocessableEntity, "AI_REFUSED")
	if messages := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages"); len(messages) != 0 {
		t.Errorf("got messages %v after calls without an answer, want none", messages)
	}

	setAnswer(func(a *modelAnswer) { a.text("Half of") }) // then the response ends without a finish reason
	f := ada.Stream("/api/ai/chat/stream", request)
	if text := f.Until("error")["errorText"]; !strings.Contains(fmt.Sprint(text), "try again") {
		t.Errorf("got error text %v, want advice to try again", text)
	}
	if reason := f.Until("finish")["finishReason"]; reason != "error" {
		t.Errorf("got finish reason %v, want error", reason)
	}
	messages := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages")
	if len(messages) != 2 || messages[1]["content"] != "Half of" || messages[1]["status"] != "interrupted" {
		t.Errorf("got messages %v, want the interrupted answer with its text so far", messages)
	}
	if usage := ada.Do("GET", "/api/ai/usage", "").Want(t, http.StatusOK); usage["reservedTokens"] != 0.0 {
		t.Errorf("got usage %v, want no reserved tokens", usage)
	}
	if log := p.Log.String(); strings.Contains(log, modelKey) || !strings.Contains(log, "misconfigured") {
		t.Errorf("the log contains the key or does not report the misconfiguration; its end is: %s", p.Log.Tail(30))
	}
}

// A call that exceeds a rate limit or a quota is rejected with the code of that limit.
func TestAssistantLimits(t *testing.T) {
	t.Parallel()
	m := newFakeModel(t, func(a *modelAnswer) { a.text("Yes."); a.end(4_000, 1_000) })
	p := m.start(t, "LIMIT_AI_MINUTE=3", "AI_MONTHLY_TOKENS=12000", "AI_GLOBAL_MONTHLY_TOKENS=22000")
	const request = `{"prompt":"Is it?"}`
	ada, grace := platformtest.NewClient(t, p.URL), platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	grace.SignUp("grace")
	platformtest.EventuallyWithin(t, minuteStart, "a minute that does not end soon", func() bool {
		return time.Now().Second() < 45 // the limit counts the calls of a minute of the clock
	})
	for range 3 { // 5,000 tokens each; the output of the third call is limited to the tokens that remain of 12,000
		ada.Do("POST", "/api/ai/generate", request).Want(t, http.StatusOK)
	}
	limited := ada.Do("POST", "/api/ai/generate", request)
	limited.WantError(t, http.StatusTooManyRequests, "RATE_LIMITED")
	if limited.Header.Get("Retry-After") == "" {
		t.Error("the response has no Retry-After header")
	}
	for range 2 {
		grace.Do("POST", "/api/ai/generate", request).Want(t, http.StatusOK)
	}
	grace.Do("POST", "/api/ai/generate", request).WantError(t, http.StatusPaymentRequired, "QUOTA_EXCEEDED")
}
