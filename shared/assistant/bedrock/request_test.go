package bedrock

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

func conversation() model.Request {
	return model.Request{
		System: "You write \"code\" <fast>.", MaxOutput: 8192,
		Tools: []model.Tool{
			{Name: "create_file", Description: "Makes a file", Schema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
			{Name: "bare", Schema: jsontext.Value(`{"type":"object"}`)},
		},
		Messages: []model.Message{
			{Role: model.User, Text: "Make <a> & b\u2028"},
			{Role: model.Assistant, Text: "Sure.", Calls: []model.Call{
				{ID: "t1", Name: "create_file", Input: `{"path":"/a","content":"12345678901234567890","n":12345678901234567890}`},
				{ID: "t2", Name: "bare", Input: ``},
				{ID: "t3", Name: "bare", Input: `{"path":"/cut`},
				{ID: "t4", Name: "bare", Input: `["no object"]`},
			}},
			{Role: model.User, Text: "And now c", Results: []model.Result{
				{CallID: "t1", Text: "done"}, {CallID: "t2", Text: "no such path", Failed: true}, {CallID: "t3", Text: " \n", Failed: true}, {CallID: "t4", Text: "x"},
			}},
			{Role: model.Assistant, Text: " \n", Calls: []model.Call{{ID: "t5", Name: "bare", Input: `{}`}}},
			{Role: model.User, Results: []model.Result{{CallID: "t5", Text: "done"}}},
			{Role: model.Assistant, Text: "\t"},
			{Role: model.User, Text: "ok"},
		},
	}
}

const golden = `{
	"inferenceConfig": {"maxTokens": 8192},
	"messages": [
		{"role": "user", "content": [{"text": "Make <a> & b\u2028"}]},
		{"role": "assistant", "content": [
			{"text": "Sure."},
			{"toolUse": {"toolUseId": "t1", "name": "create_file", "input": {"path": "/a", "content": "12345678901234567890", "n": 12345678901234567890}}},
			{"toolUse": {"toolUseId": "t2", "name": "bare", "input": {}}},
			{"toolUse": {"toolUseId": "t3", "name": "bare", "input": {}}},
			{"toolUse": {"toolUseId": "t4", "name": "bare", "input": {}}}
		]},
		{"role": "user", "content": [
			{"toolResult": {"toolUseId": "t1", "content": [{"text": "done"}]}},
			{"toolResult": {"toolUseId": "t2", "content": [{"text": "no such path"}]STATUS}},
			{"toolResult": {"toolUseId": "t3", "content": [{"text": "(nothing)"}]STATUS}},
			{"toolResult": {"toolUseId": "t4", "content": [{"text": "x"}]}},
			{"text": "And now c"}
		]},
		{"role": "assistant", "content": [{"toolUse": {"toolUseId": "t5", "name": "bare", "input": {}}}]},
		{"role": "user", "content": [{"toolResult": {"toolUseId": "t5", "content": [{"text": "done"}]}}]},
		{"role": "assistant", "content": [{"text": "(nothing)"}]},
		{"role": "user", "content": [{"text": "ok"}]}
	],
	"system": [{"text": "You write \"code\" <fast>."}SYSTEM],
	"toolConfig": {"tools": [
		{"toolSpec": {"name": "create_file", "description": "Makes a file", "inputSchema": {"json":
			{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}}},
		{"toolSpec": {"name": "bare", "inputSchema": {"json": {"type":"object"}}}}TOOLS
	]}
}`

// say starts a server that responds to both kinds of calls with the same text.
func say(t *testing.T) *bedrockServer {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if strings.HasSuffix(r.URL.Path, "/converse") {
			_, _ = fmt.Fprint(w, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn"}`)
			return
		}
		send(w, text(0, "a"), stopped("end_turn"))
	})
}

