package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"devplatform/shared/docs"
	"devplatform/shared/fault"
)

// spec is as much of the document as is looked at here.
type spec struct {
	Tags  []struct{ Name, Description string } `json:"tags"`
	Paths map[string]map[string]operation      `json:"paths"`
	Hooks map[string]map[string]operation      `json:"webhooks"`
	Parts struct {
		Responses  map[string]body      `json:"responses"`
		Parameters map[string]parameter `json:"parameters"`
	} `json:"components"`
}

type operation struct {
	ID          string           `json:"operationId"`
	Summary     string           `json:"summary"`
	Description string           `json:"description"`
	Tags        []string         `json:"tags"`
	Parameters  []parameter      `json:"parameters"`
	Security    []map[string]any `json:"security"`
	Request     *body            `json:"requestBody"`
	Responses   map[string]body  `json:"responses"`
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Example     any    `json:"example"`
}

type body struct {
	Ref         string               `json:"$ref"`
	Description string               `json:"description"`
	Headers     map[string]parameter `json:"headers"`
	Content     map[string]media     `json:"content"`
}

type media struct {
	Example  any                             `json:"example"`
	Examples map[string]struct{ Value told } `json:"examples"`
}

type told struct {
	Message string     `json:"error"`
	Code    fault.Code `json:"code"`
}

// TestEverythingIsSaid holds the document to what its readers need of every operation: what it is for, what to send, what comes back, and
// what each error looks like.
func TestEverythingIsSaid(t *testing.T) {
	t.Parallel()
	var d spec
	if err := json.Unmarshal(docs.OpenAPI, &d); err != nil {
		t.Fatal(err)
	}
	missing := d.missing()
	for _, gap := range missing {
		t.Error(gap)
	}
	if len(d.Paths) < 20 || len(d.Hooks) < 10 {
		t.Errorf("%d paths, %d webhooks", len(d.Paths), len(d.Hooks))
	}
}

// TestGapsAreFound shows that an operation that lacks something does not pass.
func TestGapsAreFound(t *testing.T) {
	t.Parallel()
	const whole = `{"tags": [{"name": "Things", "description": "All."}], "paths": {"/things": {"post": {
		"operationId": "makeThing", "summary": "Make", "description": "More.", "tags": ["Things"], "security": [{}],
		"parameters": [{"name": "q", "description": "What", "example": "x"}],
		"requestBody": {"content": {"application/json": {"example": {"a": 1}}}},
		"responses": {
			"201": {"description": "Created", "headers": {"X-Request-Id": {}}, "content": {"application/json": {"example": {"a": 1}}}},
			"409": {"description": "CONFLICT", "headers": {"X-Request-Id": {}}, "content": {"application/json": {"examples": {"CONFLICT": {"value": {"error": "No.", "code": "CONFLICT"}}}}}}
		}}}}}`
	for remove, with := range map[string]string{
		`"summary": "Make", `:              ``,
		`"description": "More.", `:         ``,
		`"description": "All."`:            `"description": ""`,
		`"tags": ["Things"]`:               `"tags": ["Others"]`,
		`makeThing`:                        `make-thing`,
		`, "security": [{}]`:               ``,
		`, "description": "What"`:          ``,
		`, "example": "x"`:                 ``,
		`{"example": {"a": 1}}}},`:         `{}}},`,
		`{"example": {"a": 1}}}}, "409"`:   `{}}}, "409"`,
		`"201"`:                            `"404"`,
		`"headers": {"X-Request-Id": {}},`: ``,
		`"409"`:                            `"400"`,
		`"error": "No."`:                   `"error": ""`,
		`"code": "CONFLICT"`:               `"code": "RATE_LIMITED"`,
		`"description": "CONFLICT"`:        `"description": "CONFLICT, AUTH_USER_EXISTS"`,
	} {
		broken := strings.Replace(strings.Join(strings.Fields(whole), " "), remove, with, 1)
		var d spec
		if err := json.Unmarshal([]byte(broken), &d); err != nil {
			t.Fatalf("%s: %v", remove, err)
		}
		if len(d.missing()) == 0 {
			t.Errorf("without %s nothing is missing: %s", remove, broken)
		}
	}
	var d spec
	if err := json.Unmarshal([]byte(whole), &d); err != nil || d.missing() != nil {
		t.Errorf("%v: %q", err, d.missing())
	}
}

