package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/uistream"
)

// Everything of the assistant with the generator that `make run` comes with.
func TestAssistantOfTheLaptop(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := newClient(t, p.url)
	ada.signUp("ada")
	project := ada.newProject("Site", object{"framework": "react"})
	ada.save(project, "/package.json", `{"name":"site"}`).want(t, http.StatusCreated)

	body := ada.do("POST", "/api/ai/chat", object{
		"projectId": project, "message": "Create a contact form with name, email and message.", "apply": true,
	}.String()).want(t, http.StatusOK)
	actions, _ := body["actions"].([]any)
	if body["applied"] != true || len(actions) == 0 || body["code"] == "" || body["conversationId"] != "cnv"+strings.TrimPrefix(project, "prj") {
		t.Fatalf("%v", body)
	}
	first, _ := actions[0].(map[string]any)
	file := ada.do("GET", "/api/projects/"+project+"/files?path="+fmt.Sprint(first["path"]), "").want(t, http.StatusOK)
	if first["type"] != "create_file" || file["content"] != first["content"] || body["code"] != first["content"] {
		t.Errorf("%v was applied as %v", first, file)
	}
	created := 0
	for _, event := range ada.do("GET", "/api/projects/"+project+"/events", "").list(t, "events") {
		if event["type"] == "file.created" {
			created++
		}
	}
	if created < 2 {
		t.Errorf("%d events of files", created)
	}
	messages := ada.do("GET", "/api/ai/conversations/"+project, "").list(t, "messages")
	if len(messages) != 2 || messages[0]["role"] != "user" || messages[1]["id"] != body["messageId"] || messages[1]["status"] != "complete" {
		t.Errorf("history %v", messages)
	}
	generated := ada.do("POST", "/api/ai/generate", `{"prompt":"a store that keeps the theme","framework":"svelte"}`).want(t, http.StatusOK)
	if generated["code"] == "" || generated["framework"] != "svelte" || !strings.Contains(fmt.Sprint(generated["model"]), "scaffold") {
		t.Errorf("generated %v", generated)
	}
	month := ada.do("GET", "/api/ai/usage", "").want(t, http.StatusOK)
	if month["calls"] != 2.0 || month["totalTokens"] == 0.0 || month["reservedTokens"] != 0.0 {
		t.Errorf("usage %v", month)
	}
	ada.do("DELETE", "/api/ai/conversations/"+project, "").want(t, http.StatusOK)
	if left := ada.do("GET", "/api/ai/conversations/"+project, "").list(t, "messages"); len(left) != 0 {
		t.Errorf("after its deletion %v", left)
	}
}

// The AI SDK's own client reads the whole platform's stream as a page would.
func TestTheAISDKReadsTheStream(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := newClient(t, p.url)
	ada.signUp("ada")
	project := ada.newProject("Site", object{"framework": "vue"})
	address, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	var cookie string
	for _, c := range ada.http.Jar.Cookies(address) {
		cookie = c.Name + "=" + c.Value
	}
	m := uistream.Read(t, p.url, cookie, uistream.Request{ProjectID: project, Message: "A table of invoices with number, date and total", Apply: true})
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
	if m.Failure != "" || len(m.Errors) != 0 || m.FinishReason != "stop" || m.Role != "assistant" || !strings.HasPrefix(m.ID, "msg_") || text == "" || calls == 0 || actions != calls || results != 1 {
		t.Errorf("%s %s %q %q %q: %d calls, %d actions, %d results", m.ID, m.FinishReason, m.Failure, m.Errors, text, calls, actions, results)
	}
	if m := uistream.Read(t, p.url, cookie, uistream.Request{ProjectID: "prj_none", Message: "Hello?"}); m.Status != http.StatusNotFound || !strings.Contains(m.Body, "PROJECT_NOT_FOUND") {
		t.Errorf("%+v", m)
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

// llm is an OpenAI-compatible server whose answers a test writes.
type llm struct {
	*httptest.Server
	// answer writes one; what it returns is done with the connection.
	answer func(w *llmAnswer)
	mu     sync.Mutex
	asked  []string // bodies
}

// llmAnswer is one under way.
type llmAnswer struct {
	http.ResponseWriter
	ctx context.Context
}

func newLLM(t *testing.T, answer func(*llmAnswer)) *llm {
	t.Helper()
	m := &llm{answer: answer}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+modelKey {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusUnauthorized)
			return
		}
		m.mu.Lock()
		m.asked = append(m.asked, string(body))
		m.mu.Unlock()
		m.answer(&llmAnswer{w, r.Context()})
	}))
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

