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
		} `json:"operations,omitempty" maxItems:"9"`
	}
}

// textRouter returns a router with one endpoint, which responds with the number of NULs in the received contents.
func textRouter() http.Handler {
	return newRouter(func(r *httpapi.Routes) {
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
		"NULs in text that may contain them": {body: `{"content":"a\u0000b\u0000"}`, want: "2"},
		"escaped field name":                 {body: `{"\u0063ontent":"\u0000"}`, want: "1"},
		"NULs in list elements": {
			body: `{"operations":[{"path":"/a"},{"content":"\u0000"},{"content":"\u0000\u0000"}],"content":"\u0000"}`,
			want: "4",
		},
		"escaped backslash before u0000": {body: `{"content":"\\u0000"}`, want: "0"},
		"NUL also in another field":      {body: `{"content":"\u0000","path":"/\u0000"}`, want: "path: must not contain NUL"},
		"NUL also in another field of an element": {
			body: `{"operations":[{"content":"\u0000","path":"\u0000"}]}`,
			want: "operations[0].path: must not contain NUL",
		},
		"list instead of the text": {body: `{"content":["\u0000"]}`, want: "content: must be a string"},
		"field name in another case": {
			body: `{"Content":"\u0000"}`,
			want: "Content: is not a known field (did you mean content?)",
		},
		"text instead of the body": {body: `"\u0000"`, want: "body: must be an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := edgetest.Request{Method: http.MethodPost, Target: "/api/text", Body: tc.body, Header: asJSON}
			response := request.Send(t, textRouter())
			if _, err := strconv.Atoi(tc.want); err == nil {
				if want := `{"email":"","size":` + tc.want + `}`; response.Status != http.StatusOK || response.Body != want {
					t.Errorf("got %d %s, want %s", response.Status, response.Body, want)
				}
				return
			}
			if got := edgetest.WantError(t, response, http.StatusBadRequest, fault.CodeValidationFailed); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
