package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
)

// The error responses of known servers are parsed and classified. Package provider tests the faults of more errors.
func TestErrors(t *testing.T) {
	t.Parallel()
	openAI := func(message, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%s}}`, message, kind, code)
	}
	for _, tc := range []struct {
		name   string
		status int
		want   model.Fault
		body   string
	}{
		{"invalid key", 401, model.Misconfigured, openAI("Incorrect API key provided", "invalid_request_error", `"invalid_api_key"`)},
		{"Ollama: unknown model", 404, model.Misconfigured, `{"error":{"message":"model \"m\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`},
		{"unknown route", 404, model.Misconfigured, "404 page not found"},
		{"FastAPI: invalid request", 422, model.Misconfigured, `{"detail":[{"loc":["body","model"],"msg":"required"}]}`},
		{"no credits", 402, model.Misconfigured, `{"error":{"message":"Insufficient credits","code":402}}`},
		{"quota exceeded, only in the type", 429, model.Misconfigured, openAI("You exceeded your current quota", "insufficient_quota", `null`)},
		{"timed out", 408, model.Unavailable, ""},
		{"page of a proxy", 502, model.Unavailable, "<html><h1>Bad Gateway</h1></html>"},
		{"redirect", 307, model.Misconfigured, ""},
		{"no content", 204, model.Misconfigured, ""},
		{"vLLM: too long", 400, model.TooLong, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`},
		{"llama.cpp: too long, with status 500", 500, model.TooLong, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`},
		{"LM Studio: too long", 400, model.TooLong, `{"error":"Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`},
		{"request entity too large", 413, model.TooLong, ""},
		{"OpenRouter: error of its provider", 400, model.TooLong, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 210000 tokens\"}}","provider_name":"X"}}}`},
		{"numeric metadata", 400, model.TooLong, `{"error":{"message":"maximum context length","code":400,"metadata":7}}`},
		{"Google: in an array", 400, model.TooLong, `[{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]`},
		{"array, by code", 400, model.TooLong, `[{"error":{"message":"no","code":"context_length_exceeded"}}]`},
		{"Azure: filter", 400, model.Refused, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondError(tc.status, tc.body))
			_, outcome, err := generate(t, s, simpleRequest)
			providertest.CheckFault(t, err, tc.want)
			if want := fmt.Sprintf("status %d: ", tc.status); !strings.Contains(err.Error(), want) {
				t.Errorf("the error %q does not contain %q", err, want)
			}
			if attempts := len(s.Requests()); (attempts == 1) != (tc.want != model.Unavailable) {
				t.Errorf("got %d requests, want retries only if the provider is unavailable", attempts)
			}
			if !outcome.Usage.IsZero() || outcome.Model != "m" {
				t.Errorf("got the outcome %+v, want only the requested model", outcome)
			}
		})
	}
}

// No error contains the API key, even if a server sends it back.
func TestErrorsDoNotContainKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 995) + secret + strings.Repeat("x", 9000) // the text is cut inside the key
	for name, handler := range map[string]http.HandlerFunc{
		"message":  respondError(401, `{"error":{"message":"Incorrect API key provided: `+secret+`"}}`),
		"escaped":  respondError(401, `{"error":{"message":"`+strings.ReplaceAll(secret, "/", `\/`)+`"}}`),
		"code":     respondError(400, `{"error":{"message":"no","code":"`+secret+`","type":"`+secret+`"}}`),
		"text":     respondError(500, "header Authorization: Bearer "+secret),
		"long":     respondError(500, long),
		"location": respondError(307, "", "Location", "https://other/?key="+secret),
		"stream":   respondEvents(helloChunk, `{"error":{"message":"bad key `+secret+`"}}`),
		"not JSON": respondEvents(helloChunk, secret),
		"finish":   respondEvents(helloChunk, finishChunk(`{}`, "error")+secret),
		"refusal":  respondEvents(deltaChunk(`{"refusal":"`+secret+`"}`), stopChunk),
		"status line": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", secret)
			_ = conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := generate(t, serve(t, handler), simpleRequest)
			if err == nil {
				t.Fatal("got no error")
			}
			var logged bytes.Buffer
			slog.New(slog.NewTextHandler(&logged, nil)).Error("failed", "err", err)
			var failed *model.Error
			errors.As(err, &failed)
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, failed.Cause), logged.String()} {
				if strings.Contains(text, secret[:12]) {
					t.Errorf("the text contains the key: %s", text)
				}
				if len(text) > 4000 {
					t.Errorf("got %d bytes for the log, want at most 4000", len(text))
				}
			}
		})
	}
}

// Only known fields of an error are logged, because servers may send the prompt back in other fields.
func TestErrorsDoNotContainPrompt(t *testing.T) {
	t.Parallel()
	const prompt = "private text of the prompt"
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    string // a part of the error
	}{
		"plain text": {
			handler: respondError(500, "can't do: "+prompt, "Content-Type", "text/plain; charset=utf-8"),
			want:    `status 500: no readable message in a body of type "text/plain"`,
		},
		"HTML page": {
			handler: respondError(502, "<html>"+prompt, "Content-Type", "text/html"),
			want:    `status 502: no readable message in a body of type "text/html"`,
		},
		"no content type": {
			handler: respondError(400, `{"messages":"`+prompt+`"}`, "Content-Type", ""),
			want:    `status 400: no readable message`,
		},
		"body of the request": {
			handler: respondError(400, `{"messages":[{"content":"`+prompt+`"}]}`, "Content-Type", "application/json"),
			want:    `status 400: no readable message in a body of type "application/json"`,
		},
		"fields are not strings": {
			handler: respondError(400, `{"error":{"message":{"input":"`+prompt+`"},"code":["`+prompt+`"]}}`),
			want:    `status 400: no readable message`,
		},
		"list": {
			handler: respondError(400, `["`+prompt+`"]`),
			want:    `status 400: no readable message`,
		},
		"FastAPI: list of fields": {
			handler: respondError(422,
				`{"detail":[{"loc":["body","messages",0],"msg":"Input should be a list","input":"`+prompt+`"}]}`),
			want: `status 422: no readable message`,
		},
		"FastAPI: text": {
			handler: respondError(422, `{"detail":"Not authenticated"}`),
			want:    "status 422: Not authenticated",
		},
		"OpenRouter: flagged input": {
			handler: respondError(403,
				`{"error":{"message":"flagged","code":403,"metadata":{"reasons":["x"],"flagged_input":"`+prompt+`","provider_name":"P"}}}`),
			want: "status 403: flagged (403)",
		},
		"OpenRouter: text of its provider": {
			handler: respondError(400,
				`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"`+prompt+`"}}}`),
			want: "status 400: Provider returned error (400)",
		},
		"long message": {
			handler: respondError(400, `{"error":{"message":"`+strings.Repeat("é", 101)+prompt+`"}}`),
			want:    "status 400: éé",
		},
		"error in a stream": {
			handler: respondEvents(helloChunk, `{"error":{"input":"`+prompt+`"}}`),
			want:    "no readable message",
		},
		"error event": {
			handler: respondText("event: error\ndata: " + prompt + "\n\n"),
			want:    "no readable message",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := generate(t, serve(t, tc.handler), simpleRequest)
			if err == nil {
				t.Fatal("got no error")
			}
			text := err.Error()
			if !strings.Contains(text, tc.want) || len(text) > 250 {
				t.Errorf("got the error %q, want at most 250 bytes with %q", text, tc.want)
			}
			if strings.Contains(text, prompt[:7]) {
				t.Errorf("the error %q quotes the prompt", text)
			}
		})
	}
}
