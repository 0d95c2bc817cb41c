package bedrock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/go-json-experiment/json"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
	"devplatform/shared/config"
)

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

// fakeBedrock is a server with Bedrock's protocol: JSON requests, and event streams or JSON as responses. It records
// the requests.
type fakeBedrock struct {
	URL string

	mu       sync.Mutex
	recorded []recordedRequest
}

type recordedRequest struct {
	method, path string
	header       http.Header
	body         []byte
}

// serve starts a server that handles the n-th request, counted from 0, with handle.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, n int)) *fakeBedrock {
	t.Helper()
	s := &fakeBedrock{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		n := len(s.recorded)
		s.recorded = append(s.recorded, recordedRequest{
			method: r.Method, path: r.URL.EscapedPath(), header: r.Header.Clone(), body: body,
		})
		s.mu.Unlock()
		handle(w, r, n)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// serveFrames starts a server that responds to every request with the frames.
func serveFrames(t *testing.T, frames ...[]byte) *fakeBedrock {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { writeFrames(w, frames...) })
}

// serveError starts a server that responds to every request with an error of Bedrock. header contains names and values.
func serveError(t *testing.T, status int, code, message string, header ...string) *fakeBedrock {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		writeError(w, status, code, message, header...)
	})
}

func writeFrames(w http.ResponseWriter, frames ...[]byte) {
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	for _, f := range frames {
		_, _ = w.Write(f)
		_ = http.NewResponseController(w).Flush()
	}
}

func writeError(w http.ResponseWriter, status int, code, message string, header ...string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", code+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	w.Header().Set("X-Amzn-Requestid", "req-1")
	for i := 0; i+1 < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, map[string]string{"message": message})
}

// requests returns the requests so far.
func (s *fakeBedrock) requests() []recordedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.recorded)
}

// provider returns a provider for the server, without backoff and with very long timeouts.
func (s *fakeBedrock) provider(name string) *Provider {
	p := New(Options{
		AWS: config.AWS{
			Region:          "eu-central-1",
			AccessKeyID:     "AKIDEXAMPLE",
			SecretAccessKey: "wJalrXUtnFEMI",
			SessionToken:    "FwoGZXIvYXdz",
			BedrockEndpoint: s.URL,
		},
		Model: name,
	})
	p.waits = provider.Waits{
		Backoff: func(int) time.Duration { return 0 }, Window: time.Hour, Usage: time.Hour, Close: time.Hour,
	}
	return p
}

// frame returns one message of an event stream. headers contains names and values.
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
	payload := fmt.Sprintf(`{"message":%s}`, quote(message))
	return frame(payload,
		":message-type", "exception", ":exception-type", kind, ":content-type", "application/json")
}

// quote returns a text as a JSON string.
func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func messageStart() []byte { return event("messageStart", `{"p":"abcdef","role":"assistant"}`) }

func textDelta(block int, s string) []byte {
	payload := fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"text":%s},"p":"abcd"}`, block, quote(s))
	return event("contentBlockDelta", payload)
}

func toolStart(block int, id, name string) []byte {
	payload := fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"name":%s,"toolUseId":%s}}}`,
		block, quote(name), quote(id))
	return event("contentBlockStart", payload)
}

func toolDelta(block int, s string) []byte {
	payload := fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"toolUse":{"input":%s}}}`, block, quote(s))
	return event("contentBlockDelta", payload)
}

func reasoningDelta(block int, content string) []byte {
	payload := fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"reasoningContent":%s}}`, block, content)
	return event("contentBlockDelta", payload)
}

func blockStop(block int) []byte {
	return event("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, block))
}

func messageStop(reason string) []byte {
	return event("messageStop", fmt.Sprintf(`{"stopReason":%s}`, quote(reason)))
}

// metadata returns the event with the usage: the tokens of input and output, and those read from and written to the
// cache.
func metadata(in, out, read, write int) []byte {
	payload := fmt.Sprintf(`{"metrics":{"latencyMs":12},"usage":{"cacheReadInputTokenCount":1,`+
		`"cacheReadInputTokens":%d,"cacheWriteInputTokens":%d,"inputTokens":%d,"outputTokens":%d,`+
		`"serverToolUsage":{},"totalTokens":%d}}`, read, write, in, out, in+out+read+write)
	return event("metadata", payload)
}

// received is an answer that was passed to emit.
type received struct {
	text  string
	calls []model.Call
}

// partRecorder records the parts of an answer and checks their order, which package model defines.
type partRecorder struct {
	received

	t             testingT
	isCallOpen    bool
	parts         []model.Part // without thinking parts
	thinkingParts int
}

type testingT interface {
	Helper()
	Errorf(format string, args ...any)
}

func (r *partRecorder) emit(p model.Part) error {
	r.t.Helper()
	if p == (model.Part{Kind: model.Thinking}) {
		r.thinkingParts++
		return nil
	}
	r.parts = append(r.parts, p)
	last := func() *model.Call { return &r.calls[len(r.calls)-1] }
	switch {
	case p.Kind == model.Text && !r.isCallOpen && p.Text != "":
		r.text += p.Text
	case p.Kind == model.CallStart && !r.isCallOpen && p.CallID != "" && p.Name != "":
		r.isCallOpen = true
		r.calls = append(r.calls, model.Call{ID: p.CallID, Name: p.Name})
	case p.Kind == model.CallDelta && r.isCallOpen && p.CallID == last().ID && p.Text != "":
		last().Input += p.Text
	case p.Kind == model.CallEnd && r.isCallOpen && p.CallID == last().ID:
		r.isCallOpen = false
	default:
		r.t.Errorf("the part %+v is not valid after %+v", p, r.parts)
	}
	return nil
}

func chatRequest() model.Request {
	return model.Request{
		Task: model.TaskChat, System: "Be brief.", MaxOutput: 100,
		Messages: []model.Message{{Role: model.User, Text: "hello"}},
	}
}

// generate requests an answer to chatRequest.
func generate(t *testing.T, p *Provider) (received, model.Outcome, error) {
	t.Helper()
	return generateFor(t.Context(), t, p, chatRequest())
}

func generateFor(ctx context.Context, t *testing.T, p *Provider, r model.Request) (received, model.Outcome, error) {
	t.Helper()
	recorder := &partRecorder{t: t}
	outcome, err := p.Generate(ctx, r, recorder.emit)
	if err == nil && recorder.isCallOpen {
		t.Error("the answer is complete, but its last call has not ended")
	}
	return recorder.received, outcome, err
}

// checkFault checks that err is a *model.Error with this fault, and returns it.
func checkFault(t *testing.T, err error, want model.Fault) *model.Error {
	t.Helper()
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Fault != want {
		t.Fatalf("got error %v, want the fault %q", err, want)
	}
	return failed
}

// checkRequests checks the number of requests.
func (s *fakeBedrock) checkRequests(t *testing.T, want int) {
	t.Helper()
	if got := len(s.requests()); got != want {
		t.Errorf("got %d requests, want %d", got, want)
	}
}

// multibyteText returns text of about n bytes, with characters of several bytes.
func multibyteText(n int) string { return strings.Repeat("Grüße, \"Welt\"\n", n/15) }
