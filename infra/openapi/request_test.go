package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/httpapi"
)

type nestedInput struct {
	Body struct {
		Items   []nestedItem   `json:"items" maxItems:"3"`
		Context *nestedContext `json:"context,omitempty"`
	}
}

type nestedItem struct {
	Path string `json:"path"`
}

type nestedContext struct {
	File string `json:"file"`
}

type nestedOutput struct {
	Body struct {
		Done bool `json:"done"`
	}
}

// TestRequestsAreClosed checks that the schemas of requests forbid other fields at every depth, unless the operation
// ignores unknown fields, and that the schemas of responses allow them.
func TestRequestsAreClosed(t *testing.T) {
	t.Parallel()
	s := specOf(t, func(r *httpapi.Routes) {
		handle := func(context.Context, *nestedInput) (*nestedOutput, error) { return &nestedOutput{}, nil }
		httpapi.Public(r, httpapi.Operation{ID: "closed", Method: http.MethodPost, Path: "/api/closed"}, handle)
		httpapi.Public(r, httpapi.Operation{
			ID: "open", Method: http.MethodPost, Path: "/api/open", IgnoreUnknownFields: true,
		}, handle)
	}, nil)
	for name, want := range map[string]bool{
		"NestedRequest": false, "NestedItem": false, "NestedContext": false, "OpenRequest": true, "NestedResult": true,
	} {
		if got := s.Components.Schemas[name].AdditionalProperties; got != want {
			t.Errorf("%s: additionalProperties is %v, want %v", name, got, want)
		}
	}
	for _, property := range []string{"items", "context"} {
		nested, _ := s.Components.Schemas["OpenRequest"].Properties[property].(map[string]any)
		if items, ok := nested["items"].(map[string]any); ok {
			nested = items
		}
		if nested["additionalProperties"] != true {
			t.Errorf("%s of OpenRequest is %v, want additionalProperties true", property, nested)
		}
	}
	for path, schema := range map[string]string{"/api/closed": "NestedRequest", "/api/open": "OpenRequest"} {
		ref, _ := s.Paths[path]["post"].Request.Content[jsonType].Schema["$ref"].(string)
		if !strings.HasSuffix(ref, "/"+schema) {
			t.Errorf("%s: the schema of the request is %q, want %s", path, ref, schema)
		}
	}
}
