package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// item has examples of all required fields.
type item struct {
	Name  string   `json:"name" doc:"The name of the item" example:"a"`
	Size  int      `json:"size" doc:"The size of the item" example:"7"`
	Parts []part   `json:"parts" nullable:"false" doc:"The parts of the item"`
	Notes []string `json:"notes,omitempty" doc:"Notes about the item"`
}

type part struct {
	ID string `json:"id" doc:"The ID of the part" example:"p"`
}

// registerItems registers two operations, with the IDs "change" and "noExample". The response of noExample has a
// required field without an example.
func registerItems(r *httpapi.Routes) {
	type input struct {
		ID   string `path:"id" doc:"The ID of the item" example:"t"`
		Body item
	}
	type output struct {
		ETag string `header:"ETag" doc:"The version" example:"\"1\""`
		Body item
	}
	type noExample struct {
		Body struct {
			Name string `json:"name"`
		}
	}
	conflicts := []*fault.Error{
		fault.New(fault.CodeConflict, "One."),
		fault.New(fault.CodeConflict, "Two."),
		fault.New(fault.CodeConflict, "One."),
	}
	httpapi.Public(r, httpapi.Operation{
		ID: "change", Method: http.MethodPut, Path: "/api/items/{id}", OtherStatuses: []int{201, 304}, Errors: conflicts,
		Tag: httpapi.Tag{Name: "Items", Description: "All items."},
	}, func(context.Context, *input) (*output, error) { return &output{}, nil })
	httpapi.Public(r, httpapi.Operation{
		ID: "noExample", Method: http.MethodGet, Path: "/api/no-example",
		Tag: httpapi.Tag{Name: "Others", Description: "All other operations."},
	}, func(context.Context, *struct{}) (*noExample, error) { return &noExample{}, nil })
}

func TestComposedAndExplicitExamples(t *testing.T) {
	t.Parallel()
	composed := map[string]any{"name": "a", "size": 7.0, "parts": []any{map[string]any{"id": "p"}}}
	explicit := map[string]any{"name": "b", "size": 0.0, "parts": []any{}}
	const explicitJSON = `{"name": "b", "size": 0, "parts": []}`
	for name, tc := range map[string]struct {
		examples          map[string]examples
		request, response any
	}{
		"composed examples": {request: composed, response: composed},
		"explicit response": {
			examples: map[string]examples{"change": {Response: []byte(explicitJSON)}},
			request:  composed,
			response: explicit,
		},
		"explicit request": {
			examples: map[string]examples{"change": {Request: []byte(explicitJSON)}},
			request:  explicit,
			response: composed,
		},
	} {
		s := specOf(t, registerItems, tc.examples)
		op := s.Paths["/api/items/{id}"]["put"]
		for part, got := range map[string]body{
			"request": *op.Request, "200": op.Responses["200"], "201": op.Responses["201"],
		} {
			want := tc.response
			if part == "request" {
				want = tc.request
			}
			if diff := cmp.Diff(want, got.Content[jsonType].Example); diff != "" {
				t.Errorf("%s: wrong example of %s (-want +got):\n%s", name, part, diff)
			}
		}
		if op.Responses["304"].Content != nil || op.Responses["304"].Headers["ETag"].Example != `"1"` {
			t.Errorf("304: got %+v, want the ETag and no content", op.Responses["304"])
		}
		if media := s.Paths["/api/no-example"]["get"].Responses["200"].Content[jsonType]; media.Example != nil {
			t.Errorf("got the example %v although a required field has no example", media.Example)
		}
	}
}

func TestSeveralExamplesOfOneBody(t *testing.T) {
	t.Parallel()
	byID, err := readExamples([]byte(`{"change": {"responses": {"small": {"name": "s"}, "large": {"name": "l"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	op := specOf(t, registerItems, byID).Paths["/api/items/{id}"]["put"]
	got := map[string]any{}
	for name, example := range op.Responses["200"].Content[jsonType].Examples {
		got[name], _ = example.Value.(map[string]any)["name"]
	}
	if diff := cmp.Diff(map[string]any{"small": "s", "large": "l"}, got); diff != "" {
		t.Errorf("wrong examples of the response (-want +got):\n%s", diff)
	}
	messages := map[string]string{}
	for name, example := range op.Responses["409"].Content[jsonType].Examples {
		messages[name] = example.fault().Message
	}
	if diff := cmp.Diff(map[string]string{"CONFLICT": "One.", "CONFLICT_2": "Two."}, messages); diff != "" {
		t.Errorf("wrong examples of the errors (-want +got):\n%s", diff)
	}
}

func TestInvalidExamplesAreErrors(t *testing.T) {
	t.Parallel()
	for _, invalid := range []string{
		``, `[]`, `{"change": {"response": }}`, `{"change": {"answer": {}}}`, `{"change": {}, "change": {}}`,
	} {
		if _, err := readExamples([]byte(invalid)); err == nil || !strings.Contains(err.Error(), "examples.json") {
			t.Errorf("%s: got the error %v, want one about examples.json", invalid, err)
		}
	}
	var routes httpapi.Routes
	registerItems(&routes)
	_, err := newDocument(&routes, map[string]examples{"change": {}, "remove": {}})
	if err == nil || !strings.Contains(err.Error(), "remove") {
		t.Errorf("example of an unknown operation: got the error %v, want one about remove", err)
	}
}
