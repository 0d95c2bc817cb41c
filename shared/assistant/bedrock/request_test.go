package bedrock

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// fullRequest returns a request with all features.
func fullRequest() model.Request {
	return model.Request{
		System: "You write \"code\" <fast>.", MaxOutput: 8192,
		Tools: []model.Tool{
			{
				Name: "create_file", Description: "Creates a file",
				Schema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},` +
					`"required":["path","content"]}`),
			},
			{Name: "other", Description: "Another", Schema: jsontext.Value(`{"type":"object"}`)},
		},
		Messages: []model.Message{
			{Role: model.User, Text: "Create <a> & b\u2028"},
			{Role: model.Assistant, Text: "Sure.", Calls: []model.Call{
				{ID: "t1", Name: "create_file", Input: `{"path":"/a","content":"12345678901234567890","n":12345678901234567890}`},
				{ID: "t2", Name: "other", Input: `{}`},
			}},
			{Role: model.User, Text: "And now c", Results: []model.Result{
				{CallID: "t1", Text: "done"},
				{CallID: "t2", Text: "no such path", Failed: true},
			}},
			{Role: model.Assistant, Text: " \n", Calls: []model.Call{{ID: "t5", Name: "other", Input: `{}`}}},
			{Role: model.User, Results: []model.Result{{CallID: "t5", Text: "done"}}},
		},
	}
}

// wantBody is the body of fullRequest. SYSTEM, TOOLS and STATUS depend on the model.
const wantBody = `{
	"inferenceConfig": {"maxTokens": 8192},
	"messages": [
		{"role": "user", "content": [{"text": "Create <a> & b\u2028"}]},
		{"role": "assistant", "content": [
			{"text": "Sure."},
			{"toolUse": {"toolUseId": "t1", "name": "create_file", "input":
				{"path": "/a", "content": "12345678901234567890", "n": 12345678901234567890}}},
			{"toolUse": {"toolUseId": "t2", "name": "other", "input": {}}}
		]},
		{"role": "user", "content": [
			{"toolResult": {"toolUseId": "t1", "content": [{"text": "done"}]}},
			{"toolResult": {"toolUseId": "t2", "content": [{"text": "no such path"}]STATUS}},
			{"text": "And now c"}
		]},
		{"role": "assistant", "content": [{"toolUse": {"toolUseId": "t5", "name": "other", "input": {}}}]},
		{"role": "user", "content": [{"toolResult": {"toolUseId": "t5", "content": [{"text": "done"}]}}]}
	],
	"system": [{"text": "You write \"code\" <fast>."}SYSTEM],
	"toolConfig": {"tools": [
		{"toolSpec": {"name": "create_file", "description": "Creates a file", "inputSchema": {"json":
			{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},
			"required":["path","content"]}}}},
		{"toolSpec": {"name": "other", "description": "Another", "inputSchema": {"json": {"type":"object"}}}}TOOLS
	]}
}`

// serveText starts a server that responds with a text.
func serveText(t *testing.T) *fakeBedrock {
	t.Helper()
	return serveFrames(t, textDelta(0, "a"), messageStop("end_turn"))
}

func TestRequestFormat(t *testing.T) {
	t.Parallel()
	const cachePoint, failedStatus = `,{"cachePoint":{"type":"default"}}`, `,"status":"error"`
	const profile = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123"
	for name, tc := range map[string]struct{ system, tools, status string }{
		claude:                                    {cachePoint, cachePoint, failedStatus},
		"anthropic.claude-opus-4-20250514-v1:0":   {cachePoint, cachePoint, failedStatus},
		"global.anthropic.claude-haiku-6":         {cachePoint, cachePoint, failedStatus},
		"us.anthropic.claude-3-7-sonnet-20250219": {cachePoint, cachePoint, failedStatus},
		"anthropic.claude-3-5-sonnet-20240620-v1": {"", "", failedStatus},
		"anthropic.claude-3-haiku-20240307-v1:0":  {"", "", failedStatus},
		"anthropic.claude-v2:1":                   {"", "", ""},
		"eu.amazon.nova-pro-v1:0":                 {cachePoint, "", failedStatus},
		"amazon.nova-2-lite-v1:0":                 {cachePoint, "", failedStatus},
		"meta.llama3-3-70b-instruct-v1:0":         {"", "", ""},
		"mistral.mistral-large-2407-v1:0":         {"", "", ""},
		profile:                                   {cachePoint, cachePoint, ""},
		"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5": {
			cachePoint, cachePoint, failedStatus,
		},
	} {
		texts := strings.NewReplacer("SYSTEM", tc.system, "TOOLS", tc.tools, "STATUS", tc.status)
		escapedName := strings.NewReplacer(":", "%3A", "/", "%2F").Replace(name)
		s := serveText(t)
		if got, _, err := generateFor(t.Context(), t, s.provider(name), fullRequest()); err != nil || got.Text != "a" {
			t.Fatalf("%s: got answer %v and error %v, want the text a", name, got, err)
		}
		sent := s.Requests()[0]
		got, want := sortMembers(t, sent.Body), sortMembers(t, texts.Replace(wantBody))
		if got != want {
			t.Errorf("%s: got the body\n%s\nwant\n%s", name, got, want)
		}
		wantPath := "/model/" + escapedName + "/converse-stream"
		if sent.Method != "POST" || sent.Path != wantPath {
			t.Errorf("%s: got %s %s, want POST %s", name, sent.Method, sent.Path, wantPath)
		}
	}
}

// sortMembers sorts the members of all objects in a JSON text. Unlike canonicalization, it does not change numbers.
func sortMembers(t *testing.T, text string) string {
	t.Helper()
	value := jsontext.Value(text)
	if err := value.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false)); err != nil {
		t.Fatal(err)
	}
	return string(value)
}

// The order of the properties is not changed, because models write the input of a call in the order of the
// schema.
func TestSchemasAndInputsAreSentUnchanged(t *testing.T) {
	t.Parallel()
	s, r := serveText(t), fullRequest()
	if _, _, err := generateFor(t.Context(), t, s.provider(claude), r); err != nil {
		t.Fatal(err)
	}
	body := s.Requests()[0].Body
	for _, want := range []string{string(r.Tools[0].Schema), r.Messages[1].Calls[0].Input} {
		if !strings.Contains(body, want) {
			t.Errorf("the body does not contain %s: %s", want, body)
		}
	}
}

func TestEmptyFieldsAreNotSent(t *testing.T) {
	t.Parallel()
	s := serveText(t)
	r := model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
	if _, _, err := generateFor(t.Context(), t, s.provider(claude), r); err != nil {
		t.Fatal(err)
	}
	const want = `{"messages":[{"content":[{"text":"hello"}],"role":"user"}]}`
	if got := s.Requests()[0].Body; got != want {
		t.Errorf("got the body %s, want %s", got, want)
	}
}

func TestRequestsAreSigned(t *testing.T) {
	t.Parallel()
	s := serveText(t)
	if _, _, err := generate(t, s.provider(claude)); err != nil {
		t.Fatal(err)
	}
	header := s.Requests()[0].Header
	authorization := header.Get("Authorization")
	for _, want := range []string{
		"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/",
		"/eu-central-1/bedrock/aws4_request",
	} {
		if !strings.Contains(authorization, want) {
			t.Errorf("Authorization %q does not contain %q", authorization, want)
		}
	}
	if got, want := header.Get("X-Amz-Security-Token"), "FwoGZXIvYXdz"; got != want {
		t.Errorf("got X-Amz-Security-Token %q, want %q", got, want)
	}
}

// The SDK would prefer a bearer token in the environment to the function's role. It reads the environment once, at the
// first call.
func TestBearerTokenIsNotUsed(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer")
	s := serveText(t)
	if _, _, err := generate(t, s.provider(claude)); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].Header.Get("Authorization"); !strings.HasPrefix(got, "AWS4-HMAC-SHA256 ") {
		t.Errorf("got Authorization %q, want a signature", got)
	}
}
