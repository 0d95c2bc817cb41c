package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// TestErrorsAreShownAsTheyAreAnswered compares the document's examples of the edge's own errors with what the edge answers.
func TestErrorsAreShownAsTheyAreAnswered(t *testing.T) {
	t.Parallel()
	router, _ := newRouter(edgeOf())
	doc := readDocument(t, register)
	asJSON := map[string]string{"Content-Type": "application/json"}
	for _, tc := range []struct {
		request
		status string
		code   fault.Code
	}{
		{request{"POST", "/api/signup", "{", asJSON}, "400", fault.CodeValidationFailed},
		{request{"GET", "/api/list?limit=101", "", nil}, "400", fault.CodeValidationFailed},
		{request{"GET", "/api/me?a=%ff", "", nil}, "400", fault.CodeValidationFailed},
		{request{"GET", "/api/me", "", nil}, "401", fault.CodeInvalidToken},
		{request{"POST", "/api/signup", "{}", map[string]string{"Sec-Fetch-Site": "cross-site"}}, "403", fault.CodeCSRFRejected},
		{request{"POST", "/api/signup", strings.Repeat(" ", 4<<20+1), asJSON}, "413", fault.CodePayloadTooLarge},
		{request{"POST", "/api/signup", "{}", map[string]string{"Content-Type": "text/plain"}}, "415", fault.CodeUnsupportedMediaType},
		{request{"GET", "/api/panic", "", nil}, "500", fault.CodeInternal},
		{request{"GET", "/api/fail/storage", "", nil}, "503", fault.CodeServiceUnavailable},
	} {
		path, _, _ := strings.Cut(tc.target, "?")
		answer := tc.send(t, router)
		shown := doc.answerOf(doc.Paths[path][strings.ToLower(tc.method)].Responses[tc.status])
		example, _ := shown.Content["application/json"].Examples[string(tc.code)].Value.(map[string]any)
		said := wantError(t, answer, tc.code.Status(), tc.code)
		if diff := cmp.Diff(map[string]any{"error": said, "code": string(tc.code)}, example); diff != "" {
			t.Errorf("%s %s: %s", tc.method, tc.target, diff)
		}
		for _, name := range []string{"X-Request-Id", "Retry-After"} {
			_, described := shown.Headers[name]
			if described != (answer.header.Get(name) != "") {
				t.Errorf("%s %s: %s is described: %t", tc.method, tc.target, name, described)
			}
		}
	}
}

// thing has examples of all its fields but one, which is not required.
type thing struct {
	Name  string   `json:"name" doc:"What it is called" example:"a"`
	Size  int      `json:"size" doc:"How large it is" example:"7"`
	Parts []part   `json:"parts" nullable:"false" doc:"What it is made of"`
	Notes []string `json:"notes,omitempty" doc:"What is said about it"`
}

type part struct {
	ID string `json:"id" doc:"Its id" example:"p"`
}

// registerThings adds an operation with the examples given, and one that lacks one for a field that is required.
func registerThings(examples func() httpapi.Examples) func(huma.API) {
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
	return func(h huma.API) {
		tags := []httpapi.Tag{{Name: "Things", Description: "All things."}, {Name: "Others", Description: "All others."}}
		twice := []*fault.Error{
			fault.New(fault.CodeConflict, "One."), fault.New(fault.CodeConflict, "Two."), fault.New(fault.CodeConflict, "One."),
		}
		httpapi.Register(h, httpapi.Operation{
			ID: "change", Method: http.MethodPut, Path: "/api/things/{id}", Tag: tags[0], Also: []int{201, 304}, Errors: twice, Examples: examples,
		}, func(context.Context, *input) (*output, error) { return &output{}, nil })
		httpapi.Register(h, httpapi.Operation{ID: "bare", Method: http.MethodGet, Path: "/api/bare", Tag: tags[1]},
			func(context.Context, *struct{}) (*bare, error) { return &bare{}, nil })
	}
}

