package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"devplatform/shared/docs"
	"devplatform/shared/fault"
)

// TestDocumentIsComplete checks that the document describes, for every operation, the purpose, the request,
// the response and each error.
func TestDocumentIsComplete(t *testing.T) {
	t.Parallel()
	s := readSpec(t, docs.OpenAPI)
	for _, gap := range s.gaps() {
		t.Error(gap)
	}
	if len(s.Paths) < 20 || len(s.Webhooks) < 10 {
		t.Errorf("got %d paths and %d webhooks, want at least 20 and 10", len(s.Paths), len(s.Webhooks))
	}
}

// TestIncompleteDocumentsAreReported checks that TestDocumentIsComplete would find an incomplete operation.
func TestIncompleteDocumentsAreReported(t *testing.T) {
	t.Parallel()
	const complete = `{"tags": [{"name": "Items", "description": "All."}], "paths": {"/items": {"post": {
		"operationId": "createItem", "summary": "Create", "description": "More.", "tags": ["Items"], "security": [{}],
		"parameters": [{"name": "q", "description": "Filter", "example": "x"}],
		"requestBody": {"content": {"application/json": {"example": {"a": 1}}}},
		"responses": {
			"201": {"description": "Created", "headers": {"X-Request-Id": {}},
				"content": {"application/json": {"example": {"a": 1}}}},
			"409": {"description": "CONFLICT", "headers": {"X-Request-Id": {}},
				"content": {"application/json": {"examples": {"CONFLICT": {"value": {"error": "Conflict.", "code": "CONFLICT"}}}}}}
		}}}}}`
	for remove, with := range map[string]string{ // each entry replaces a part of the document
		`"summary": "Create", `:            ``,
		`"description": "More.", `:         ``,
		`"description": "All."`:            `"description": ""`,
		`"tags": ["Items"]`:                `"tags": ["Others"]`,
		`createItem`:                       `create-item`,
		`, "security": [{}]`:               ``,
		`, "description": "Filter"`:        ``,
		`, "example": "x"`:                 ``,
		`{"example": {"a": 1}}}},`:         `{}}},`,
		`{"example": {"a": 1}}}}, "409"`:   `{}}}, "409"`,
		`"201"`:                            `"404"`,
		`"headers": {"X-Request-Id": {}},`: ``,
		`"409"`:                            `"400"`,
		`"error": "Conflict."`:             `"error": ""`,
		`"code": "CONFLICT"`:               `"code": "RATE_LIMITED"`,
		`"description": "CONFLICT"`:        `"description": "CONFLICT, AUTH_USER_EXISTS"`,
	} {
		incomplete := strings.Replace(strings.Join(strings.Fields(complete), " "), remove, with, 1)
		if len(readSpec(t, []byte(incomplete)).gaps()) == 0 {
			t.Errorf("with %q instead of %q, no gap was reported: %s", with, remove, incomplete)
		}
	}
	if gaps := readSpec(t, []byte(complete)).gaps(); gaps != nil {
		t.Errorf("got the gaps %q in a complete document", gaps)
	}
}

var camelCase = regexp.MustCompile(`^[a-z]+([A-Z]+[a-z]*)*$`)

// report records that a part of an operation is missing.
type report func(format string, args ...any)

// gaps returns a description of each missing part of the document.
func (s spec) gaps() []string {
	var gaps []string
	hasDescription, seen := map[string]bool{}, map[string]bool{}
	for _, tag := range s.Tags {
		hasDescription[tag.Name] = tag.Description != ""
	}
	for _, paths := range []map[string]map[string]operation{s.Paths, s.Webhooks} {
		for path, methods := range paths {
			for method, op := range methods {
				lacks := func(format string, args ...any) {
					gaps = append(gaps, method+" "+path+" lacks "+fmt.Sprintf(format, args...))
				}
				if !camelCase.MatchString(op.ID) || seen[op.ID] {
					lacks("a unique operationId in camel case: %q", op.ID)
				}
				seen[op.ID] = true
				if op.Summary == "" || op.Description == "" || op.Security == nil {
					lacks("a summary, a description or security: %q, %q, %v", op.Summary, op.Description, op.Security)
				}
				if len(op.Tags) != 1 || !hasDescription[op.Tags[0]] {
					lacks("one tag that has a description: %q", op.Tags)
				}
				s.checkParameters(op, lacks)
				if op.Request != nil {
					op.Request.checkExamples("the request", lacks)
				}
				if _, webhook := s.Webhooks[path]; !webhook {
					s.checkResponses(op, lacks)
				}
			}
		}
	}
	return gaps
}

// checkParameters checks that every parameter has a description and an example.
func (s spec) checkParameters(op operation, lacks report) {
	for _, p := range op.Parameters {
		if p = s.parameter(p); p.Description == "" || p.Example == nil {
			lacks("a description or an example of the parameter %s", p.Name)
		}
	}
}

// checkResponses checks that an operation has a success response, and that every response has examples and
// X-Request-Id.
func (s spec) checkResponses(op operation, lacks report) {
	succeeds := false
	for status, response := range op.Responses {
		response = s.response(response)
		if _, ok := response.Headers["X-Request-Id"]; !ok {
			lacks("the header X-Request-Id of %s", status)
		}
		if status < "400" {
			succeeds = succeeds || status < "300" || status == "302"
			response.checkExamples(status, lacks)
		} else {
			response.checkErrors(status, lacks)
		}
	}
	if !succeeds {
		lacks("a success response")
	}
}

// checkExamples checks that JSON bodies and event streams have an example.
func (b body) checkExamples(part string, lacks report) {
	for kind, m := range b.Content {
		if (kind == jsonType || kind == eventStreamType) && m.Example == nil && len(m.Examples) == 0 {
			lacks("an example of %s in %s", kind, part)
		}
	}
}

// checkErrors checks that an error response has an example of each code in its description.
func (b body) checkErrors(status string, lacks report) {
	hasExample := map[fault.Code]bool{}
	for name, example := range b.Content[jsonType].Examples {
		err := example.fault()
		hasExample[err.Code] = true
		if err.Message == "" || !strings.HasPrefix(name, string(err.Code)) {
			lacks("a message in the example %s of %s, or a name of the example that begins with %q", name, status, err.Code)
		}
		onlyGateway := status == "502" || status == "504"
		if !onlyGateway && status != strconv.Itoa(err.Code.Status()) {
			lacks("an error with the status %s: %s has %d", status, err.Code, err.Code.Status())
		}
	}
	for code := range strings.SplitSeq(b.Description, ", ") {
		if !hasExample[fault.Code(code)] {
			lacks("an example of %s in %s", code, status)
		}
	}
}
