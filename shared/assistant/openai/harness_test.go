package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// tester is a test or one check of a property.
type tester interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
}

// upstream is a server that records its requests.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

type seen struct {
	path   string
	header http.Header
	body   string
}

func (u *upstream) requests() []seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen
}

// serve starts a server that handles the n-th request with the n-th handler, and all further requests with the last
// one.
func serve(tb tester, handlers ...http.HandlerFunc) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		n := len(u.seen)
		u.seen = append(u.seen, seen{path: r.URL.RequestURI(), header: r.Header.Clone(), body: string(body)})
		u.mu.Unlock()
		handlers[min(n, len(handlers)-1)](w, r)
	}))
	tb.Cleanup(u.Close)
	return u
}

// raw responds with the text as an event stream.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

// stream responds with an event for each text.
func stream(data ...string) http.HandlerFunc { return raw(events(data...)) }

func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\n\n", d)
	}
	return b.String()
}

// Chunks that many tests use.
const (
	hello     = `{"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}`
	stop      = `{"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	someUsage = `{"model":"m-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`
	done      = `[DONE]`
)

// say returns a chunk with a delta.
func say(delta string) string {
	return `{"model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

// finish returns a chunk with a delta and a finish reason.
func finish(delta, reason string) string {
	return fmt.Sprintf(`{"model":"m-1","choices":[{"index":0,"delta":%s,"finish_reason":%q}]}`, delta, reason)
}

// refuse responds with an error.
func refuse(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// collected is a whole answer.
type collected struct {
	text     string
	calls    []model.Call
	sequence string // t for a text, c for a call
	open     bool
	thoughts int
	broken   string // describes parts that were out of order
}

// take collects a part. It is passed as emit.
func (c *collected) take(p model.Part) error {
	if p == (model.Part{Kind: model.Thinking}) {
		c.thoughts++
		return nil
	}
	last := len(c.calls) - 1
	switch inside := c.open && p.CallID == c.calls[last].ID; {
	case p.Kind == model.Text && !c.open && p.Text != "":
		c.text += p.Text
		if !strings.HasSuffix(c.sequence, "t") {
			c.sequence += "t"
		}
	case p.Kind == model.CallStart && !c.open && p.CallID != "":
		c.calls = append(c.calls, model.Call{ID: p.CallID, Name: p.Name})
		c.open = true
		c.sequence += "c"
	case p.Kind == model.CallDelta && inside && p.Text != "":
		c.calls[last].Input += p.Text
	case p.Kind == model.CallEnd && inside:
		c.open = false
	default:
		c.broken = fmt.Sprintf("%+v after %q, open: %t", p, c.sequence, c.open)
	}
	return nil
}

// check fails the test if parts were out of order or ids are not unique.
func (c *collected) check(tb tester, err error) {
	tb.Helper()
	if c.broken != "" {
		tb.Errorf("out of order: %s", c.broken)
	}
	if err == nil && c.open {
		tb.Error("complete, but a call has not ended")
	}
	ids := map[string]bool{}
	for _, call := range c.calls {
		if ids[call.ID] {
			tb.Errorf("id %q twice", call.ID)
		}
		ids[call.ID] = true
	}
}

// ask requests an answer from u.
func ask(tb tester, u *upstream, r model.Request) (collected, model.Outcome, error) {
	tb.Helper()
	p := openai.NewQuick(openai.Options{BaseURL: u.URL, Model: "m", Key: key})
	var c collected
	outcome, err := p.Generate(context.Background(), r, c.take)
	c.check(tb, err)
	return c, outcome, err
}

const secret = "sk-Very/Secret+0123456789"

func key(context.Context) (string, error) { return secret, nil }

var question = model.Request{Messages: []model.Message{{Role: model.User, Text: "Hi"}}}

// wantFault checks the fault of an error, and returns the error.
func wantFault(tb tester, err error, want model.Fault) *model.Error {
	tb.Helper()
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Fault != want {
		tb.Fatalf("got %v, want %s", err, want)
	}
	return failed
}
