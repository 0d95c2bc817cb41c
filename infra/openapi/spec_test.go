package main

import (
	"encoding/json"
	"strings"
	"testing"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// spec is the part of an OpenAPI document that the tests read.
type spec struct {
	OpenAPI string `json:"openapi"`
	Info    struct {
		Description string `json:"description"`
	} `json:"info"`
	Tags       []struct{ Name, Description string } `json:"tags"`
	Paths      map[string]map[string]operation      `json:"paths"`
	Webhooks   map[string]map[string]operation      `json:"webhooks"`
	Components struct {
		Responses  map[string]body      `json:"responses"`
		Parameters map[string]parameter `json:"parameters"`
		Schemas    map[string]struct {
			Properties           map[string]any `json:"properties"`
			Required             []string       `json:"required"`
			AdditionalProperties any            `json:"additionalProperties"`
		} `json:"schemas"`
		SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
	} `json:"components"`
}

type operation struct {
	ID          string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description"`
	Tags        []string              `json:"tags"`
	Security    []map[string][]string `json:"security"`
	Parameters  []parameter           `json:"parameters"`
	Request     *body                 `json:"requestBody"`
	Responses   map[string]body       `json:"responses"`
}

// parameter is a parameter, a header, or a reference to one.
type parameter struct {
	Ref         string `json:"$ref"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Example     any    `json:"example"`
	Schema      struct {
		Description string `json:"description"`
		Examples    []any  `json:"examples"`
	} `json:"schema"`
}

// body is a request body, a response, or a reference to a response.
type body struct {
	Ref         string               `json:"$ref"`
	Description string               `json:"description"`
	Headers     map[string]parameter `json:"headers"`
	Content     map[string]media     `json:"content"`
}

type media struct {
	Schema   map[string]any          `json:"schema"`
	Example  any                     `json:"example"`
	Examples map[string]namedExample `json:"examples"`
}

type namedExample struct {
	Value any `json:"value"`
}

// fault returns the error in an example of an error response.
func (e namedExample) fault() fault.Error {
	fields, _ := e.Value.(map[string]any)
	message, _ := fields["error"].(string)
	code, _ := fields["code"].(string)
	return fault.Error{Message: message, Code: fault.Code(code)}
}

// response returns the response that a reference refers to. It returns any other response unchanged.
func (s spec) response(b body) body {
	if name, shared := strings.CutPrefix(b.Ref, "#/components/responses/"); shared {
		return s.Components.Responses[name]
	}
	return b
}

// parameter returns the parameter that a reference refers to. It returns any other parameter unchanged.
func (s spec) parameter(p parameter) parameter {
	if name, shared := strings.CutPrefix(p.Ref, "#/components/parameters/"); shared {
		return s.Components.Parameters[name]
	}
	return p
}

// readSpec parses a document.
func readSpec(t *testing.T, data []byte) spec {
	t.Helper()
	var s spec
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// generate returns the document of the endpoints that the function register adds.
func generate(t *testing.T, register func(*httpapi.Routes), byID map[string]examples) []byte {
	t.Helper()
	var routes httpapi.Routes
	register(&routes)
	d, err := newDocument(&routes, byID)
	if err != nil {
		t.Fatal(err)
	}
	d.complete()
	data, err := d.encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// specOf returns the parsed document of the endpoints that the function register adds.
func specOf(t *testing.T, register func(*httpapi.Routes), byID map[string]examples) spec {
	t.Helper()
	return readSpec(t, generate(t, register, byID))
}
