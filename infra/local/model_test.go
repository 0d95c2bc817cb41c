package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/resources"
)

// patience limits the wait for a result that comes at once on an idle machine.
const patience = time.Minute

func TestModelHint(t *testing.T) {
	t.Parallel()
	generator := []resources.Function{{Name: "Auth"}, {Name: "Ai", Env: map[string]string{"AI_PROVIDER": "scaffold"}}}
	other := []resources.Function{{Name: "Ai", Env: map[string]string{"AI_PROVIDER": "openai"}}}
	const none = "assistant: built-in generator, not a language model"
	for name, c := range map[string]struct {
		functions []resources.Function
		status    int
		body      string
		want      string // a part of the hint
	}{
		"a model": {
			generator, 200, `{"object":"list","data":[{"id":"nomic-embed-text"},{"id":"a $(b)"},{"id":"llama3.2:latest"},{"id":"b"}]}`,
			"  AI_PROVIDER=openai\n  AI_MODEL=llama3.2:latest\n  OPENAI_BASE_URL=http://127.0.0.1:11434/v1\n",
		},
		"no model":         {generator, 200, `{"object":"list","data":null}`, "ollama pull qwen3-coder"},
		"another server":   {generator, 200, `<html>`, none},
		"another API":      {generator, 200, `{"object":"page","data":[{"id":"a"}]}`, none},
		"an error":         {generator, 404, `{"object":"list"}`, none},
		"another provider": {other, 200, `{"object":"list","data":[{"id":"llama3.2"}]}`, ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				t.Errorf("got a request for %s", r.URL)
			}
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}))
		t.Cleanup(server.Close)
		got := modelHint(c.functions, probeModels(t.Context(), server.URL+"/v1", time.Minute))
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A server that does not respond delays the start only for a short time.
func TestModelProbeTimesOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); server.Close() })
	select {
	case name, found := <-probeModels(t.Context(), server.URL, probeTime):
		if found {
			t.Errorf("got the model %q", name)
		}
	case <-time.After(patience):
		t.Error("the probe has no time limit")
	}
}
