package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
)

// TestErrors has error responses of known servers.
func TestErrors(t *testing.T) {
	t.Parallel()
	openAI := func(message, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%s}}`, message, kind, code)
	}
	for name, tc := range map[string]struct {
		status int
		body   string
		want   model.Fault
		tries  int
	}{
		"no such key":                 {401, openAI("Incorrect API key provided", "invalid_request_error", `"invalid_api_key"`), model.Misconfigured, 1},
		"country":                     {403, openAI("Country not supported", "request_forbidden", `"unsupported_country"`), model.Misconfigured, 1},
		"no such model":               {404, openAI("The model does not exist", "invalid_request_error", `"model_not_found"`), model.Misconfigured, 1},
		"Ollama: no such model":       {404, `{"error":{"message":"model \"m\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, model.Misconfigured, 1},
		"no such route":               {404, "404 page not found", model.Misconfigured, 1},
		"a wrong request":             {400, openAI("Invalid schema for function", "invalid_request_error", `"invalid_function_parameters"`), model.Misconfigured, 1},
		"FastAPI":                     {422, `{"detail":[{"loc":["body","model"],"msg":"field required"}]}`, model.Misconfigured, 1},
		"no credits":                  {402, `{"error":{"message":"Insufficient credits","code":402}}`, model.Misconfigured, 1},
		"quota used up":               {429, openAI("You exceeded your current quota", "insufficient_quota", `"insufficient_quota"`), model.Misconfigured, 1},
		"quota used up, type alone":   {429, openAI("You exceeded your current quota", "insufficient_quota", `null`), model.Misconfigured, 1},
		"throttled":                   {429, openAI("Rate limit reached", "requests", `"rate_limit_exceeded"`), model.Unavailable, 3},
		"more than the rate allows":   {429, openAI("Request too large for gpt-4o on tokens per min (TPM)", "tokens", `"rate_limit_exceeded"`), model.TooLong, 1},
		"timed out":                   {408, "", model.Unavailable, 3},
		"conflict":                    {409, "", model.Unavailable, 3},
		"down":                        {500, openAI("The server had an error", "server_error", `null`), model.Unavailable, 3},
		"a proxy's page":              {502, "<html><h1>Bad Gateway</h1></html>", model.Unavailable, 3},
		"overloaded":                  {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, model.Unavailable, 3},
		"gateway timed out":           {504, "", model.Unavailable, 3},
		"redirected":                  {307, "", model.Misconfigured, 1},
		"no content":                  {204, "", model.Misconfigured, 1},
		"OpenAI: too long":            {400, openAI("This model's maximum context length is 8192 tokens.", "invalid_request_error", `"context_length_exceeded"`), model.TooLong, 1},
		"OpenAI: too long, by code":   {400, openAI("Too much.", "invalid_request_error", `"context_length_exceeded"`), model.TooLong, 1},
		"vLLM: too long":              {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`, model.TooLong, 1},
		"vLLM: limit too large":       {400, `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 10 input tokens","type":"BadRequestError","param":"max_tokens","code":400}}`, model.TooLong, 1},
		"vLLM: prompt too long":       {400, `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","code":400}}`, model.TooLong, 1},
		"llama.cpp: too long":         {400, `{"error":{"code":400,"message":"request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":4390,"n_ctx":4096}}`, model.TooLong, 1},
		"llama.cpp: too long, as 500": {500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, model.TooLong, 1},
		"Ollama: too long":            {400, `{"error":{"message":"the input length exceeds the context length","type":"invalid_request_error"}}`, model.TooLong, 1},
		"LM Studio: too long":         {400, `{"error":"Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, model.TooLong, 1},
		"LM Studio: n_keep":           {400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096)."}`, model.TooLong, 1},
		"llama-cpp-python: too long":  {400, `{"error":{"message":"Requested tokens (2285) exceed context window of 2048","type":"invalid_request_error"}}`, model.TooLong, 1},
		"too large":                   {413, "", model.TooLong, 1},
		"OpenRouter: its provider's":  {400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 210000 tokens\"}}","provider_name":"X"}}}`, model.TooLong, 1},
		"metadata of another type":    {400, `{"error":{"message":"maximum context length","code":400,"metadata":7}}`, model.TooLong, 1},
		"Google: in an array":         {400, `[{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]`, model.TooLong, 1},
		"an array, by code":           {400, `[{"error":{"message":"no","code":"context_length_exceeded"}}]`, model.TooLong, 1},
		"OpenAI: policy":              {400, openAI("Your request was rejected as a result of our safety system.", "invalid_request_error", `"content_policy_violation"`), model.Refused, 1},
		"OpenAI: prompt flagged":      {400, openAI("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "invalid_request_error", `"invalid_prompt"`), model.Refused, 1},
		"Azure: filter":               {400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, model.Refused, 1},
		"OpenRouter: moderation":      {403, `{"error":{"message":"m requires moderation. Your input was flagged for \"x\"","code":403}}`, model.Refused, 1},
		"DeepSeek: filter":            {400, openAI("Content Exists Risk", "invalid_request_error", `"invalid_request_error"`), model.Refused, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := serve(t, refuse(tc.status, tc.body))
			_, outcome, err := ask(t, u, question)
			wantFault(t, err, tc.want)
			if !strings.Contains(err.Error(), fmt.Sprintf("status %d: ", tc.status)) {
				t.Errorf("%v does not have the status", err)
			}
			if n := len(u.requests()); n != tc.tries {
				t.Errorf("tried %d times, want %d", n, tc.tries)
			}
			if !outcome.Usage.IsZero() || outcome.Model != "m" {
				t.Errorf("outcome %+v", outcome)
			}
		})
	}
}

// TestErrorsDoNotContainKey checks that no error has the key, whatever a server sends.
func TestErrorsDoNotContainKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 995) + secret + strings.Repeat("x", 9000) // the limit is inside of the key
	for name, handler := range map[string]http.HandlerFunc{
		"message":  refuse(401, `{"error":{"message":"Incorrect API key provided: `+secret+`"}}`),
		"escaped":  refuse(401, `{"error":{"message":"`+strings.ReplaceAll(secret, "/", `\/`)+`"}}`),
		"code":     refuse(400, `{"error":{"message":"no","code":"`+secret+`","type":"`+secret+`"}}`),
		"text":     refuse(500, "header Authorization: Bearer "+secret),
		"long":     refuse(500, long),
		"location": refuse(307, "", "Location", "https://other/?key="+secret),
		"stream":   stream(hello, `{"error":{"message":"bad key `+secret+`"}}`),
		"not JSON": stream(hello, secret),
		"finish":   stream(hello, finish(`{}`, "error")+secret),
		"refusal":  stream(say(`{"refusal":"`+secret+`"}`), stop),
		"a status line": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", secret)
			_ = conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := ask(t, serve(t, handler), question)
			if err == nil {
				t.Fatal("no error")
			}
			var logged bytes.Buffer
			slog.New(slog.NewTextHandler(&logged, nil)).Error("failed", "err", err)
			var failed *model.Error
			errors.As(err, &failed)
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, failed.Cause), logged.String()} {
				if strings.Contains(text, secret[:12]) {
					t.Errorf("quotes the key: %s", text)
				}
				if len(text) > 4000 {
					t.Errorf("%d bytes for the log", len(text))
				}
			}
		})
	}
}

// TestErrorsDoNotContainPrompt checks that only known fields of an error are logged, because servers may send the prompt
// back in others.
func TestErrorsDoNotContainPrompt(t *testing.T) {
	t.Parallel()
	const prompt = "my mother's diary"
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		says    string
	}{
		"text":          {refuse(500, "can't do: "+prompt, "Content-Type", "text/plain; charset=utf-8"), `status 500: no readable message, of type "text/plain"`},
		"a page":        {refuse(502, "<html>"+prompt, "Content-Type", "text/html"), `status 502: no readable message, of type "text/html"`},
		"no type":       {refuse(400, `{"messages":"`+prompt+`"}`, "Content-Type", ""), `status 400: no readable message`},
		"the request":   {refuse(400, `{"messages":[{"content":"`+prompt+`"}]}`, "Content-Type", "application/json"), `status 400: no readable message, of type "application/json"`},
		"an object":     {refuse(400, `{"error":{"message":{"input":"`+prompt+`"},"code":["`+prompt+`"]}}`), `status 400: no readable message`},
		"a list":        {refuse(400, `["`+prompt+`"]`), `status 400: no readable message`},
		"FastAPI":       {refuse(422, `{"detail":[{"loc":["body","messages",0],"msg":"Input should be a list","input":"`+prompt+`"}]}`), "status 422: Input should be a list"},
		"FastAPI, text": {refuse(422, `{"detail":"Not authenticated"}`), "status 422: Not authenticated"},
		"moderation":    {refuse(403, `{"error":{"message":"flagged","code":403,"metadata":{"reasons":["x"],"flagged_input":"`+prompt+`","provider_name":"P"}}}`), "status 403: flagged P"},
		"a provider's": {
			refuse(400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"bad tool\"},\"input\":\"`+prompt+`\"}"}}}`),
			"status 400: Provider returned error bad tool",
		},
		"a provider's text": {refuse(400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"`+prompt+`"}}}`), "status 400: Provider returned error (400)"},
		"long":              {refuse(400, `{"error":{"message":"`+strings.Repeat("é", 101)+prompt+`"}}`), "status 400: éé"},
		"in a stream":       {stream(hello, `{"error":{"input":"`+prompt+`"}}`), "no readable message"},
		"an event":          {raw("event: error\ndata: " + prompt + "\n\n"), "no readable message"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := ask(t, serve(t, tc.handler), question)
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); !strings.Contains(text, tc.says) || strings.Contains(text, prompt[:5]) || len(text) > 250 {
				t.Errorf("%q, want %q", text, tc.says)
			}
		})
	}
}