var camelCase = regexp.MustCompile(`^[a-z]+([A-Z]+[a-z]*)*$`)

// missing is what the document does not say.
func (d *spec) missing() []string {
	var gaps []string
	described, seen := map[string]bool{}, map[string]bool{}
	for _, tag := range d.Tags {
		described[tag.Name] = tag.Description != ""
	}
	for _, paths := range []map[string]map[string]operation{d.Paths, d.Hooks} {
		for path, methods := range paths {
			for method, op := range methods {
				lacks := func(format string, args ...any) {
					gaps = append(gaps, method+" "+path+": "+fmt.Sprintf(format, args...))
				}
				if !camelCase.MatchString(op.ID) || seen[op.ID] {
					lacks("operationId %q", op.ID)
				}
				seen[op.ID] = true
				if op.Summary == "" || op.Description == "" || op.Security == nil {
					lacks("a summary, a description and what it needs of a session: %q, %q, %v", op.Summary, op.Description, op.Security)
				}
				if len(op.Tags) != 1 || !described[op.Tags[0]] {
					lacks("one group that is described: %q", op.Tags)
				}
				d.parameters(op, lacks)
				if op.Request != nil {
					op.Request.examples("request", lacks)
				}
				if _, hook := d.Hooks[path]; !hook {
					d.answers(op, lacks)
				}
			}
		}
	}
	return gaps
}

func (d *spec) parameters(op operation, lacks func(string, ...any)) {
	for _, p := range op.Parameters {
		if name, shared := strings.CutPrefix(p.Ref, "#/components/parameters/"); shared {
			p = d.Parts.Parameters[name]
		}
		if p.Description == "" || p.Example == nil {
			lacks("parameter %s: a description and an example", p.Name)
		}
	}
}

func (d *spec) answers(op operation, lacks func(string, ...any)) {
	succeeds := false
	for status, answer := range op.Responses {
		if name, shared := strings.CutPrefix(answer.Ref, "#/components/responses/"); shared {
			answer = d.Parts.Responses[name]
		}
		if _, ok := answer.Headers["X-Request-Id"]; !ok {
			lacks("%s: X-Request-Id", status)
		}
		if status < "400" {
			succeeds = succeeds || status < "300" || status == "302"
			answer.examples(status, lacks)
		} else {
			answer.errors(status, lacks)
		}
	}
	if !succeeds {
		lacks("a success")
	}
}

// examples asks bodies of JSON and streams of events for an example.
func (b body) examples(place string, lacks func(string, ...any)) {
	for kind, m := range b.Content {
		if (kind == "application/json" || kind == "text/event-stream") && m.Example == nil && len(m.Examples) == 0 {
			lacks("%s: an example of %s", place, kind)
		}
	}
}

// errors asks for an example of every code that is named.
func (b body) errors(status string, lacks func(string, ...any)) {
	examples, shown := b.Content["application/json"].Examples, map[fault.Code]bool{}
	for name, example := range examples {
		told := example.Value
		shown[told.Code] = true
		if told.Message == "" || !strings.HasPrefix(name, string(told.Code)) {
			lacks("%s %s: a message, and the code %q", status, name, told.Code)
		}
		if gateway := status == "502" || status == "504"; !gateway && status != fmt.Sprint(told.Code.Status()) {
			lacks("%s: %s, whose status is %d", status, told.Code, told.Code.Status())
		}
	}
	for code := range strings.SplitSeq(b.Description, ", ") {
		if !shown[fault.Code(code)] {
			lacks("%s: an example of %s", status, code)
		}
	}
}

// TestTheGatewayIsQuotedAsItIs holds the examples of what the gateway answers in a function's stead to the template that makes it answer so.
func TestTheGatewayIsQuotedAsItIs(t *testing.T) {
	t.Parallel()
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d spec
	if err := json.Unmarshal(docs.OpenAPI, &d); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"BadGateway", "GatewayTimeout", "RateLimited"} {
		quoted := 0
		for _, example := range d.Parts.Responses[name].Content["application/json"].Examples {
			text, err := json.Marshal(example.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(template), string(text)) {
				quoted++
			}
		}
		if quoted == 0 {
			t.Errorf("%s: %+v: the gateway does not say so", name, d.Parts.Responses[name])
		}
	}
}
