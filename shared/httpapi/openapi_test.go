package httpapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/httpapi"
)

type document struct {
	OpenAPI string `json:"openapi"`
	Info    struct {
		Description string `json:"description"`
	} `json:"info"`
	Tags []struct {
		Name, Description string
	} `json:"tags"`
	Paths map[string]map[string]struct {
		OperationID string                `json:"operationId"`
		Tags        []string              `json:"tags"`
		Security    []map[string][]string `json:"security"`
		Parameters  []parameter           `json:"parameters"`
		RequestBody documented            `json:"requestBody"`
		Responses   map[string]documented `json:"responses"`
	} `json:"paths"`
	Components struct {
		Responses  map[string]documented `json:"responses"`
		Parameters map[string]parameter  `json:"parameters"`
		Schemas    map[string]struct {
			Properties           map[string]any `json:"properties"`
			Required             []string       `json:"required"`
			AdditionalProperties any            `json:"additionalProperties"`
		} `json:"schemas"`
		SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
	} `json:"components"`
}

// parameter is one, or a reference to one.
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

// documented is a body with what goes with it, or a reference to one.
type documented struct {
	Ref         string `json:"$ref"`
	Description string `json:"description"`
	Headers     map[string]struct {
		Ref         string `json:"$ref"`
		Description string `json:"description"`
		Example     any    `json:"example"`
	} `json:"headers"`
	Content map[string]struct {
		Schema struct {
			Ref string `json:"$ref"`
		} `json:"schema"`
		Example  any `json:"example"`
		Examples map[string]struct {
			Value any `json:"value"`
		} `json:"examples"`
	} `json:"content"`
}

// answerOf is the answer itself, whether it is shared or not.
func (d document) answerOf(a documented) documented {
	if name, shared := strings.CutPrefix(a.Ref, "#/components/responses/"); shared {
		return d.Components.Responses[name]
	}
	return a
}

// readDocument is the document of what registers.
func readDocument(t *testing.T, register ...func(huma.API)) document {
	t.Helper()
	data, err := httpapi.OpenAPI(httpapi.Config{Name: "test", Version: "1"}, register...)
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheDocumentSaysWhatTheEdgeDoes(t *testing.T) {
	t.Parallel()
	cfg := httpapi.Config{Name: "test", Version: "1"}
	data, err := httpapi.OpenAPI(cfg, register)
	if err != nil {
		t.Fatal(err)
	}
	again, err := httpapi.OpenAPI(cfg, register)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("not the same twice: %v", err)
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("version %s", doc.OpenAPI)
	}
	errorSchema := doc.Components.Schemas["Error"]
	if diff := cmp.Diff([]string{"code", "error"}, slices.Sorted(maps.Keys(errorSchema.Properties))); diff != "" {
		t.Error(diff)
	}
	if errorSchema.AdditionalProperties != false || len(errorSchema.Required) != 2 {
		t.Errorf("%+v", errorSchema)
	}
	signup := doc.Paths["/api/signup"]["post"]
	got := map[string]string{}
	for status, r := range signup.Responses {
		r = doc.answerOf(r)
		got[status] = r.Description
		if ref := r.Content["application/json"].Schema.Ref; status[0] != '2' && ref != "#/components/schemas/Error" {
			t.Errorf("%s: %s", status, ref)
		}
	}
	want := map[string]string{
		"201": "Created", "400": "VALIDATION_FAILED", "403": "AUTH_CSRF_REJECTED", "409": "AUTH_USER_EXISTS", "413": "PAYLOAD_TOO_LARGE",
		"415": "UNSUPPORTED_MEDIA_TYPE", "429": "RATE_LIMITED", "500": "INTERNAL_ERROR", "502": "INTERNAL_ERROR",
		"503": "SERVICE_UNAVAILABLE", "504": "SERVICE_UNAVAILABLE",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	me := doc.Paths["/api/me"]["get"]
	if diff := cmp.Diff([]map[string][]string{{"session": {}}}, me.Security); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]map[string][]string{{}}, signup.Security); diff != "" { // said, and not left out
		t.Error(diff)
	}
	if doc.answerOf(me.Responses["401"]).Description != "AUTH_INVALID_TOKEN" {
		t.Errorf("%+v", me)
	}
	if doc.answerOf(me.Responses["400"]).Description != "VALIDATION_FAILED" { // a query that is no UTF-8
		t.Errorf("%+v", me)
	}
	scheme := map[string]string{"type": "apiKey", "in": "cookie", "name": "__Host-session", "description": "Set by a login."}
	if diff := cmp.Diff(scheme, doc.Components.SecuritySchemes["session"]); diff != "" {
		t.Error(diff)
	}
}
