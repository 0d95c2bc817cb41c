package uistream_test

import (
	"bufio"
	"bytes"
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
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	sdk "devplatform/infra/uistream"
)

// serveHTTP starts an HTTP server with the handler of newRouter, and returns the server's URL.
func serveHTTP(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(newRouter())
	t.Cleanup(server.Close)
	return server.URL
}

// serveLambda runs the handler of newRouter as a function of the local Lambda, and returns the URL of the local API
// Gateway.
func serveLambda(t *testing.T) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if binary, err = filepath.EvalSymlinks(binary); err != nil {
		t.Fatal(err)
	}
	lambdas := runtime.New(runtime.Options{Now: time.Now, Functions: []runtime.Function{{
		Name: "ai", Bootstrap: binary, Handler: "bootstrap", Timeout: time.Minute, MemoryMB: 512,
		Env: map[string]string{functionVariable: "1", "GORACE": "atexit_sleep_ms=0"},
	}}})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = lambdas.Close(ctx)
	})
	server := httptest.NewServer(gateway.New(gateway.Options{
		API: resources.API{ID: "api", Name: "api", Stage: "prod", Routes: []resources.Route{
			{Method: "ANY", Path: "/api/ai/{proxy+}", Function: "ai", Stream: true, Timeout: time.Minute},
		}},
		Invoke:  lambdas.Invoke,
		Account: "000000000000",
		Now:     time.Now,
		Logger:  slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// servers contains the functions that start a server with the handler of newRouter and return the server's URL.
var servers = map[string]func(*testing.T) string{"HTTP": serveHTTP, "Lambda": serveLambda}

// The AI SDK's client receives the same message from an HTTP server and through the local platform.
func TestClientReadsStreams(t *testing.T) {
	t.Parallel()
	for server, start := range servers {
		for stream, want := range wantMessages {
			t.Run(server+"/"+stream, func(t *testing.T) {
				t.Parallel()
				got := sdk.Read(t, start(t), "a=b", sdk.Request{
					ProjectID: "prj_1", Message: stream, Context: &sdk.Context{CurrentFile: "/é"}, Apply: true,
				})
				if got.Chunks > 0 && (got.First <= 0 || got.Last < got.First) {
					t.Errorf("got the first frame after %v and the last after %v, want ascending times", got.First, got.Last)
				}
				if stream == "aborted" { // the text of this failure depends on the version of Node.js
					if got.Failure == "" {
						t.Error("the client did not report that the stream was cut")
					}
					got.Failure = ""
				}
				ignored := cmpopts.IgnoreFields(sdk.Message{}, "First", "Last", "States")
				if diff := cmp.Diff(want, got, ignored, jsonValues); diff != "" {
					t.Errorf("message (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// jsonValues compares JSON texts by their values, and ignores white space.
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
	busyBody    = `{"error":"The model is busy.","code":"AI_UNAVAILABLE"}`
	unknownBody = `{"error":"The stream is unknown.","code":"QUOTA_EXCEEDED"}`
)

// wantMessages are the messages that the client has at the end of each stream.
var wantMessages = map[string]sdk.Message{
	"complete": {
		ID: "msg_1", Role: "assistant", FinishReason: "stop", Errors: []string{}, Chunks: 23,
		Parts: []sdk.Part{
			text("Hello, wörld.\r\n\ndata: \u2028 [DONE]"),
			{
				Type: "tool-create_file", State: "input-available", ToolCallID: "c1",
				Input: json.RawMessage(`{"path":"/src/a.ts","content":"a\n\n"}`),
			},
			{Type: "data-action", Data: json.RawMessage(`{"type":"create_file","path":"/src/a.ts"}`)},
			{
				Type: "tool-delete_file", State: "input-available", ToolCallID: "c2",
				Input: json.RawMessage(`{"path":"/b"}`),
			},
			{
				Type: "tool-delete_file", State: "output-error", ToolCallID: "c3", Input: null,
				ErrorText: "The file does not exist.",
			},
			{Type: "data-action", Data: json.RawMessage(`{"type":"delete_file","path":"/b"}`)},
			text("Done."),
			{Type: "data-result", Data: json.RawMessage(`{"response":"Done.","request":{
				"projectId":"prj_1","message":"complete","context":{"currentFile":"/é"},"apply":true
			}}`)},
		},
	},
	"failed": {
		ID: "msg_1", Role: "assistant", FinishReason: "error", Errors: []string{"The model is busy."}, Chunks: 9,
		Parts: []sdk.Part{
			text("Hel"),
			{
				Type: "tool-create_file", State: "output-error", ToolCallID: "c1", Input: null,
				ErrorText: "The call was not completed.",
			},
		},
	},
	"aborted": {
		ID: "msg_1", Role: "assistant", Errors: []string{}, Chunks: 3,
		Parts: []sdk.Part{{Type: "text", Text: "Hel", State: "streaming"}},
	},
	"rejected": {
		Errors: []string{}, Failure: "AI_APICallError: " + busyBody, Status: 503, Body: busyBody,
	},
	"unknown": {
		Errors: []string{}, Failure: "AI_APICallError: " + unknownBody, Status: 402, Body: unknownBody,
	},
	"keepalive": {
		ID: "msg_1", Role: "assistant", FinishReason: "stop", Errors: []string{}, Chunks: 6,
		Parts: []sdk.Part{text("ab")},
	},
	"large": {
		ID: "msg_1", Role: "assistant", FinishReason: "stop", Errors: []string{}, Chunks: 2004,
		Parts: []sdk.Part{text(strings.Repeat("é", 1000000))},
	},
}

// post sends a message with Go's HTTP client.
func post(t *testing.T, url, message string) *http.Response {
	t.Helper()
	body, err := json.Marshal(sdk.Request{ProjectID: "prj_1", Message: message})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, url+"/api/ai/chat/stream", bytes.NewReader(body))
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

// Frames are sent immediately: the client receives the first frames while the function waits.
func TestFramesAreSentImmediately(t *testing.T) {
	t.Parallel()
	for server, start := range servers {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			resume := make(chan bool)
			resumeServer := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-resume:
				case <-r.Context().Done():
				}
			}))
			t.Cleanup(resumeServer.Close)
			response := post(t, start(t), "paused "+resumeServer.URL)
			for name, want := range map[string]string{
				"Content-Type":                  "text/event-stream",
				"X-Vercel-Ai-Ui-Message-Stream": "v1",
				"Cache-Control":                 "no-store",
				"X-Content-Type-Options":        "nosniff",
			} {
				if got := response.Header[name]; len(got) != 1 || got[0] != want {
					t.Errorf("got the header %s: %q, want %q", name, got, want)
				}
			}
			lines := bufio.NewScanner(response.Body)
			checkNextLine := func(want string) {
				t.Helper()
				for lines.Scan() && lines.Text() == "" {
					continue
				}
				if lines.Text() != want {
					t.Fatalf("got the line %q and error %v, want %q", lines.Text(), lines.Err(), want)
				}
			}
			checkNextLine(`data: {"type":"start","messageId":"msg_1"}`)
			checkNextLine(`data: {"type":"text-start","id":"text-1"}`)
			checkNextLine(`data: {"type":"text-delta","id":"text-1","delta":"a"}`)
			close(resume)
			checkNextLine(`data: {"type":"text-delta","id":"text-1","delta":"b"}`)
			checkNextLine(`data: {"type":"text-end","id":"text-1"}`)
			checkNextLine(`data: {"type":"finish","finishReason":"stop"}`)
			checkNextLine(`data: [DONE]`)
			if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
				t.Errorf("got %q and error %v after [DONE], want the end of the body", rest, err)
			}
		})
	}
}
