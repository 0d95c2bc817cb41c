package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
}

// fakeServer is a server that records its requests.
type fakeServer struct {
	*httptest.Server
	mu       sync.Mutex
	recorded []recordedRequest
}

type recordedRequest struct {
	path   string
	header http.Header
	body   string
}

// requests returns the requests so far.
func (s *fakeServer) requests() []recordedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.recorded)
}

// checkRequests checks the number of requests.
func (s *fakeServer) checkRequests(tb tester, want int) {
	tb.Helper()
	if got := len(s.requests()); got != want {
		tb.Errorf("got %d requests, want %d", got, want)
	}
}

// serve starts a server that handles the n-th request with the n-th handler, and all further requests with the last
// one.
func serve(tb tester, handlers ...http.HandlerFunc) *fakeServer {
	s := &fakeServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.recorded)
		s.recorded = append(s.recorded, recordedRequest{
			path: r.URL.RequestURI(), header: r.Header.Clone(), body: string(body),
		})
		s.mu.Unlock()
		handlers[min(n, len(handlers)-1)](w, r)
	}))
	tb.Cleanup(s.Close)
	return s
}

// respondText responds with the text as an event stream.
func respondText(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

// respondEvents responds with an event for each text.
func respondEvents(data ...string) http.HandlerFunc { return respondText(eventStream(data...)) }

// eventStream returns a stream with an event for each text.
func eventStream(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\n\n", d)
	}
	return b.String()
}

// Chunks that many tests use.
const (
	helloChunk = `{"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}`
	stopChunk  = `{"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usageChunk = `{"model":"m-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`
	doneData   = `[DONE]`
)

// deltaChunk returns a chunk with a delta.
func deltaChunk(delta string) string {
	return `{"model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

// callsChunk returns a chunk with deltas of calls, which are JSON objects separated by commas.
func callsChunk(deltas string) string { return deltaChunk(`{"tool_calls":[` + deltas + `]}`) }

// finishChunk returns a chunk with a delta and a finish reason.
func finishChunk(delta, reason string) string {
	return fmt.Sprintf(`{"model":"m-1","choices":[{"index":0,"delta":%s,"finish_reason":%q}]}`, delta, reason)
}

// respondError responds with an error. header contains a name, its value, a name, and so on.
func respondError(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// received is an answer that was passed to emit.
type received struct {
	text          string
	calls         []model.Call
	sequence      string // t for a text, c for a call
	isCallOpen    bool
	thinkingParts int
	orderError    string // describes the last part that was out of order
}

// emit records a part. The tests pass emit to Generate and Read.
func (r *received) emit(p model.Part) error {
	if p == (model.Part{Kind: model.Thinking}) {
		r.thinkingParts++
		return nil
	}
	last := len(r.calls) - 1
	switch isInCall := r.isCallOpen && p.CallID == r.calls[last].ID; {
	case p.Kind == model.Text && !r.isCallOpen && p.Text != "":
		r.text += p.Text
		if !strings.HasSuffix(r.sequence, "t") {
			r.sequence += "t"
		}
	case p.Kind == model.CallStart && !r.isCallOpen && p.CallID != "":
		r.calls = append(r.calls, model.Call{ID: p.CallID, Name: p.Name})
		r.isCallOpen = true
		r.sequence += "c"
	case p.Kind == model.CallDelta && isInCall && p.Text != "":
		r.calls[last].Input += p.Text
	case p.Kind == model.CallEnd && isInCall:
		r.isCallOpen = false
	default:
		r.orderError = fmt.Sprintf("%+v after %q, call open: %t", p, r.sequence, r.isCallOpen)
	}
	return nil
}

// check fails the test if parts were out of order or if IDs are not unique.
func (r *received) check(tb tester, err error) {
	tb.Helper()
	if r.orderError != "" {
		tb.Errorf("a part was out of order: %s", r.orderError)
	}
	if err == nil && r.isCallOpen {
		tb.Error("the answer is complete, but its last call has not ended")
	}
	ids := map[string]bool{}
	for _, call := range r.calls {
		if ids[call.ID] {
			tb.Errorf("two calls have the ID %q", call.ID)
		}
		ids[call.ID] = true
	}
}

// generate requests an answer from s.
func generate(tb tester, s *fakeServer, r model.Request) (received, model.Outcome, error) {
	tb.Helper()
	p := openai.NewQuick(openai.Options{BaseURL: s.URL, Model: "m", Key: key})
	var got received
	outcome, err := p.Generate(context.Background(), r, got.emit)
	got.check(tb, err)
	return got, outcome, err
}

// secret is the API key.
const secret = "sk-Very/Secret+0123456789"

func key(context.Context) (string, error) { return secret, nil }

var simpleRequest = model.Request{Messages: []model.Message{{Role: model.User, Text: "Hi"}}}

// checkFault checks that err is a *model.Error with this fault, and returns it.
func checkFault(tb tester, err error, want model.Fault) *model.Error {
	tb.Helper()
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Fault != want {
		tb.Fatalf("got error %v, want the fault %q", err, want)
	}
	return failed
}
