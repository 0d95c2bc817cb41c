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

// Everything of the assistant with the generator that `make run` comes with.
func TestAssistantOfTheLaptop(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", platformtest.Object{"framework": "react"})
	ada.Save(project, "/package.json", `{"name":"site"}`).Want(t, http.StatusCreated)

	body := ada.Do("POST", "/api/ai/chat", platformtest.Object{
		"projectId": project, "message": "Create a contact form with name, email and message.", "apply": true,
	}.String()).Want(t, http.StatusOK)
	actions, _ := body["actions"].([]any)
	if body["applied"] != true || len(actions) == 0 || body["code"] == "" || body["conversationId"] != "cnv"+strings.TrimPrefix(project, "prj") {
		t.Fatalf("%v", body)
	}
	first, _ := actions[0].(map[string]any)
	file := ada.Do("GET", "/api/projects/"+project+"/files?path="+fmt.Sprint(first["path"]), "").Want(t, http.StatusOK)
	if first["type"] != "create_file" || file["content"] != first["content"] || body["code"] != first["content"] {
		t.Errorf("%v was applied as %v", first, file)
	}
	created := 0
	for _, event := range ada.Do("GET", "/api/projects/"+project+"/events", "").List(t, "events") {
		if event["type"] == "file.created" {
			created++
		}
	}
	if created < 2 {
		t.Errorf("%d events of files", created)
	}
	messages := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages")
	if len(messages) != 2 || messages[0]["role"] != "user" || messages[1]["id"] != body["messageId"] || messages[1]["status"] != "complete" {
		t.Errorf("history %v", messages)
	}
	generated := ada.Do("POST", "/api/ai/generate", `{"prompt":"a store that keeps the theme","framework":"svelte"}`).Want(t, http.StatusOK)
	if generated["code"] == "" || generated["framework"] != "svelte" || !strings.Contains(fmt.Sprint(generated["model"]), "scaffold") {
		t.Errorf("generated %v", generated)
	}
	month := ada.Do("GET", "/api/ai/usage", "").Want(t, http.StatusOK)
	if month["calls"] != 2.0 || month["totalTokens"] == 0.0 || month["reservedTokens"] != 0.0 {
		t.Errorf("usage %v", month)
	}
	ada.Do("DELETE", "/api/ai/conversations/"+project, "").Want(t, http.StatusOK)
	if left := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages"); len(left) != 0 {
		t.Errorf("after its deletion %v", left)
	}
}

