package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"devplatform/shared/assistant/model"
	"devplatform/shared/config"
)

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

// bedrockServer implements Bedrock's protocol: JSON requests, and event streams or JSON as responses.
type bedrockServer struct {
	URL string

	mu       sync.Mutex
	requests []request
}

type request struct {
	method, path string
	header       http.Header
	body         []byte
}

// serve starts a server that handles the n-th request, counted from 0, with answer.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *bedrockServer {
	t.Helper()
	s := &bedrockServer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, request{r.Method, r.URL.EscapedPath(), r.Header.Clone(), body})
		s.mu.Unlock()
		answer(w, r, n)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// streaming starts a server that responds to every request with the frames.
func streaming(t *testing.T, frames ...[]byte) *bedrockServer {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, frames...) })
}

// failing starts a server that responds to every request with an error of Bedrock.
func failing(t *testing.T, status int, code, message string, header ...string) *bedrockServer {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fail(w, status, code, message, header...) })
}

func send(w http.ResponseWriter, frames ...[]byte) {
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	for _, f := range frames {
		_, _ = w.Write(f)
		_ = http.NewResponseController(w).Flush()
	}
}

func fail(w http.ResponseWriter, status int, code, message string, header ...string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", code+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	w.Header().Set("X-Amzn-Requestid", "req-1")
	for i := 0; i+1 < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

func (s *bedrockServer) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.requests...)
}

// provider returns a provider for the server, without backoff and with very long timeouts.
func (s *bedrockServer) provider(name string) *Provider {
	p := New(Options{
		AWS: config.AWS{
			Region: "eu-central-1", AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI", SessionToken: "FwoGZXIvYXdz", BedrockEndpoint: s.URL,
		},
		Model: name,
	})
	p.backoff = func(int) time.Duration { return 0 }
	p.window, p.usageWait, p.closeWait = time.Hour, time.Hour, time.Hour
	return p
}

// frame is one message of an event stream.
func frame(payload string, headers ...string) []byte {
	var m eventstream.Message
	for i := 0; i+1 < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	m.Payload = []byte(payload)
	var out bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func event(kind, payload string) []byte {
	return frame(payload, ":message-type", "event", ":event-type", kind, ":content-type", "application/json")
}

func exception(kind, message string) []byte {
	return frame(`{"message":`+quote(message)+`}`, ":message-type", "exception", ":exception-type", kind, ":content-type", "application/json")
}

func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func started() []byte { return event("messageStart", `{"p":"abcdef","role":"assistant"}`) }
func text(block int, s string) []byte {
	return event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"text":%s},"p":"abcd"}`, block, quote(s)))
}
func tool(block int, id, name string) []byte {
	return event("contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"name":%s,"toolUseId":%s}}}`, block, quote(name), quote(id)))
}
func toolInput(block int, s string) []byte {
	return event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"toolUse":{"input":%s}}}`, block, quote(s)))
}
func ended(block int) []byte {
	return event("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, block))
}
func stopped(reason string) []byte { return event("messageStop", `{"stopReason":`+quote(reason)+`}`) }
func usage(in, out, read, write int) []byte {
	return event("metadata", fmt.Sprintf(`{"metrics":{"latencyMs":12},"usage":{"cacheReadInputTokenCount":1,"cacheReadInputTokens":%d,`+
		`"cacheWriteInputTokens":%d,"inputTokens":%d,"outputTokens":%d,"serverToolUsage":{},"totalTokens":%d}}`, read, write, in, out, in+out+read+write))
}

func reasoning(block int, content string) []byte {
	return event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"reasoningContent":%s}}`, block, content))
}

// heard is a whole answer.
type heard struct {
	text  string
	calls []model.Call
}

// listen collects parts and checks their order as package model defines it.
type listen struct {
	t testingT
	heard
	open     bool
	parts    []model.Part // without thinking
	thoughts int
}

type testingT interface {
	Helper()
	Errorf(format string, args ...any)
}

func (l *listen) emit(p model.Part) error {
	l.t.Helper()
	if p == (model.Part{Kind: model.Thinking}) {
		l.thoughts++
		return nil
	}
	l.parts = append(l.parts, p)
	last := func() *model.Call { return &l.calls[len(l.calls)-1] }
	switch {
	case p.Kind == model.Text && !l.open && p.Text != "":
		l.text += p.Text
	case p.Kind == model.CallStart && !l.open && p.CallID != "" && p.Name != "":
		l.open = true
		l.calls = append(l.calls, model.Call{ID: p.CallID, Name: p.Name})
	case p.Kind == model.CallDelta && l.open && p.CallID == last().ID && p.Text != "":
		last().Input += p.Text
	case p.Kind == model.CallEnd && l.open && p.CallID == last().ID:
		l.open = false
	default:
		l.t.Errorf("out of order or empty: %+v after %+v", p, l.parts)
	}
	return nil
}

func hello() model.Request {
	return model.Request{
		Task: model.TaskChat, System: "Be brief.", MaxOutput: 100,
		Messages: []model.Message{{Role: model.User, Text: "hello"}},
	}
}

// ask requests an answer to hello.
func ask(t *testing.T, p *Provider) (heard, model.Outcome, error) {
	t.Helper()
	return askFor(t.Context(), t, p, hello())
}

func askFor(ctx context.Context, t *testing.T, p *Provider, r model.Request) (heard, model.Outcome, error) {
	t.Helper()
	l := &listen{t: t}
	outcome, err := p.Generate(ctx, r, l.emit)
	if err == nil && l.open {
		t.Error("a complete answer with an open call")
	}
	return l.heard, outcome, err
}

// wide returns text of about n bytes, with characters of several bytes.
func wide(n int) string { return strings.Repeat("Grüße, \"Welt\"\n", n/15) }

func unmarshal(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}
