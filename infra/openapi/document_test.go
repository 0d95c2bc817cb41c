package main

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/edgetest"
	"devplatform/shared/docs"
	"devplatform/shared/httpapi"
)

// TestDocumentIsCurrent compares the committed document with a generated one.
func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	var fresh bytes.Buffer
	if err := run(&fresh); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fresh.Bytes(), docs.OpenAPI) {
		t.Error("shared/docs/openapi.json is out of date: run make openapi")
	}
}

func TestDocumentDescribesTheEdge(t *testing.T) {
	t.Parallel()
	data := generate(t, edgetest.Register, nil)
	if again := generate(t, edgetest.Register, nil); !bytes.Equal(data, again) {
		t.Error("the same endpoints produced different documents")
	}
	s := readSpec(t, data)
	if s.OpenAPI != "3.1.0" {
		t.Errorf("version %s", s.OpenAPI)
	}
	errorSchema := s.Components.Schemas["Error"]
	if diff := cmp.Diff([]string{"code", "error"}, slices.Sorted(maps.Keys(errorSchema.Properties))); diff != "" {
		t.Error(diff)
	}
	if errorSchema.AdditionalProperties != false || len(errorSchema.Required) != 2 {
		t.Errorf("%+v", errorSchema)
	}
	signup := s.Paths["/api/signup"]["post"]
	got := map[string]string{}
	for status, r := range signup.Responses {
		r = s.response(r)
		got[status] = r.Description
		if ref := r.Content[jsonType].Schema["$ref"]; status[0] != '2' && ref != "#/components/schemas/Error" {
			t.Errorf("%s: %s", status, ref)
		}
	}
	want := map[string]string{
		"201": "Created", "400": "VALIDATION_FAILED", "403": "AUTH_CSRF_REJECTED", "409": "AUTH_USER_EXISTS",
		"413": "PAYLOAD_TOO_LARGE", "415": "UNSUPPORTED_MEDIA_TYPE", "429": "RATE_LIMITED", "500": "INTERNAL_ERROR",
		"502": "INTERNAL_ERROR", "503": "SERVICE_UNAVAILABLE", "504": "SERVICE_UNAVAILABLE",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	me := s.Paths["/api/me"]["get"]
	if diff := cmp.Diff([]map[string][]string{{"session": {}}}, me.Security); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]map[string][]string{{}}, signup.Security); diff != "" { // explicit, and not omitted
		t.Error(diff)
	}
	if s.response(me.Responses["401"]).Description != "AUTH_INVALID_TOKEN" {
		t.Errorf("%+v", me)
	}
	if s.response(me.Responses["400"]).Description != "VALIDATION_FAILED" { // a query that is not UTF-8
		t.Errorf("%+v", me)
	}
	scheme := map[string]string{
		"type": "apiKey", "in": "cookie", "name": "__Host-session", "description": "Set by login.",
	}
	if diff := cmp.Diff(scheme, s.Components.SecuritySchemes["session"]); diff != "" {
		t.Error(diff)
	}
}

// registerTagged registers a resource with an entity tag: reading it may return 304, and writing it 201 or 200.
func registerTagged(r *httpapi.Routes) {
	type input struct{ httpapi.ConditionInput }
	type output struct {
		Status int
		ETag   string `header:"ETag" doc:"The version"`
		Body   *struct {
			Text string `json:"text"`
		}
	}
	handler := func(context.Context, *input) (*output, error) { return &output{}, nil }
	httpapi.Public(r, httpapi.Operation{
		ID: "read", Method: http.MethodGet, Path: "/api/thing", Also: []int{http.StatusNotModified},
	}, handler)
	httpapi.Public(r, httpapi.Operation{
		ID: "write", Method: http.MethodPost, Path: "/api/thing", Also: []int{http.StatusCreated},
	}, handler)
}

func TestDocumentHasEverySuccess(t *testing.T) {
	t.Parallel()
	s := specOf(t, registerTagged, nil)
	read, write := s.Paths["/api/thing"]["get"].Responses, s.Paths["/api/thing"]["post"].Responses
	got := read["304"]
	if _, ok := got.Headers["ETag"]; !ok || got.Description != "Not Modified" || got.Content != nil {
		t.Errorf("304: %+v", got)
	}
	created := write["201"]
	_, tagged := created.Headers["ETag"]
	if _, ok := created.Content[jsonType]; !ok || !tagged || created.Description != "Created" {
		t.Errorf("201: %+v", created)
	}
	created.Description = write["200"].Description
	if diff := cmp.Diff(write["200"], created); diff != "" {
		t.Error(diff)
	}
}

func TestDocumentDescribesStreams(t *testing.T) {
	t.Parallel()
	s := specOf(t, func(r *httpapi.Routes) { edgetest.RegisterStream(r, nil) }, nil)
	responses := s.Paths["/api/stream"]["post"].Responses
	want := map[string]media{"text/event-stream": {Schema: map[string]any{"type": "string"}}}
	if diff := cmp.Diff(want, responses["200"].Content); diff != "" {
		t.Error(diff)
	}
	unavailable := responses["503"]
	if _, ok := unavailable.Content[jsonType]; !ok || unavailable.Description != "AI_UNAVAILABLE, SERVICE_UNAVAILABLE" {
		t.Errorf("%+v", unavailable)
	}
}

// TestParametersAreDescribedOnce checks that descriptions and examples are where tools look for them, and only there.
func TestParametersAreDescribedOnce(t *testing.T) {
	t.Parallel()
	s := specOf(t, registerThings, nil)
	if len(s.Tags) != 2 || s.Tags[0].Name != "Things" || s.Tags[0].Description != "All things." ||
		s.Tags[1].Name != "Others" {
		t.Errorf("%+v", s.Tags)
	}
	if !strings.Contains(s.Info.Description, "## Errors") {
		t.Errorf("%q", s.Info.Description)
	}
	op := s.Paths["/api/things/{id}"]["put"]
	if len(op.Parameters) != 1 {
		t.Fatalf("%+v", op.Parameters)
	}
	id := op.Parameters[0]
	if id.Description != "The thing's id" || id.Example != "t" {
		t.Errorf("%+v", id)
	}
	if id.Schema.Description != "" || id.Schema.Examples != nil {
		t.Errorf("%+v", id.Schema)
	}
	if etag := op.Responses["200"].Headers["ETag"]; etag.Description != "Its version" || etag.Example != `"1"` {
		t.Errorf("%+v", etag)
	}
}

func TestHiddenEndpointsAreNotInTheDocument(t *testing.T) {
	t.Parallel()
	s := specOf(t, func(r *httpapi.Routes) {
		registerTagged(r)
		r.Endpoints[0].Hidden = true
	}, nil)
	if _, ok := s.Paths["/api/thing"]["get"]; ok || len(s.Paths["/api/thing"]) != 1 {
		t.Errorf("%+v", s.Paths)
	}
}
