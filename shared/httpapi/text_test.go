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
		"NUL in a field name":             {body: `{"content\u0000":"x"}`, want: "body: must not contain NUL"},
		"NUL in a field name and in text": {body: `{"content":"\u0000","\u0000":1}`, want: "body: must not contain NUL"},
		"NUL in the field name of an element": {
			body: `{"operations":[{"content\u0000":"x"}]}`,
			want: "body: must not contain NUL",
		},
		"list instead of the text": {
			body: `{"content":["\u0000"]}`,
			want: "content[0]: must not contain NUL; content: must be a string",
		},
		"object instead of the text": {
			body: `{"content":{"content":"\u0000"}}`,
			want: "content.content: must not contain NUL; content: must be a string",
		},
		"object instead of the text, with NUL in a field name": {
			body: `{"content":{"\u0000":1}}`,
			want: "body: must not contain NUL; content: must be a string",
		},
		"field name in another case": {body: `{"Content":"\u0000"}`, want: "Content: must not contain NUL"},
		"field of an unknown object": {body: `{"x":{"content":"\u0000"}}`, want: "x.content: must not contain NUL"},
		"field name with dots": {
			body: `{"operations.0.content":"\u0000"}`,
			want: "operations.0.content: must not contain NUL",
		},
		"object instead of the list": {
			body: `{"operations":{"0":{"content":"\u0000"}}}`,
			want: "operations.0.content: must not contain NUL; operations: must be a list",
		},
		"object instead of the list, with a field named *": {
			body: `{"operations":{"*":{"content":"\u0000"}}}`,
			want: "operations.*.content: must not contain NUL; operations: must be a list",
		},
		"list instead of an element": {
			body: `{"operations":[[{"content":"\u0000"}]]}`,
			want: "operations[0][0].content: must not contain NUL; operations[0]: must be an object",
		},
		"list instead of the body": {
			body: `[{"content":"\u0000"}]`,
			want: "[0].content: must not contain NUL; body: must be an object",
		},
		"text instead of the body": {body: `"\u0000"`, want: "body: must not contain NUL"},
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
