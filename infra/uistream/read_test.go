package uistream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
	sdk "devplatform/infra/uistream"
)

// plain is the handler behind a plain HTTP server.
func plain(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(newRouter())
	t.Cleanup(server.Close)
	return server.URL
}

// platform is the handler as a function, behind the local Lambda and the local API Gateway.
func platform(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		t.Fatal(err)
	}
	lambdas, err := runtime.New(runtime.Options{Now: time.Now, Functions: []runtime.Function{{
		Name: "ai", Bootstrap: self, Handler: "bootstrap", Timeout: time.Minute, MemoryMB: 512,
		Env: map[string]string{functionVariable: "1", "GORACE": "atexit_sleep_ms=0"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = lambdas.Close(ctx)
	})
	g, err := gateway.New(gateway.Options{
		API: stack.API{ID: "api", Name: "api", Stage: "prod", Routes: []stack.Route{
			{Method: "ANY", Path: "/api/ai/{proxy+}", Function: "ai", Stream: true, Timeout: time.Minute},
		}},
		Invoke: lambdas.Invoke, Account: "000000000000", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return server.URL
}

var servers = map[string]func(*testing.T) string{"plain": plain, "platform": platform}

// TestTheRealClient has the AI SDK read each scene, over a plain connection and through the local platform.
func TestTheRealClient(t *testing.T) {
	t.Parallel()
	for server, start := range servers {
		for scene, want := range heard {
			t.Run(server+"/"+scene, func(t *testing.T) {
				t.Parallel()
				got := sdk.Read(t, start(t), "a=b", sdk.Request{ProjectID: "prj_1", Message: scene, Context: &sdk.Context{CurrentFile: "/é"}, Apply: true})
				if got.First <= 0 || got.Last < got.First {
					if got.Chunks > 0 {
						t.Errorf("the first chunk came after %v, the last after %v", got.First, got.Last)
					}
				}
				if scene == "cut" { // what fetch says of it is fetch's
					if got.Failure == "" {
						t.Error("the client took half an answer for a whole one")
					}
					got.Failure = ""
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(sdk.Message{}, "First", "Last", "States"), jsonValues); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// jsonValues compares JSON by what it says.
var jsonValues = cmp.Transformer("JSON", func(raw json.RawMessage) any {
	var value any
	if raw == nil || json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	return value
})

func text(s string) sdk.Part { return sdk.Part{Type: "text", Text: s, State: "done"} }

var null = json.RawMessage("null")

const (
	busy    = `{"error":"The model is busy.","code":"AI_UNAVAILABLE"}`
	unknown = `{"error":"There is no such scene.","code":"QUOTA_EXCEEDED"}`
)

// heard is what a page has of each scene in the end.
var heard = map[string]sdk.Message{
	"all": {
		ID: "msg_1", Role: "assistant", FinishReason: "tool-calls", Errors: []string{}, Chunks: 23,
		Parts: []sdk.Part{
			text("Hello, wörld.\r\n\ndata: \u2028 [DONE]"),
			{Type: "tool-create_file", State: "input-available", ToolCallID: "c1", Input: json.RawMessage(`{"path":"/src/a.ts","content":"a\n\n"}`)},
			{Type: "data-action", Data: json.RawMessage(`{"type":"create_file","path":"/src/a.ts"}`)},
			{Type: "tool-delete_file", State: "input-available", ToolCallID: "c2", Input: json.RawMessage(`{"path":"/b"}`)},
			{Type: "tool-delete_file", State: "output-error", ToolCallID: "c3", Input: null, ErrorText: "There is no such file."},
			{Type: "data-action", Data: json.RawMessage(`{"type":"delete_file","path":"/b"}`)},
			text("Done."),
			{Type: "data-result", Data: json.RawMessage(`{"response":"Done.","asked":{"projectId":"prj_1","message":"all","context":{"currentFile":"/é"},"apply":true}}`)},
		},
	},
	"half": {
		ID: "msg_1", Role: "assistant", FinishReason: "error", Errors: []string{"The model is busy."}, Chunks: 9,
		Parts: []sdk.Part{text("Hel"), {Type: "tool-create_file", State: "output-error", ToolCallID: "c1", Input: null, ErrorText: "The call was not completed."}},
	},
	"cut": {
		ID: "msg_1", Role: "assistant", Errors: []string{}, Chunks: 3, Parts: []sdk.Part{{Type: "text", Text: "Hel", State: "streaming"}},
	},
	"refused": {
		Errors: []string{}, Failure: "AI_APICallError: " + busy, Status: 503, Body: busy,
	},
	"unknown": {
		Errors: []string{}, Failure: "AI_APICallError: " + unknown, Status: 402, Body: unknown,
	},
	"silent": {ID: "msg_1", Role: "assistant", FinishReason: "stop", Errors: []string{}, Chunks: 6, Parts: []sdk.Part{text("ab")}},
	"large":  {ID: "msg_1", Role: "assistant", FinishReason: "stop", Errors: []string{}, Chunks: 2004, Parts: []sdk.Part{text(strings.Repeat("é", 1000000))}},
}

// post sends a message as curl would.
func post(t *testing.T, url, message string) *http.Response {
	t.Helper()
	body, err := json.Marshal(sdk.Request{ProjectID: "prj_1", Message: message})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/ai/chat/stream", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// TestFramesAreThereAsTheyAreMade reads the first frames while the function waits to be let go on: it has not answered more.
func TestFramesAreThereAsTheyAreMade(t *testing.T) {
	t.Parallel()
	for server, start := range servers {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			open := make(chan bool)
			gate := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-open:
				case <-r.Context().Done():
				}
			}))
			t.Cleanup(gate.Close)
			response := post(t, start(t), "live "+gate.URL)
			for name, want := range map[string]string{
				"Content-Type": "text/event-stream", "X-Vercel-Ai-Ui-Message-Stream": "v1", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
			} {
				if got := response.Header[name]; len(got) != 1 || got[0] != want {
					t.Errorf("%s: %q", name, got)
				}
			}
			lines := bufio.NewScanner(response.Body)
			read := func(want string) {
				t.Helper()
				for lines.Scan() && lines.Text() == "" {
					continue
				}
				if lines.Text() != want {
					t.Fatalf("%q, %v; want %q", lines.Text(), lines.Err(), want)
				}
			}
			read(`data: {"type":"start","messageId":"msg_1"}`)
			read(`data: {"type":"text-start","id":"text-1"}`)
			read(`data: {"type":"text-delta","id":"text-1","delta":"a"}`)
			close(open)
			read(`data: {"type":"text-delta","id":"text-1","delta":"b"}`)
			read(`data: {"type":"text-end","id":"text-1"}`)
			read(`data: {"type":"finish","finishReason":"stop"}`)
			read(`data: [DONE]`)
			if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
				t.Errorf("then %q, %v", rest, err)
			}
		})
	}
}
