package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/api"
)

type document struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]map[string]struct {
		OperationID string                `json:"operationId"`
		Tags        []string              `json:"tags"`
		Security    []map[string][]string `json:"security"`
		Responses   map[string]struct {
			Description string `json:"description"`
			Content     map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				} `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]struct {
			Properties           map[string]any `json:"properties"`
			Required             []string       `json:"required"`
			AdditionalProperties any            `json:"additionalProperties"`
		} `json:"schemas"`
		SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
	} `json:"components"`
}

func TestTheDocumentSaysWhatTheEdgeDoes(t *testing.T) {
	t.Parallel()
	cfg := api.Config{Name: "test", Version: "1"}
	data, err := api.OpenAPI(cfg, register)
	if err != nil {
		t.Fatal(err)
	}
	again, err := api.OpenAPI(cfg, register)
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
	if me.Responses["401"].Description != "AUTH_INVALID_TOKEN" {
		t.Errorf("%+v", me)
	}
	if me.Responses["400"].Description != "VALIDATION_FAILED" { // a query that is no UTF-8
		t.Errorf("%+v", me)
	}
	scheme := map[string]string{"type": "apiKey", "in": "cookie", "name": "__Host-session", "description": "Set by a login."}
	if diff := cmp.Diff(scheme, doc.Components.SecuritySchemes["session"]); diff != "" {
		t.Error(diff)
	}
}