// start runs a platform that asks the server.
func (m *llm) start(t *testing.T, env ...string) *platform {
	t.Helper()
	return start(t, append([]string{"AI_PROVIDER=openai", "AI_MODEL=test-model", "OPENAI_BASE_URL=" + m.URL + "/v1", "OPENAI_API_KEY=" + modelKey}, env...)...)
}

// chunk sends one piece of a streamed answer; delta and finish are JSON.
func (a *llmAnswer) chunk(delta, finish string) {
	a.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(a, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"test-model","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	_ = http.NewResponseController(a.ResponseWriter).Flush()
}

func (a *llmAnswer) text(text string) { a.chunk(`{"content":`+string(mustJSON(text))+`}`, "null") }

func (a *llmAnswer) call(name, input string) {
	a.chunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":%q,"arguments":%s}}]}`, name, mustJSON(input)), "null")
}

// end says that the answer is complete, and what it took.
func (a *llmAnswer) end(input, output int) {
	a.chunk(`{}`, `"stop"`)
	fmt.Fprintf(a, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"test-model","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n", input, output, input+output)
}

// frames are the events of a stream as they arrive.
type frames struct {
	t      testing.TB
	body   io.ReadCloser
	reader *bufio.Reader
}

func (c *client) stream(path, body string) *frames {
	c.t.Helper()
	request, err := http.NewRequest(http.MethodPost, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	h := response.Header
	if response.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" || h.Get("X-Request-Id") == "" || h.Get("Cache-Control") != "no-store" {
		c.t.Fatalf("%d %v", response.StatusCode, h)
	}
	c.t.Cleanup(func() { response.Body.Close() })
	return &frames{c.t, response.Body, bufio.NewReader(response.Body)}
}

// next is the next frame, "[DONE]" as {"type":"[DONE]"}; nil at the end.
func (f *frames) next() map[string]any {
	f.t.Helper()
	for {
		line, err := f.reader.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			f.t.Fatal(err)
		}
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return map[string]any{"type": data}
		}
		frame := map[string]any{}
		if err := json.Unmarshal([]byte(data), &frame); err != nil {
			f.t.Fatalf("%s: %v", data, err)
		}
		return frame
	}
}

// until reads on to a frame of that type.
func (f *frames) until(kind string) map[string]any {
	f.t.Helper()
	for {
		frame := f.next()
		if frame == nil {
			f.t.Fatalf("the stream ended before %s", kind)
		}
		if frame["type"] == kind {
			return frame
		}
	}
}

func (f *frames) types() []string {
	f.t.Helper()
	var all []string
	for frame := f.next(); frame != nil; frame = f.next() {
		all = append(all, fmt.Sprint(frame["type"]))
	}
	return all
}

