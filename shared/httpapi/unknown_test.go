package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type projectInput struct {
	Body struct {
		ProjectID string `json:"projectId,omitempty"`
		Framework string `json:"framework,omitempty"`
		To        string `json:"to,omitempty"`
		Items     []struct {
			Path string `json:"path"`
		} `json:"items,omitempty" maxItems:"3"`
	}
}

// projectRouter returns a router with one endpoint that rejects unknown fields, and one that ignores them.
func projectRouter() http.Handler {
	return newRouter(func(r *httpapi.Routes) {
		for path, ignores := range map[string]bool{"/api/strict": false, "/api/ignoring": true} {
			op := httpapi.Operation{ID: path, Method: http.MethodPost, Path: path, IgnoreUnknownFields: ignores}
			httpapi.Public(r, op, func(_ context.Context, in *projectInput) (*textOutput, error) {
				out := &textOutput{}
				out.Body.Text = in.Body.Framework
				return out, nil
			})
		}
	})
}

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 61)
	for body, want := range map[string]string{
		`{"framwork":"react"}`:             "framwork: is not a known field (did you mean framework?)",
		`{"Framework":"react"}`:            "Framework: is not a known field (did you mean framework?)",
		`{"FRAMEWROK":"react"}`:            "FRAMEWROK: is not a known field (did you mean framework?)",
		`{"project_id":"prj_1"}`:           "project_id: is not a known field (did you mean projectId?)",
		`{"pro-ject_i d":"prj_1"}`:         "pro-ject_i d: is not a known field (did you mean projectId?)",
		`{"frmwrk":"react"}`:               "frmwrk: is not a known field",
		`{"items":[{"Path":"/a"}]}`:        "items[0].Path: is not a known field (did you mean path?); items[0].path: is required",
		`{"color":{"a":[1e999]},"op":"x"}`: "color: is not a known field; op: is not a known field",
		`{"framwork":1,"framework":2}`: "framwork: is not a known field (did you mean framework?); " +
			"framework: must be a string",
		`{"__proto__":{"to":"x"}}`:             "__proto__: is not a known field",
		`{"":1}`:                               `"": is not a known field`,
		`{"to\u0000":1}`:                       `"to\x00": is not a known field (did you mean to?)`,
		`{"\u202eto":1}`:                       `"\u202eto": is not a known field (did you mean to?)`,
		`{"` + long + `":1}`:                   `"` + long[:30] + `"...: is not a known field`,
		`{"` + long[:29] + `é` + long + `":1}`: `"` + long[:29] + `"...: is not a known field`,
		`{"x":{"y":1,"y":2}}`:                  "x.y: must not be given more than once",
		`{"` + long + `":1,"` + long + `":1}`:  `"` + long[:30] + `"...: must not be given more than once`,
	} {
		request := edgetest.Request{Method: http.MethodPost, Target: "/api/strict", Body: body, Header: asJSON}
		response := request.Send(t, projectRouter())
		if got := edgetest.WantError(t, response, http.StatusBadRequest, fault.CodeValidationFailed); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestIgnoredUnknownFields(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{ // want is the output, or the error message
		`{"framework":"go","Framework":"x","":1}`:                        "go",
		`{"framework":"go","x":[1e999,{"framework":null}],"y":"\u0000"}`: "go",
		`{"framework":"go","items":[{"path":"/a","x":[null]}]}`:          "go",
		`{"framework":1,"x":2}`:                                          "framework: must be a string",
		`{"x":{"y":1,"y":2}}`:                                            "x.y: must not be given more than once",
		`{"x":["\ud83d"]}`:                                               `x[0]: contains an incomplete surrogate pair (\ud83d), which is half of a character`,
		`{"x":` + strings.Repeat("[", 32) + `}`:                          "body: must not be nested more than 32 levels deep",
	} {
		request := edgetest.Request{Method: http.MethodPost, Target: "/api/ignoring", Body: body, Header: asJSON}
		response := request.Send(t, projectRouter())
		if response.Status == http.StatusOK {
			if response.Body != `{"text":"`+want+`"}` {
				t.Errorf("%s: got %s, want %s", body, response.Body, want)
			}
		} else if got := edgetest.WantError(t, response, 400, fault.CodeValidationFailed); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

// The message about text that cannot be decoded names the reason.
func TestUndecodableText(t *testing.T) {
	t.Parallel()
	const incomplete, half = `: contains an incomplete surrogate pair (`, `), which is half of a character`
	for body, want := range map[string]string{
		`{"to":"a\ud83d"}`:                    `to` + incomplete + `\ud83d` + half,
		`{"to":"\ud83d\ud83d\ude00"}`:         `to` + incomplete + `\ud83d` + half,
		`{"to":"\uDE00\ud83d"}`:               `to` + incomplete + `\uDE00` + half,
		`{"to":"\ud83d and more text"}`:       `to` + incomplete + `\ud83d` + half,
		`{"items":[{"path":"\udfff......"}]}`: `items[0].path` + incomplete + `\udfff` + half,
		`{"a\ud83d":1}`:                       `body` + incomplete + `\ud83d` + half,
		"{\"to\":\"\xff\"}":                   "to: must be valid UTF-8",
		"{\"items\":[{\"path\":\"a\xc3(\"}]}": "items[0].path: must be valid UTF-8",
		"{\"\xff\":1}":                        "body: must be valid UTF-8",
		`{"to":"\u12"}`:                       "body: is not valid JSON",
		`{"to":"\x"}`:                         "body: is not valid JSON",
	} {
		request := edgetest.Request{Method: http.MethodPost, Target: "/api/strict", Body: body, Header: asJSON}
		response := request.Send(t, projectRouter())
		if got := edgetest.WantError(t, response, http.StatusBadRequest, fault.CodeValidationFailed); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}
