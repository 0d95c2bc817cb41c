package openai_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// conversation has all features of a request.
var conversation = model.Request{
	Task:   model.TaskChat,
	System: "You help <people>.",
	Messages: []model.Message{
		{Role: model.User, Text: "Create a file\nplease \u2028"},
		{Role: model.Assistant, Text: "Here:", Calls: []model.Call{
			{ID: "c1", Name: "create_file", Input: `{"path":"/a","content":"x"}`},
			{ID: "c2", Name: "create_file", Input: `{"path":"/b","con`},
			{ID: "c3", Name: "create_file", Input: `"/c"`},
		}},
		{Role: model.User, Text: "Make only the failed calls again.", Results: []model.Result{
			{CallID: "c1", Text: "done"}, {CallID: "c2", Text: "the input is no JSON", Failed: true}, {CallID: "c3", Text: "the input is no object", Failed: true},
		}},
		{Role: model.Assistant, Calls: []model.Call{{ID: "c4", Name: "create_file", Input: `{}`}}},
		{Role: model.User, Results: []model.Result{{CallID: "c4", Text: "done"}}},
	},
	Tools:     []model.Tool{{Name: "create_file", Description: "Creates a file", Schema: jsontext.Value(`{"type":"object","required":["path"]}`)}},
	MaxOutput: 4096,
	Facts:     model.Facts{Prompt: "not for a model"},
}

// wantBody is conversation in the API's format. Apart from the order of the fields, it is what the vendor's client
// sends.
const wantBody = `{"messages":[
{"content":"You help <people>.","role":"system"},
{"content":"Create a file\nplease ` + "\u2028" + `","role":"user"},
{"content":"Here:","tool_calls":[
{"id":"c1","function":{"arguments":"{\"path\":\"/a\",\"content\":\"x\"}","name":"create_file"},"type":"function"},
{"id":"c2","function":{"arguments":"{}","name":"create_file"},"type":"function"},
{"id":"c3","function":{"arguments":"{}","name":"create_file"},"type":"function"}],"role":"assistant"},
{"content":"done","tool_call_id":"c1","role":"tool"},
{"content":"Error: the input is no JSON","tool_call_id":"c2","role":"tool"},
{"content":"Error: the input is no object","tool_call_id":"c3","role":"tool"},
{"content":"Make only the failed calls again.","role":"user"},
{"content":"","tool_calls":[{"id":"c4","function":{"arguments":"{}","name":"create_file"},"type":"function"}],"role":"assistant"},
{"content":"done","tool_call_id":"c4","role":"tool"}],
"model":"m","max_tokens":4096,"stream_options":{"include_usage":true},
"tools":[{"function":{"name":"create_file","description":"Creates a file","parameters":{"type":"object","required":["path"]}},"type":"function"}],
"stream":true}`

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	u := serve(t, stream(hello, stop, done))
	if _, _, err := ask(t, u, conversation); err != nil {
		t.Fatal(err)
	}
	got := u.requests()[0]
	if want := strings.ReplaceAll(wantBody, "\n{", "{"); cmp.Diff(strings.ReplaceAll(want, "\n\"", "\""), got.body) != "" {
		t.Errorf("body: %s", cmp.Diff(want, got.body))
	}
	got.header.Del("Content-Length")
	want := http.Header{
		"Accept": {"text/event-stream"}, "Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "User-Agent": {"devplatform"},
	}
	if got.path != "/v1/chat/completions" || !cmp.Equal(got.header, want) {
		t.Errorf("%s with %v", got.path, got.header)
	}
}

func TestSmallestRequest(t *testing.T) {
	t.Parallel()
	u := serve(t, stream(hello, stop))
	if _, _, err := ask(t, u, question); err != nil {
		t.Fatal(err)
	}
	const want = `{"messages":[{"content":"Hi","role":"user"}],"model":"m","stream_options":{"include_usage":true},"stream":true}`
	if got := u.requests()[0].body; got != want {
		t.Errorf("got %s", got)
	}
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		base, want string
		newLimit   bool
	}{
		{"", "https://api.openai.com/v1/chat/completions", true},
		{"https://api.openai.com", "https://api.openai.com/v1/chat/completions", true},
		{"https://eu.API.openai.com/v1", "https://eu.API.openai.com/v1/chat/completions", true},
		{"https://x.openai.azure.com/openai/v1/?api-version=preview", "https://x.openai.azure.com/openai/v1/chat/completions?api-version=preview", true},
		{"https://notopenai.com/v1", "https://notopenai.com/v1/chat/completions", false},
		{"https://api.openai.com.example/v1", "https://api.openai.com.example/v1/chat/completions", false},
		{"http://localhost:11434", "http://localhost:11434/v1/chat/completions", false},
		{"http://localhost:11434/", "http://localhost:11434/v1/chat/completions", false},
		{"http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions", false},
		{"http://localhost:11434/v1//", "http://localhost:11434/v1/chat/completions", false},
		{"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions", false},
		{"https://generativelanguage.googleapis.com/v1beta/openai/", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", false},
		{"http://[::1]:8000/v1/chat/completions", "http://[::1]:8000/v1/chat/completions", false},
	} {
		if got, newLimit, err := openai.Endpoint(tc.base); got != tc.want || newLimit != tc.newLimit || err != nil {
			t.Errorf("%q: %q, %t, %v", tc.base, got, newLimit, err)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"localhost:11434", "/v1", "ftp://host/v1", "http://", "http://u:" + secret + "@ho st/", "://"} {
		p := openai.New(openai.Options{BaseURL: base, Model: "m"}) // reports no error yet
		_, err := p.Generate(t.Context(), question, new(collected).take)
		if wantFault(t, err, model.Misconfigured); strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
	u := serve(t, stream(hello, stop))
	badKey := func(context.Context) (string, error) { return "sk\nInjected: yes", nil }
	_, err := openai.New(openai.Options{BaseURL: u.URL, Key: badKey}).Generate(t.Context(), question, new(collected).take)
	wantFault(t, err, model.Misconfigured)
	badSchema := question
	badSchema.Tools = []model.Tool{{Name: "f", Schema: jsontext.Value(`{`)}}
	_, _, err = ask(t, u, badSchema)
	wantFault(t, err, model.Misconfigured)
	if n := len(u.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
