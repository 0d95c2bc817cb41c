package openai_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	"pgregory.net/rapid"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
)

// conversation has everything that a request can have.
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

// wantBody is conversation as a compatible server reads it.
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

func TestUnusableOptions(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"localhost:11434", "/v1", "ftp://host/v1", "http://", "http://u:" + secret + "@ho st/", "://"} {
		p := openai.New(openai.Options{BaseURL: base, Model: "m"}) // says nothing yet
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

// TestBodyIsTheSDKs holds our requests against those that the vendor's client makes of the same.
func TestBodyIsTheSDKs(t *testing.T) {
	t.Parallel()
	u := serve(t, stream(hello, stop, done))
	client := sdk.NewClient(option.WithBaseURL(u.URL+"/v1"), option.WithAPIKey(secret))
	text := rapid.StringMatching(`[a-zé<"\\\n鍵 ]{1,12}`)
	rapid.Check(t, func(rt *rapid.T) {
		r := model.Request{System: rapid.OneOf(rapid.Just(""), text).Draw(rt, "system"), MaxOutput: rapid.IntRange(0, 9).Draw(rt, "limit")}
		params := sdk.ChatCompletionNewParams{Model: "m", StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)}}
		if r.System != "" {
			params.Messages = append(params.Messages, sdk.SystemMessage(r.System))
		}
		if r.MaxOutput > 0 {
			params.MaxTokens = sdk.Int(int64(r.MaxOutput))
		}
		for range rapid.IntRange(0, 3).Draw(rt, "turns") {
			turn, said := drawTurn(rt, text)
			r.Messages = append(r.Messages, turn...)
			params.Messages = append(params.Messages, said...)
		}
		r.Messages = append(r.Messages, model.Message{Role: model.User, Text: "end"})
		params.Messages = append(params.Messages, sdk.UserMessage("end"))
		for range rapid.IntRange(0, 2).Draw(rt, "tools") {
			name := text.Draw(rt, "tool")
			r.Tools = append(r.Tools, model.Tool{Name: name, Description: "does it", Schema: jsontext.Value(`{"properties":{},"type":"object"}`)})
			params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
				Name: name, Description: sdk.String("does it"), Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{}},
			}))
		}
		if _, _, err := ask(rt, u, r); err != nil {
			rt.Fatal(err)
		}
		for events := client.Chat.Completions.NewStreaming(context.Background(), params); events.Next(); {
		}
		all := u.requests()
		ours, theirs := jsontext.Value(all[len(all)-2].body), jsontext.Value(all[len(all)-1].body)
		if ours.Canonicalize() != nil || theirs.Canonicalize() != nil || string(ours) != string(theirs) {
			rt.Fatalf("ours:\n%s\nthe SDK's:\n%s", ours, theirs)
		}
		if o, s := all[len(all)-2], all[len(all)-1]; o.path != s.path || o.header.Get("Authorization") != s.header.Get("Authorization") {
			rt.Fatalf("ours to %s, the SDK's to %s", o.path, s.path)
		}
	})
}

// drawTurn is a question and its answer, with calls or without, for us and for the SDK.
func drawTurn(rt *rapid.T, text *rapid.Generator[string]) ([]model.Message, []sdk.ChatCompletionMessageParamUnion) {
	asked, said := text.Draw(rt, "asked"), text.Draw(rt, "said")
	answer := model.Message{Role: model.Assistant, Text: said}
	theirs := sdk.ChatCompletionAssistantMessageParam{Content: sdk.ChatCompletionAssistantMessageParamContentUnion{OfString: sdk.String(said)}}
	results := model.Message{Role: model.User}
	var after []sdk.ChatCompletionMessageParamUnion
	for range rapid.IntRange(0, 2).Draw(rt, "calls") {
		call := model.Call{ID: text.Draw(rt, "id"), Name: text.Draw(rt, "name"), Input: `{"a" : "b"}`}
		answer.Calls = append(answer.Calls, call)
		theirs.ToolCalls = append(theirs.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: call.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: call.Input},
		}})
		result := text.Draw(rt, "result")
		results.Results = append(results.Results, model.Result{CallID: call.ID, Text: result})
		after = append(after, sdk.ToolMessage(result, call.ID))
	}
	ours := []model.Message{{Role: model.User, Text: asked}, answer}
	if len(results.Results) > 0 {
		ours = append(ours, results)
	}
	return ours, append([]sdk.ChatCompletionMessageParamUnion{sdk.UserMessage(asked), {OfAssistant: &theirs}}, after...)
}