func TestRequestFormat(t *testing.T) {
	t.Parallel()
	const point, failed = `,{"cachePoint":{"type":"default"}}`, `,"status":"error"`
	arn := "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123"
	for name, tc := range map[string]struct{ path, system, tools, status string }{
		claude:                                    {claude, point, point, failed},
		"anthropic.claude-opus-4-20250514-v1:0":   {"", point, point, failed},
		"global.anthropic.claude-haiku-6":         {"", point, point, failed},
		"us.anthropic.claude-3-7-sonnet-20250219": {"", point, point, failed},
		"anthropic.claude-3-5-sonnet-20240620-v1": {"", "", "", failed},
		"anthropic.claude-3-haiku-20240307-v1:0":  {"", "", "", failed},
		"anthropic.claude-v2:1":                   {"", "", "", ""},
		"eu.amazon.nova-pro-v1:0":                 {"", point, "", failed},
		"amazon.nova-2-lite-v1:0":                 {"", point, "", failed},
		"meta.llama3-3-70b-instruct-v1:0":         {"", "", "", ""},
		"mistral.mistral-large-2407-v1:0":         {"", "", "", ""},
		arn:                                       {strings.ReplaceAll(strings.ReplaceAll(arn, "/", "%2F"), ":", "%3A"), point, point, ""},
		"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5": {"", point, point, failed},
	} {
		for _, task := range []model.Task{model.TaskChat, model.TaskGenerate, model.TaskSummarize} {
			s, r := say(t), conversation()
			r.Task = task
			if got, _, err := askFor(t.Context(), t, s.provider(name), r); err != nil || got.text != "a" {
				t.Fatalf("%s: %v, %v", name, got, err)
			}
			sent := s.seen()[0]
			want := jsontext.Value(strings.NewReplacer("SYSTEM", tc.system, "TOOLS", tc.tools, "STATUS", tc.status).Replace(golden))
			got := jsontext.Value(bytes.Clone(sent.body))
			for _, v := range []*jsontext.Value{&want, &got} {
				// Only the members are sorted: a canonical form would round numbers.
				if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %s:\n got %s\nwant %s", name, task, got, want)
			}
			action := map[model.Task]string{model.TaskSummarize: "converse"}[task]
			if action == "" {
				action = "converse-stream"
			}
			path := tc.path
			if path == "" || path == claude {
				path = strings.ReplaceAll(strings.ReplaceAll(name, ":", "%3A"), "/", "%2F")
			}
			if sent.method != "POST" || sent.path != "/model/"+path+"/"+action {
				t.Errorf("%s %s", sent.method, sent.path)
			}
		}
	}
}

// Models write the properties in the order of the schema.
func TestSchemasAndInputsAreSentUnchanged(t *testing.T) {
	t.Parallel()
	s, r := say(t), conversation()
	if _, _, err := askFor(t.Context(), t, s.provider(claude), r); err != nil {
		t.Fatal(err)
	}
	body := s.seen()[0].body
	for _, want := range []string{string(r.Tools[0].Schema), r.Messages[1].Calls[0].Input} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}

func TestRequestsAreDeterministic(t *testing.T) {
	t.Parallel()
	s := say(t)
	for range 10 {
		if _, _, err := askFor(t.Context(), t, s.provider(claude), conversation()); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.seen() {
		if !bytes.Equal(r.body, s.seen()[0].body) {
			t.Fatalf("the request\n%s\ndiffers from the first request\n%s", r.body, s.seen()[0].body)
		}
	}
}

func TestToolsOfEarlierCalls(t *testing.T) {
	t.Parallel()
	s, r := say(t), conversation()
	r.Tools, r.Task = nil, model.TaskSummarize
	if _, _, err := askFor(t.Context(), t, s.provider("meta.llama3"), r); err != nil {
		t.Fatal(err)
	}
	var names []string
	var sent struct {
		ToolConfig struct {
			Tools []struct {
				ToolSpec struct {
					Name        string
					InputSchema struct{ JSON jsontext.Value }
				}
			}
		}
	}
	unmarshal(t, s.seen()[0].body, &sent)
	for _, tool := range sent.ToolConfig.Tools {
		names = append(names, tool.ToolSpec.Name)
		if string(tool.ToolSpec.InputSchema.JSON) != `{"type":"object"}` {
			t.Errorf("%s", tool.ToolSpec.InputSchema.JSON)
		}
	}
	if !reflect.DeepEqual(names, []string{"create_file", "bare"}) {
		t.Errorf("%v", names)
	}
}

func TestEmptyFieldsAreNotSent(t *testing.T) {
	t.Parallel()
	s := say(t)
	r := model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}, System: " "}
	if _, _, err := askFor(t.Context(), t, s.provider(claude), r); err != nil {
		t.Fatal(err)
	}
	if got := string(s.seen()[0].body); got != `{"messages":[{"content":[{"text":"hello"}],"role":"user"}]}` {
		t.Errorf("%s", got)
	}
}

func TestRequestsAreSigned(t *testing.T) {
	t.Parallel()
	s := say(t)
	if _, _, err := ask(t, s.provider(claude)); err != nil {
		t.Fatal(err)
	}
	h := s.seen()[0].header
	if auth := h.Get("Authorization"); !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") || !strings.Contains(auth, "/eu-central-1/bedrock/aws4_request") {
		t.Errorf("%s", auth)
	}
	if h.Get("X-Amz-Security-Token") != "FwoGZXIvYXdz" {
		t.Errorf("%v", h)
	}
}

// The SDK would prefer a bearer token in the environment to the function's role. It reads the environment once, at the
// first call.
func TestBearerTokenIsNotUsed(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer")
	s := say(t)
	if _, _, err := ask(t, s.provider(claude)); err != nil {
		t.Fatal(err)
	}
	if auth := s.seen()[0].header.Get("Authorization"); !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 ") {
		t.Errorf("%s", auth)
	}
}