func TestExamplesAreMadeOfFieldsOrGiven(t *testing.T) {
	t.Parallel()
	made := map[string]any{"name": "a", "size": 7.0, "parts": []any{map[string]any{"id": "p"}}}
	given := map[string]any{"name": "b", "size": 0.0, "parts": []any{}}
	for name, tc := range map[string]struct {
		examples          func() httpapi.Examples
		request, response any
	}{
		"made":  {nil, made, made},
		"given": {func() httpapi.Examples { return httpapi.Examples{Response: thing{Name: "b", Parts: []part{}}} }, made, given},
	} {
		doc := readDocument(t, registerThings(tc.examples))
		op := doc.Paths["/api/things/{id}"]["put"]
		for place, shown := range map[string]documented{"request": op.RequestBody, "200": op.Responses["200"], "201": op.Responses["201"]} {
			want := tc.response
			if place == "request" {
				want = tc.request
			}
			if diff := cmp.Diff(want, shown.Content["application/json"].Example); diff != "" {
				t.Errorf("%s, %s: %s", name, place, diff)
			}
		}
		if op.Responses["304"].Content != nil || op.Responses["304"].Headers["ETag"].Example != `"1"` {
			t.Errorf("%+v", op.Responses["304"])
		}
		if bare := doc.Paths["/api/bare"]["get"].Responses["200"].Content["application/json"]; bare.Example != nil {
			t.Errorf("made up: %v", bare.Example)
		}
	}
}

func TestSeveralExamplesOfOneBody(t *testing.T) {
	t.Parallel()
	doc := readDocument(t, registerThings(func() httpapi.Examples {
		return httpapi.Examples{Response: httpapi.Named{"small": thing{Name: "s"}, "large": thing{Name: "l"}}}
	}))
	op := doc.Paths["/api/things/{id}"]["put"]
	got := map[string]any{}
	for name, example := range op.Responses["200"].Content["application/json"].Examples {
		got[name], _ = example.Value.(map[string]any)["name"]
	}
	if diff := cmp.Diff(map[string]any{"small": "s", "large": "l"}, got); diff != "" {
		t.Error(diff)
	}
	messages := map[string]any{}
	for name, example := range op.Responses["409"].Content["application/json"].Examples {
		messages[name], _ = example.Value.(map[string]any)["error"]
	}
	if diff := cmp.Diff(map[string]any{"CONFLICT": "One.", "CONFLICT_2": "Two."}, messages); diff != "" {
		t.Error(diff)
	}
}

// TestParametersAreDescribedOnce holds that description and example stand where tools look for them, and nowhere else.
func TestParametersAreDescribedOnce(t *testing.T) {
	t.Parallel()
	doc := readDocument(t, registerThings(nil))
	if len(doc.Tags) != 2 || doc.Tags[0].Name != "Things" || doc.Tags[0].Description != "All things." || doc.Tags[1].Name != "Others" {
		t.Errorf("%+v", doc.Tags)
	}
	if !strings.Contains(doc.Info.Description, "## Errors") {
		t.Errorf("%q", doc.Info.Description)
	}
	op := doc.Paths["/api/things/{id}"]["put"]
	if len(op.Parameters) != 1 {
		t.Fatalf("%+v", op.Parameters)
	}
	id := op.Parameters[0]
	if id.Description != "The thing's id" || id.Example != "t" || id.Schema.Description != "" || id.Schema.Examples != nil {
		t.Errorf("%+v", id)
	}
	if etag := op.Responses["200"].Headers["ETag"]; etag.Description != "Its version" || etag.Example != `"1"` {
		t.Errorf("%+v", etag)
	}
}

func TestAnExampleThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	_, err := httpapi.OpenAPI(httpapi.Config{Name: "test", Version: "1"}, registerThings(func() httpapi.Examples {
		return httpapi.Examples{Response: func() {}}
	}))
	if err == nil || !strings.Contains(err.Error(), "change: example") {
		t.Error(err)
	}
}
