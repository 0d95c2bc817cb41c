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

// thing has examples of all its required fields.
type thing struct {
	Name  string   `json:"name" doc:"What it is called" example:"a"`
	Size  int      `json:"size" doc:"How large it is" example:"7"`
	Parts []part   `json:"parts" nullable:"false" doc:"What it is made of"`
	Notes []string `json:"notes,omitempty" doc:"What is said about it"`
}

type part struct {
	ID string `json:"id" doc:"Its id" example:"p"`
}

// registerThings registers the operation change, and the operation bare, which has a required field without an
// example.
func registerThings(r *httpapi.Routes) {
	type input struct {
		ID   string `path:"id" doc:"The thing's id" example:"t"`
		Body thing
	}
	type output struct {
		ETag string `header:"ETag" doc:"Its version" example:"\"1\""`
		Body thing
	}
	type bare struct {
		Body struct {
			Name string `json:"name"`
		}
	}
	conflicts := []*fault.Error{
		fault.New(fault.CodeConflict, "One."), fault.New(fault.CodeConflict, "Two."), fault.New(fault.CodeConflict, "One."),
	}
	httpapi.Public(r, httpapi.Operation{
		ID: "change", Method: http.MethodPut, Path: "/api/things/{id}", Also: []int{201, 304}, Errors: conflicts,
		Tag: httpapi.Tag{Name: "Things", Description: "All things."},
	}, func(context.Context, *input) (*output, error) { return &output{}, nil })
	httpapi.Public(r, httpapi.Operation{
		ID: "bare", Method: http.MethodGet, Path: "/api/bare", Tag: httpapi.Tag{Name: "Others", Description: "All others."},
	}, func(context.Context, *struct{}) (*bare, error) { return &bare{}, nil })
}

func TestExamplesAreComposedOrGiven(t *testing.T) {
	t.Parallel()
	composed := map[string]any{"name": "a", "size": 7.0, "parts": []any{map[string]any{"id": "p"}}}
	given := map[string]any{"name": "b", "size": 0.0, "parts": []any{}}
	const givenJSON = `{"name": "b", "size": 0, "parts": []}`
	for name, tc := range map[string]struct {
		examples          map[string]examples
		request, response any
	}{
		"composed":       {nil, composed, composed},
		"given response": {map[string]examples{"change": {Response: []byte(givenJSON)}}, composed, given},
		"given request":  {map[string]examples{"change": {Request: []byte(givenJSON)}}, given, composed},
	} {
		s := specOf(t, registerThings, tc.examples)
		op := s.Paths["/api/things/{id}"]["put"]
		for place, shown := range map[string]body{
			"request": *op.Request, "200": op.Responses["200"], "201": op.Responses["201"],
		} {
			want := tc.response
			if place == "request" {
				want = tc.request
			}
			if diff := cmp.Diff(want, shown.Content[jsonType].Example); diff != "" {
				t.Errorf("%s, %s: %s", name, place, diff)
			}
		}
		if op.Responses["304"].Content != nil || op.Responses["304"].Headers["ETag"].Example != `"1"` {
			t.Errorf("%+v", op.Responses["304"])
		}
		if bare := s.Paths["/api/bare"]["get"].Responses["200"].Content[jsonType]; bare.Example != nil {
			t.Errorf("composed without an example of a required field: %v", bare.Example)
		}
	}
}

func TestSeveralExamplesOfOneBody(t *testing.T) {
	t.Parallel()
	given, err := readExamples([]byte(`{"change": {"responses": {"small": {"name": "s"}, "large": {"name": "l"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	op := specOf(t, registerThings, given).Paths["/api/things/{id}"]["put"]
	got := map[string]any{}
	for name, example := range op.Responses["200"].Content[jsonType].Examples {
		got[name], _ = example.Value.(map[string]any)["name"]
	}
	if diff := cmp.Diff(map[string]any{"small": "s", "large": "l"}, got); diff != "" {
		t.Error(diff)
	}
	messages := map[string]string{}
	for name, example := range op.Responses["409"].Content[jsonType].Examples {
		messages[name] = example.fault().Message
	}
	if diff := cmp.Diff(map[string]string{"CONFLICT": "One.", "CONFLICT_2": "Two."}, messages); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidExamplesAreErrors(t *testing.T) {
	t.Parallel()
	for _, invalid := range []string{
		``, `[]`, `{"change": {"response": }}`, `{"change": {"answer": {}}}`, `{"change": {}, "change": {}}`,
	} {
		if _, err := readExamples([]byte(invalid)); err == nil || !strings.Contains(err.Error(), "examples.json") {
			t.Errorf("%s: %v", invalid, err)
		}
	}
	var routes httpapi.Routes
	registerThings(&routes)
	_, err := newDocument(&routes, map[string]examples{"change": {}, "remove": {}})
	if err == nil || !strings.Contains(err.Error(), "remove") {
		t.Errorf("an example of an operation that does not exist: %v", err)
	}
}