// What the model has said is with the client before it goes on; what it does is checked; what came is kept.
func TestAnswersStreamAsTheyAreMade(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	m := newLLM(t, func(a *llmAnswer) {
		a.text("Here")
		select {
		case <-goOn:
		case <-a.ctx.Done():
			return
		}
		a.text(" it is.")
		a.call("create_file", `{"path":"/hello.txt","content":"Hello"}`)
		a.end(100, 20)
	})
	p := m.start(t)
	ada := newClient(t, p.url)
	ada.signUp("ada")
	project := ada.newProject("Site", nil)
	f := ada.stream("/api/ai/chat/stream", object{"projectId": project, "message": "Say hello in a file.", "apply": true}.String())
	id := f.until("start")["messageId"]
	if delta := f.until("text-delta")["delta"]; delta != "Here" {
		t.Errorf("the first words are %v", delta)
	}
	close(goOn)
	if input := f.until("tool-input-available"); input["toolName"] != "create_file" {
		t.Errorf("%v", input)
	}
	if action, _ := f.until("data-action")["data"].(map[string]any); action["path"] != "/hello.txt" {
		t.Errorf("%v", action)
	}
	result, _ := f.until("data-result")["data"].(map[string]any)
	if result["messageId"] != id || result["response"] != "Here it is." || result["applied"] != true || fmt.Sprint(result["usage"]) != "map[inputTokens:100 outputTokens:20]" {
		t.Errorf("%v", result)
	}
	if reason := f.until("finish")["finishReason"]; reason != "stop" {
		t.Errorf("%v", reason)
	}
	f.until("[DONE]")
	ada.do("GET", "/api/projects/"+project+"/files?path=/hello.txt", "").want(t, http.StatusOK)
}

// Cancelled, a generation stops at the model's server within 2 s and is kept as far as it came; one whose client has left is made
// to its end.
func TestCancelledAndLeftAlone(t *testing.T) {
	t.Parallel()
	stopped, goOn := make(chan time.Time, 1), make(chan struct{})
	m := newLLM(t, nil)
	m.answer = func(a *llmAnswer) {
		a.text("Once upon a time")
		select {
		case <-a.ctx.Done():
			stopped <- time.Now()
			return
		case <-goOn:
		}
		a.text(" there was a client.")
		a.end(10, 10)
	}
	p := m.start(t)
	ada, grace := newClient(t, p.url), newClient(t, p.url)
	ada.signUp("ada")
	grace.signUp("grace")
	project := ada.newProject("Site", nil)
	ask := object{"projectId": project, "message": "Tell me a story."}.String()

	f := ada.stream("/api/ai/chat/stream", ask)
	id := fmt.Sprint(f.until("start")["messageId"])
	f.until("text-delta")
	grace.do("POST", "/api/ai/messages/"+id+"/cancel", "").wantError(t, http.StatusNotFound, "MESSAGE_NOT_FOUND")
	ada.do("POST", "/api/ai/messages/"+id+"/cancel", "").want(t, http.StatusAccepted)
	asked := time.Now()
	if took := (<-stopped).Sub(asked); took > 2*time.Second {
		t.Errorf("it stopped after %v", took)
	}
	if got := f.types(); got[len(got)-1] != "[DONE]" {
		t.Errorf("it ended with %v", got)
	}
	f = ada.stream("/api/ai/chat/stream", ask)
	f.until("text-delta")
	f.body.Close()
	close(goOn)
	var messages []map[string]any
	eventually(t, "the answer that nobody reads", func() bool {
		messages = ada.do("GET", "/api/ai/conversations/"+project, "").list(t, "messages")
		return len(messages) == 4
	})
	if messages[1]["status"] != "interrupted" || messages[1]["content"] != "Once upon a time" || messages[1]["id"] != id {
		t.Errorf("the cancelled answer: %v", messages[1])
	}
	if messages[3]["status"] != "complete" || messages[3]["content"] != "Once upon a time there was a client." {
		t.Errorf("the answer that was left: %v", messages[3])
	}
}

