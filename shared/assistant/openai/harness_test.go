package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// serve starts a server that handles the n-th request with the n-th handler, and all further requests with the last
// one.
func serve(tb providertest.T, handlers ...http.HandlerFunc) *providertest.Server {
	return providertest.Serve(tb, func(w http.ResponseWriter, r *http.Request, n int) {
		handlers[min(n, len(handlers)-1)](w, r)
	})
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

// generate requests an answer from s.
func generate(tb providertest.T, s *providertest.Server, r model.Request) (providertest.Answer, model.Outcome, error) {
	tb.Helper()
	p := openai.NewQuick(openai.Options{BaseURL: s.URL, Model: "m", Key: key})
	var got providertest.Answer
	outcome, err := p.Generate(context.Background(), r, got.Emit)
	got.Check(tb, err)
	got.CheckIDs(tb)
	return got, outcome, err
}

// secret is the API key.
const secret = "sk-Very/Secret+0123456789"

func key(context.Context) (string, error) { return secret, nil }

var simpleRequest = model.Request{Messages: []model.Message{{Role: model.User, Text: "Hi"}}}
