package httpapi_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type textInput struct {
	Body struct {
		Path       string `json:"path,omitempty"`
		Content    string `json:"content,omitempty" nul:"allow"`
		Operations []struct {
			Path    string `json:"path,omitempty"`
			Content string `json:"content,omitempty" nul:"allow"`
		} `json:"operations,omitempty"`
	}
}

// textRouter returns the number of NULs in the texts that it receives.
func textRouter() http.Handler {
	return httpapi.NewRouter(httpapi.Config{Logger: edgetest.DiscardLog, Clock: edgetest.Clock}, func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "text", Method: http.MethodPost, Path: "/api/text"},
			func(_ context.Context, in *textInput) (*edgetest.EchoOutput, error) {
				out := &edgetest.EchoOutput{}
				out.Body.Size = strings.Count(in.Body.Content, "\x00")
				for _, op := range in.Body.Operations {
					out.Body.Size += strings.Count(op.Content, "\x00")
				}
				return out, nil
			})
	})
}

func TestNULIsAllowedOnlyInMarkedFields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body string
		want string // the error message, or the number of NULs that the handler received
	}{
		"in text":                     {`{"content":"a\u0000b\u0000"}`, "2"},
		"in text, its name escaped":   {`{"\u0063ontent":"\u0000"}`, "1"},
		"in every element's text":     {`{"operations":[{"path":"/a"},{"content":"\u0000"},{"content":"\u0000\u0000"}],"content":"\u0000"}`, "4"},
		"an escaped backslash":        {`{"content":"\\u0000"}`, "0"},
		"beside text":                 {`{"content":"\u0000","path":"/\u0000"}`, "path: must not contain NUL"},
		"beside an element's text":    {`{"operations":[{"content":"\u0000","path":"\u0000"}]}`, "operations[0].path: must not contain NUL"},
		"in the name":                 {`{"content\u0000":"x"}`, "body: must not contain NUL"},
		"in a name and text":          {`{"content":"\u0000","\u0000":1}`, "body: must not contain NUL"},
		"in a name inside":            {`{"operations":[{"content\u0000":"x"}]}`, "body: must not contain NUL"},
		"in a list in its place":      {`{"content":["\u0000"]}`, "content[0]: must not contain NUL"},
		"in an object in its place":   {`{"content":{"content":"\u0000"}}`, "content.content: must not contain NUL"},
		"in a name in its place":      {`{"content":{"\u0000":1}}`, "body: must not contain NUL"},
		"in another case":             {`{"Content":"\u0000"}`, "Content: must not contain NUL"},
		"further down":                {`{"x":{"content":"\u0000"}}`, "x.content: must not contain NUL"},
		"a name with dots":            {`{"operations.0.content":"\u0000"}`, "operations.0.content: must not contain NUL"},
		"an object in place of list":  {`{"operations":{"0":{"content":"\u0000"}}}`, "operations.0.content: must not contain NUL"},
		"an object in place, starred": {`{"operations":{"*":{"content":"\u0000"}}}`, "operations.*.content: must not contain NUL"},
		"a list in a list":            {`{"operations":[[{"content":"\u0000"}]]}`, "operations[0][0].content: must not contain NUL"},
		"a list in place of all":      {`[{"content":"\u0000"}]`, "[0].content: must not contain NUL"},
		"text itself":                 {`"\u0000"`, "body: must not contain NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := edgetest.Request{Method: http.MethodPost, Target: "/api/text", Body: tc.body, Header: asJSON}
			a := r.Send(t, textRouter())
			if _, err := strconv.Atoi(tc.want); err == nil {
				if want := `{"email":"","size":` + tc.want + `}`; a.Status != http.StatusOK || a.Body != want {
					t.Errorf("got %d %s, want %s", a.Status, a.Body, want)
				}
				return
			}
			if got := edgetest.WantError(t, a, http.StatusBadRequest, fault.CodeValidationFailed); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
