package openai_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// fullRequest has all features of a request.
var fullRequest = model.Request{
	Task:   model.TaskChat,
	System: "You help <developers>.",
	Messages: []model.Message{
		{Role: model.User, Text: "Create a file\nplease \u2028"},
		{Role: model.Assistant, Text: "Here:", Calls: []model.Call{
			{ID: "c1", Name: "create_file", Input: `{"path":"/a","content":"x"}`},
			{ID: "c2", Name: "create_file", Input: `{}`},
			{ID: "c3", Name: "create_file", Input: `{}`},
		}},
		{Role: model.User, Text: "Repeat only the failed calls.", Results: []model.Result{
			{CallID: "c1", Text: "done"},
			{CallID: "c2", Text: "the input is not JSON", Failed: true},
			{CallID: "c3", Text: "the input is not an object", Failed: true},
		}},
		{Role: model.Assistant, Calls: []model.Call{{ID: "c4", Name: "create_file", Input: `{}`}}},
		{Role: model.User, Results: []model.Result{{CallID: "c4", Text: "done"}}},
	},
	Tools: []model.Tool{{
		Name: "create_file", Description: "Creates a file",
		Schema: jsontext.Value(`{"type":"object","required":["path"]}`),
	}},
	MaxOutput: 4096,
	Subject:   model.Subject{Prompt: "not for a model"},
}

// wantBody is fullRequest in the API's format. The vendor's client sends the same body.
const wantBody = `{"messages":[
{"content":"You help <developers>.","role":"system"},
{"content":"Create a file\nplease ` + "\u2028" + `","role":"user"},
{"content":"Here:","tool_calls":[
{"id":"c1","function":{"arguments":"{\"path\":\"/a\",\"content\":\"x\"}","name":"create_file"},"type":"function"},
{"id":"c2","function":{"arguments":"{}","name":"create_file"},"type":"function"},
{"id":"c3","function":{"arguments":"{}","name":"create_file"},"type":"function"}],"role":"assistant"},
{"content":"done","tool_call_id":"c1","role":"tool"},
{"content":"Error: the input is not JSON","tool_call_id":"c2","role":"tool"},
{"content":"Error: the input is not an object","tool_call_id":"c3","role":"tool"},
{"content":"Repeat only the failed calls.","role":"user"},
{"content":"","tool_calls":[
{"id":"c4","function":{"arguments":"{}","name":"create_file"},"type":"function"}],"role":"assistant"},
{"content":"done","tool_call_id":"c4","role":"tool"}],
"model":"m","max_tokens":4096,"stream_options":{"include_usage":true},
"tools":[
{"function":{"name":"create_file","description":"Creates a file",
"parameters":{"type":"object","required":["path"]}},"type":"function"}],
"stream":true}`

func TestRequestFormat(t *testing.T) {
	t.Parallel()
	s := serve(t, respondEvents(helloChunk, stopChunk, doneData))
	if _, _, err := generate(t, s, fullRequest); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	// Line breaks in wantBody only make it readable.
	if diff := cmp.Diff(strings.ReplaceAll(wantBody, "\n", ""), got.Body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if want := "/v1/chat/completions"; got.Path != want {
		t.Errorf("got the path %s, want %s", got.Path, want)
	}
	got.Header.Del("Content-Length")
	wantHeader := http.Header{
		"Accept":        {"text/event-stream"},
		"Authorization": {"Bearer " + secret},
		"Content-Type":  {"application/json"},
		"User-Agent":    {"devplatform"},
	}
	if diff := cmp.Diff(wantHeader, got.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

func TestSmallestRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, respondEvents(helloChunk, stopChunk))
	if _, _, err := generate(t, s, simpleRequest); err != nil {
		t.Fatal(err)
	}
	const want = `{"messages":[{"content":"Hi","role":"user"}],"model":"m","stream_options":{"include_usage":true},"stream":true}`
	if got := s.Requests()[0].Body; got != want {
		t.Errorf("got the body %s, want %s", got, want)
	}
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		base, want          string
		useCompletionTokens bool // the name of the limit is max_completion_tokens
	}{
		{"", "https://api.openai.com/v1/chat/completions", true},
		{"https://api.openai.com", "https://api.openai.com/v1/chat/completions", true},
		{"https://eu.API.openai.com/v1", "https://eu.API.openai.com/v1/chat/completions", true},
		{
			"https://x.openai.azure.com/openai/v1/?api-version=preview",
			"https://x.openai.azure.com/openai/v1/chat/completions?api-version=preview",
			true,
		},
		{"https://notopenai.com/v1", "https://notopenai.com/v1/chat/completions", false},
		{"https://api.openai.com.example/v1", "https://api.openai.com.example/v1/chat/completions", false},
		{"http://localhost:11434", "http://localhost:11434/v1/chat/completions", false},
		{"http://localhost:11434/", "http://localhost:11434/v1/chat/completions", false},
		{"http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions", false},
		{"http://localhost:11434/v1//", "http://localhost:11434/v1/chat/completions", false},
		{"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions", false},
		{
			"https://generativelanguage.googleapis.com/v1beta/openai/",
			"https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
			false,
		},
		{"http://[::1]:8000/v1/chat/completions", "http://[::1]:8000/v1/chat/completions", false},
	} {
		got, useCompletionTokens, err := openai.Endpoint(tc.base)
		if err != nil || got != tc.want || useCompletionTokens != tc.useCompletionTokens {
			t.Errorf("%q: got %q, max_completion_tokens %t and error %v, want %q and %t",
				tc.base, got, useCompletionTokens, err, tc.want, tc.useCompletionTokens)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, base := range []string{
		"localhost:11434", "/v1", "ftp://host/v1", "http://", "http://u:" + secret + "@ho st/", "://",
	} {
		p := openai.New(openai.Options{BaseURL: base, Model: "m"}) // the first call reports the error
		_, err := p.Generate(t.Context(), simpleRequest, new(providertest.Answer).Emit)
		if providertest.CheckFault(t, err, model.Misconfigured); strings.Contains(err.Error(), secret) {
			t.Errorf("the error %q contains the password of the URL", err)
		}
	}
	s := serve(t, respondEvents(helloChunk, stopChunk))
	badKey := func(context.Context) (string, error) { return "sk\nInjected: yes", nil }
	p := openai.New(openai.Options{BaseURL: s.URL, Key: badKey})
	_, err := p.Generate(t.Context(), simpleRequest, new(providertest.Answer).Emit)
	providertest.CheckFault(t, err, model.Misconfigured)
	badSchema := simpleRequest
	badSchema.Tools = []model.Tool{{Name: "f", Schema: jsontext.Value(`{`)}}
	_, _, err = generate(t, s, badSchema)
	providertest.CheckFault(t, err, model.Misconfigured)
	s.CheckRequests(t, 0)
}