// What goes wrong at the model's server is said, and costs nothing but itself.
func TestTroubleWithTheModel(t *testing.T) {
	t.Parallel()
	var answer func(*llmAnswer)
	var mu sync.Mutex
	m := newLLM(t, func(a *llmAnswer) {
		mu.Lock()
		do := answer
		mu.Unlock()
		do(a)
	})
	next := func(do func(*llmAnswer)) {
		mu.Lock()
		defer mu.Unlock()
		answer = do
	}
	p := m.start(t, "LIMIT_AI_MINUTE=1000")
	ada := newClient(t, p.url)
	ada.signUp("ada")
	project := ada.newProject("Site", nil)
	ask := object{"projectId": project, "message": "Hello?"}.String()

	next(func(a *llmAnswer) {
		a.Header().Set("Retry-After", "7")
		http.Error(a, `{"error":{"message":"slow down","type":"rate_limit"}}`, http.StatusTooManyRequests)
	})
	for _, path := range []string{"/api/ai/chat", "/api/ai/chat/stream", "/api/ai/generate"} {
		body := ask
		if path == "/api/ai/generate" {
			body = `{"prompt":"Hello?"}`
		}
		throttled := ada.do("POST", path, body)
		throttled.wantError(t, http.StatusServiceUnavailable, "AI_UNAVAILABLE")
		if got := throttled.header.Get("Retry-After"); got != "7" {
			t.Errorf("%s: Retry-After %q", path, got)
		}
	}
	next(func(a *llmAnswer) {
		http.Error(a, `{"error":{"message":"bad key `+modelKey+`"}}`, http.StatusUnauthorized)
	})
	ada.do("POST", "/api/ai/chat", ask).wantError(t, http.StatusInternalServerError, "INTERNAL_ERROR")
	next(func(a *llmAnswer) { a.chunk(`{}`, `"content_filter"`); fmt.Fprint(a, "data: [DONE]\n\n") })
	ada.do("POST", "/api/ai/chat", ask).wantError(t, http.StatusUnprocessableEntity, "AI_REFUSED")
	if messages := ada.do("GET", "/api/ai/conversations/"+project, "").list(t, "messages"); len(messages) != 0 {
		t.Errorf("nothing was said, and kept: %v", messages)
	}

	next(func(a *llmAnswer) { a.text("Half of") }) // and the connection ends
	f := ada.stream("/api/ai/chat/stream", ask)
	if text := f.until("error")["errorText"]; !strings.Contains(fmt.Sprint(text), "try again") {
		t.Errorf("%v", text)
	}
	if reason := f.until("finish")["finishReason"]; reason != "error" {
		t.Errorf("%v", reason)
	}
	messages := ada.do("GET", "/api/ai/conversations/"+project, "").list(t, "messages")
	if len(messages) != 2 || messages[1]["content"] != "Half of" || messages[1]["status"] != "interrupted" {
		t.Errorf("half an answer was kept as %v", messages)
	}
	if month := ada.do("GET", "/api/ai/usage", "").want(t, http.StatusOK); month["reservedTokens"] != 0.0 {
		t.Errorf("usage %v", month)
	}
	if log := p.log.String(); strings.Contains(log, modelKey) || !strings.Contains(log, "misconfigured") {
		t.Errorf("the log holds the key, or does not say what is wrong: %s", p.log.tail(30))
	}
}

// The limits hold, each with its error.
func TestLimitsOfTheAssistant(t *testing.T) {
	t.Parallel()
	m := newLLM(t, func(a *llmAnswer) { a.text("Yes."); a.end(4_000, 1_000) })
	p := m.start(t, "LIMIT_AI_MINUTE=3", "AI_MONTHLY_TOKENS=12000", "AI_GLOBAL_MONTHLY_TOKENS=22000")
	const ask = `{"prompt":"Is it?"}`
	ada, grace := newClient(t, p.url), newClient(t, p.url)
	ada.signUp("ada")
	grace.signUp("grace")
	for range 3 { // five thousand tokens each: the last one is asked for no more than what is left
		ada.do("POST", "/api/ai/generate", ask).want(t, http.StatusOK)
	}
	limited := ada.do("POST", "/api/ai/generate", ask)
	limited.wantError(t, http.StatusTooManyRequests, "RATE_LIMITED")
	if limited.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	for range 2 {
		grace.do("POST", "/api/ai/generate", ask).want(t, http.StatusOK)
	}
	grace.do("POST", "/api/ai/generate", ask).wantError(t, http.StatusPaymentRequired, "QUOTA_EXCEEDED")
}