// The AI SDK's own client reads the whole platform's stream as a page would.
func TestTheAISDKReadsTheStream(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", platformtest.Object{"framework": "vue"})
	address, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	var cookie string
	for _, c := range ada.HTTP.Jar.Cookies(address) {
		cookie = c.Name + "=" + c.Value
	}
	m := uistream.Read(t, p.URL, cookie, uistream.Request{ProjectID: project, Message: "A table of invoices with number, date and total", Apply: true})
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
	if m := uistream.Read(t, p.URL, cookie, uistream.Request{ProjectID: "prj_none", Message: "Hello?"}); m.Status != http.StatusNotFound || !strings.Contains(m.Body, "PROJECT_NOT_FOUND") {
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
func (m *llm) start(t *testing.T, env ...string) *platformtest.Platform {
	t.Helper()
	return platformtest.Start(t, append([]string{"AI_PROVIDER=openai", "AI_MODEL=test-model", "OPENAI_BASE_URL=" + m.URL + "/v1", "OPENAI_API_KEY=" + modelKey}, env...)...)
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
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", nil)
	f := ada.Stream("/api/ai/chat/stream", platformtest.Object{"projectId": project, "message": "Say hello in a file.", "apply": true}.String())
	id := f.Until("start")["messageId"]
	if delta := f.Until("text-delta")["delta"]; delta != "Here" {
		t.Errorf("the first words are %v", delta)
	}
	close(goOn)
	if input := f.Until("tool-input-available"); input["toolName"] != "create_file" {
		t.Errorf("%v", input)
	}
	if action, _ := f.Until("data-action")["data"].(map[string]any); action["path"] != "/hello.txt" {
		t.Errorf("%v", action)
	}
	result, _ := f.Until("data-result")["data"].(map[string]any)
	if result["messageId"] != id || result["response"] != "Here it is." || result["applied"] != true || fmt.Sprint(result["usage"]) != "map[inputTokens:100 outputTokens:20]" {
		t.Errorf("%v", result)
	}
	if reason := f.Until("finish")["finishReason"]; reason != "stop" {
		t.Errorf("%v", reason)
	}
	f.Until("[DONE]")
	ada.Do("GET", "/api/projects/"+project+"/files?path=/hello.txt", "").Want(t, http.StatusOK)
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
	ada, grace := platformtest.NewClient(t, p.URL), platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	grace.SignUp("grace")
	project := ada.NewProject("Site", nil)
	ask := platformtest.Object{"projectId": project, "message": "Tell me a story."}.String()

	f := ada.Stream("/api/ai/chat/stream", ask)
	id := fmt.Sprint(f.Until("start")["messageId"])
	f.Until("text-delta")
	grace.Do("POST", "/api/ai/messages/"+id+"/cancel", "").WantError(t, http.StatusNotFound, "MESSAGE_NOT_FOUND")
	ada.Do("POST", "/api/ai/messages/"+id+"/cancel", "").Want(t, http.StatusAccepted)
	asked := time.Now()
	if took := (<-stopped).Sub(asked); took > 2*time.Second {
		t.Errorf("it stopped after %v", took)
	}
	if got := f.Types(); got[len(got)-1] != "[DONE]" {
		t.Errorf("it ended with %v", got)
	}
	f = ada.Stream("/api/ai/chat/stream", ask)
	f.Until("text-delta")
	f.Body.Close()
	close(goOn)
	var messages []map[string]any
	platformtest.Eventually(t, "the answer that nobody reads", func() bool {
		messages = ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages")
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
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Site", nil)
	ask := platformtest.Object{"projectId": project, "message": "Hello?"}.String()

	next(func(a *llmAnswer) {
		a.Header().Set("Retry-After", "7")
		http.Error(a, `{"error":{"message":"slow down","type":"rate_limit"}}`, http.StatusTooManyRequests)
	})
	for _, path := range []string{"/api/ai/chat", "/api/ai/chat/stream", "/api/ai/generate"} {
		body := ask
		if path == "/api/ai/generate" {
			body = `{"prompt":"Hello?"}`
		}
		throttled := ada.Do("POST", path, body)
		throttled.WantError(t, http.StatusServiceUnavailable, "AI_UNAVAILABLE")
		if got := throttled.Header.Get("Retry-After"); got != "7" {
			t.Errorf("%s: Retry-After %q", path, got)
		}
	}
	next(func(a *llmAnswer) {
		http.Error(a, `{"error":{"message":"bad key `+modelKey+`"}}`, http.StatusUnauthorized)
	})
	ada.Do("POST", "/api/ai/chat", ask).WantError(t, http.StatusInternalServerError, "INTERNAL_ERROR")
	next(func(a *llmAnswer) { a.chunk(`{}`, `"content_filter"`); fmt.Fprint(a, "data: [DONE]\n\n") })
	ada.Do("POST", "/api/ai/chat", ask).WantError(t, http.StatusUnprocessableEntity, "AI_REFUSED")
	if messages := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages"); len(messages) != 0 {
		t.Errorf("nothing was said, and kept: %v", messages)
	}

	next(func(a *llmAnswer) { a.text("Half of") }) // and the connection ends
	f := ada.Stream("/api/ai/chat/stream", ask)
	if text := f.Until("error")["errorText"]; !strings.Contains(fmt.Sprint(text), "try again") {
		t.Errorf("%v", text)
	}
	if reason := f.Until("finish")["finishReason"]; reason != "error" {
		t.Errorf("%v", reason)
	}
	messages := ada.Do("GET", "/api/ai/conversations/"+project, "").List(t, "messages")
	if len(messages) != 2 || messages[1]["content"] != "Half of" || messages[1]["status"] != "interrupted" {
		t.Errorf("half an answer was kept as %v", messages)
	}
	if month := ada.Do("GET", "/api/ai/usage", "").Want(t, http.StatusOK); month["reservedTokens"] != 0.0 {
		t.Errorf("usage %v", month)
	}
	if log := p.Log.String(); strings.Contains(log, modelKey) || !strings.Contains(log, "misconfigured") {
		t.Errorf("the log holds the key, or does not say what is wrong: %s", p.Log.Tail(30))
	}
}

// The limits hold, each with its error.
func TestLimitsOfTheAssistant(t *testing.T) {
	t.Parallel()
	m := newLLM(t, func(a *llmAnswer) { a.text("Yes."); a.end(4_000, 1_000) })
	p := m.start(t, "LIMIT_AI_MINUTE=3", "AI_MONTHLY_TOKENS=12000", "AI_GLOBAL_MONTHLY_TOKENS=22000")
	const ask = `{"prompt":"Is it?"}`
	ada, grace := platformtest.NewClient(t, p.URL), platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	grace.SignUp("grace")
	for range 3 { // five thousand tokens each: the last one is asked for no more than what is left
		ada.Do("POST", "/api/ai/generate", ask).Want(t, http.StatusOK)
	}
	limited := ada.Do("POST", "/api/ai/generate", ask)
	limited.WantError(t, http.StatusTooManyRequests, "RATE_LIMITED")
	if limited.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	for range 2 {
		grace.Do("POST", "/api/ai/generate", ask).Want(t, http.StatusOK)
	}
	grace.Do("POST", "/api/ai/generate", ask).WantError(t, http.StatusPaymentRequired, "QUOTA_EXCEEDED")
}
