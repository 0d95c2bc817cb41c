package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var asJSON = map[string]string{"Content-Type": "application/json"}

// post returns a sign-up request with this body.
func post(body string) edgetest.Request {
	return edgetest.Request{Method: http.MethodPost, Target: "/api/signup", Body: body, Header: asJSON}
}

func TestStrictBodyDecoding(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	const rest = `"password":"hunter2hunter2"`
	for name, tc := range map[string]struct {
		body string
		want string // the error message, "" for a valid body
	}{
		"valid":                   {body: `{"email":"a",` + rest + `}`},
		"surrounding white space": {body: " \r\n\t{\"email\":\"a\"," + rest + "}\n"},
		"empty body":              {body: ``, want: "body: is required"},
		"only blanks":             {body: `  `, want: "body: is not valid JSON"},
		"null":                    {body: `null`, want: "body: must be an object"},
		"list":                    {body: `[]`, want: "body: must be an object"},
		"string":                  {body: `"email"`, want: "body: must be an object"},
		"truncated JSON":          {body: `{"email":"hunter2`, want: "body: is not valid JSON"},
		"number as a name":        {body: `{1:2}`, want: "body: is not valid JSON"},
		"object as a name":        {body: `{{}:2}`, want: "body: is not valid JSON"},
		"name without a value":    {body: `{"email"}`, want: "body: is not valid JSON"},
		"long name": {
			body: `{"` + strings.Repeat("x", 999) + `":1}`,
			want: "body: must not contain a field name of more than 1000 bytes",
		},
		"text that is not even decoded": {
			body: `{"email":"` + strings.Repeat("x", 254*12+1) + `",` + rest + `}`,
			want: "email: must be at most 254 characters long",
		},
		"unquoted name":    {body: `{email:"hunter2"}`, want: "body: is not valid JSON"},
		"trailing comma":   {body: `{"email":"a",` + rest + `,}`, want: "body: is not valid JSON"},
		"comment":          {body: `{"email":"a",/* */` + rest + `}`, want: "body: is not valid JSON"},
		"two JSON values":  {body: `{"email":"a",` + rest + `}{}`, want: "body: is not valid JSON"},
		"URL-encoded form": {body: `email=a&password=hunter2`, want: "body: is not valid JSON"},
		"invalid UTF-8":    {body: "{\"email\":\"hunter2\xff\"," + rest + "}", want: "email: must be valid UTF-8"},
		"wrong type, wrong length and wrong number": {
			body: `{"email":true,"password":"short","age":0}`,
			want: "email: must be a string; password: must be at least 8 characters long; " +
				"age: must be at least 1",
		},
		"NUL in two fields": {
			body: `{"email":"\u0000","password":"hunter2\u0000"}`,
			want: "email: must not contain NUL; password: must not contain NUL",
		},
		"duplicate name": {
			body: `{"email":"a","email":"hunter2",` + rest + `}`,
			want: "email: must not be given more than once",
		},
		"duplicate name, once escaped": {
			body: `{"email":"a","\u0065mail":"hunter2",` + rest + `}`,
			want: "email: must not be given more than once",
		},
		"duplicate name in a list": {
			body: `{"tags":[[],{"name":"a","name":"b"}],"email":"a",` + rest + `}`,
			want: "tags[1].name: must not be given more than once",
		},
		"duplicate unknown name": {
			body: `{"x":{"y":1,"y":2},"email":"a",` + rest + `}`,
			want: "x.y: must not be given more than once",
		},
		"NUL": {body: `{"email":"a\u0000hunter2",` + rest + `}`, want: "email: must not contain NUL"},
		"NUL in a list": {
			body: `{"tags":[{"name":"a"},{"name":"\u0000"}],"email":"a",` + rest + `}`,
			want: "tags[1].name: must not contain NUL",
		},
		"escaped backslash before u0000": {body: `{"email":"\\u0000",` + rest + `}`},
		"number for a string":            {body: `{"email":5,` + rest + `}`, want: "email: must be a string"},
		"null for a required field":      {body: `{"email":null,` + rest + `}`, want: "email: must be a string"},
		"missing field and short password": {
			body: `{"password":"hunter2"}`,
			want: "password: must be at least 8 characters long; email: is required",
		},
		"text too long": {
			body: `{"email":"` + strings.Repeat("hunter2", 40) + `",` + rest + `}`,
			want: "email: must be at most 254 characters long",
		},
		"number with a fraction": {
			body: `{"email":"a","age":1.5,` + rest + `}`,
			want: "age: must be a whole number",
		},
		"number too small":                  {body: `{"email":"a","age":0,` + rest + `}`, want: "age: must be at least 1"},
		"whole number with a decimal point": {body: `{"email":"a","age":1.0,` + rest + `}`},
		"whole number with an exponent":     {body: `{"email":"a","age":120e-1,` + rest + `}`},
		"number larger than int64": {
			body: `{"email":"a","age":9223372036854775808,` + rest + `}`,
			want: "age: is out of range",
		},
		"number larger than float64": {body: `{"email":"a","age":1e999,` + rest + `}`, want: "age: is out of range"},
		"null for an optional field": {
			body: `{"email":"a","age":null,` + rest + `}`,
			want: "age: must be a whole number",
		},
		"null for a list": {body: `{"email":"a","tags":null,` + rest + `}`},
		"null for a list element": {
			body: `{"email":"a","tags":[{"name":"x"},null],` + rest + `}`,
			want: "tags[1]: must be an object",
		},
		"null in a list element": {
			body: `{"email":"a","tags":[{"name":"x","note":null}],` + rest + `}`,
			want: "tags[0].note: must be a string",
		},
		"null for a nullable field": {body: `{"email":"a","nick":null,` + rest + `}`},
		"null inside a value of the wrong type": {
			body: `{"email":{"a":null},"tags":{"name":null},` + rest + `}`,
			want: "email: must be a string; tags: must be a list",
		},
		"null with other problems": {
			body: `{"age":null,"tags":[{"name":7,"note":null}],` + rest + `}`,
			want: "age: must be a whole number; tags[0].name: must be a string; " +
				"tags[0].note: must be a string; email: is required",
		},
		"20 null elements": {
			body: `{"email":"a","tags":[null` + strings.Repeat(",null", 19) + `],` + rest + `}`,
			want: itemErrors("tags[%d]: must be an object", 20),
		},
		"1000 null elements": { // the decoder stops at the 21st problem
			body: `{"email":"a","tags":[null` + strings.Repeat(",null", 999) + `],} is not read`,
			want: itemErrors("tags[%d]: must be an object", 20) + "; and more",
		},
		"1000 elements": { // the elements above the maximum are not validated
			body: `{"email":"a","tags":[{"name":"x"}` + strings.Repeat(`,{"name":"x"}`, 49) +
				strings.Repeat(`,{}`, 950) + `],` + rest + `}`,
			want: "tags: must have at most 50 elements",
		},
		"long number": {
			body: `{"email":"a","age":1` + strings.Repeat("0", 100) + `,` + rest + `}`,
			want: "age: is out of range",
		},
		"65,537 values": { // the body, the list and its elements
			body: `{"x":[` + strings.Repeat("[],", 65_534) + `[]]} is not read`,
			want: "body: must not contain more than 65536 values",
		},
		"33 levels deep": {
			body: strings.Repeat(`[`, 33) + strings.Repeat(`]`, 33),
			want: "body: must not be nested more than 32 levels deep",
		},
		"100,000 levels deep": {
			body: strings.Repeat(`{"a":`, 100_000),
			want: "body: must not be nested more than 32 levels deep",
		},
		"wrong type in a list element": {
			body: `{"email":"a","tags":[{"name":"x"},{"name":7}],` + rest + `}`,
			want: "tags[1].name: must be a string",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := post(tc.body).Send(t, router)
			if strings.Contains(response.Body, "hunter2") {
				t.Errorf("the response repeats a value of the body: %s", response.Body)
			}
			if tc.want == "" {
				if response.Status != http.StatusCreated {
					t.Errorf("got %d %s, want 201", response.Status, response.Body)
				}
				return
			}
			if got := edgetest.WantError(t, response, 400, fault.CodeValidationFailed); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// itemErrors returns the error message about the first n elements of a list.
func itemErrors(format string, n int) string {
	problems := make([]string, n)
	for i := range problems {
		problems[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(problems, "; ")
}

// After a value of the wrong type, the remaining fields are still decoded and validated.
func TestValidateAfterMismatch(t *testing.T) {
	t.Parallel()
	router := newRouter(func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "signup", Method: http.MethodPost, Path: "/api/signup"},
			func(context.Context, *validatedInput) (*edgetest.EchoOutput, error) {
				return &edgetest.EchoOutput{}, nil
			})
	})
	for body, want := range map[string]string{
		`{"a":1,"b":"fine","c":"fine"}`:           "a: must be a string",
		`{"a":[{}],"b":"","c":"fine"}`:            "a: must be a string; b: is required",
		`{"a":"fine","b":true,"c":""}`:            "b: must be a string; c: is required",
		`{"a":"fine","b":{"c":1},"c":null}`:       "b: must be a string; c: must be a string",
		`{"a":"fine","b":"fine","c":null}`:        "c: must be a string",
		`{"z":1e999,"a":false,"b":"fine","c":""}`: "z: is not a known field; a: must be a string; c: is required",
		`null`:         "body: must be an object", // the fields of the missing object are not reported
		`[]`:           "body: must be an object",
		` 7`:           "body: must be an object",
		`{"a":"fine"}`: "b: is required; c: is required",
	} {
		if got := edgetest.WantError(t, post(body).Send(t, router), 400, fault.CodeValidationFailed); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

type validatedInput struct {
	Body struct {
		A string `json:"a"`
		B string `json:"b"`
		C string `json:"c"`
	}
}

func (in *validatedInput) Validate(v *httpapi.Validation) {
	for _, f := range []struct{ name, value string }{{"a", in.Body.A}, {"b", in.Body.B}, {"c", in.Body.C}} {
		if f.value == "" {
			v.Field(f.name, "is required")
		}
	}
}

func TestContentType(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	const body = `{"email":"a","password":"hunter2hunter2"}`
	for contentType, want := range map[string]int{
		"application/json":                  201,
		"application/json; charset=utf-8":   201,
		"Application/JSON;charset=UTF-8":    201,
		"application/json ; charset":        201,
		"":                                  415,
		"text/plain":                        415,
		"application/x-www-form-urlencoded": 415,
		"multipart/form-data; boundary=x":   415,
		"application/problem+json":          415,
		"application/jsonx":                 415,
		"text/json":                         415,
		"application/json, text/plain":      415,
	} {
		for _, path := range []string{"/api/signup", "/api/logout"} {
			request := edgetest.Request{
				Method: http.MethodPost, Target: path, Body: body,
				Header: map[string]string{"Content-Type": contentType},
			}
			response := request.Send(t, router)
			if want == 415 {
				edgetest.WantError(t, response, 415, fault.CodeUnsupportedMediaType)
			} else if response.Status/100 != 2 {
				t.Errorf("%s with Content-Type %q: got %d %s, want success",
					path, contentType, response.Status, response.Body)
			}
		}
	}
	empty := edgetest.Request{Method: http.MethodPost, Target: "/api/logout"}.Send(t, router)
	if empty.Status != http.StatusOK {
		t.Errorf("without a body and a Content-Type: got %d %s, want 200", empty.Status, empty.Body)
	}
}

func TestMaximumBodySize(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	small := `{"email":"a","password":"hunter2hunter2"}`
	largest := small + strings.Repeat(" ", 4<<20-len(small))
	if response := post(largest).Send(t, router); response.Status != http.StatusCreated {
		t.Errorf("body of %d bytes: got %d %s, want 201", len(largest), response.Status, response.Body)
	}
	tooLarge := largest + " "
	edgetest.WantError(t, post(tooLarge).Send(t, router), 413, fault.CodePayloadTooLarge)
	logout := edgetest.Request{Method: http.MethodPost, Target: "/api/logout", Body: tooLarge, Header: asJSON}
	edgetest.WantError(t, logout.Send(t, router), 413, fault.CodePayloadTooLarge)
}

// A group of operations can have a smaller limit, which also applies to an operation without a body. A larger body is
// rejected before it is parsed.
func TestMaximumBodySizeOfAGroup(t *testing.T) {
	t.Parallel()
	small := httpapi.Tag{MaxBody: 16 << 10}
	router := newRouter(func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "signup", Method: http.MethodPost, Path: "/api/signup", Tag: small},
			func(context.Context, *validatedInput) (*edgetest.EchoOutput, error) {
				return &edgetest.EchoOutput{}, nil
			})
		httpapi.Public(r, httpapi.Operation{ID: "logout", Method: http.MethodPost, Path: "/api/logout", Tag: small},
			func(context.Context, *struct{}) (*edgetest.EchoOutput, error) { return &edgetest.EchoOutput{}, nil })
	})
	const start, end = `{"a":"1","b":"1","c":"`, `"}`
	largest := start + strings.Repeat("x", 16<<10-len(start+end)) + end
	if response := post(largest).Send(t, router); response.Status != http.StatusOK {
		t.Errorf("body of %d bytes: got %d %s, want 200", len(largest), response.Status, response.Body)
	}
	for _, body := range []string{largest + " ", strings.Repeat("{", 16<<10+1)} {
		for _, path := range []string{"/api/signup", "/api/logout"} {
			request := edgetest.Request{Method: http.MethodPost, Target: path, Body: body, Header: asJSON}
			got := edgetest.WantError(t, request.Send(t, router), 413, fault.CodePayloadTooLarge)
			if want := "The request body is larger than 16 KiB. Send a smaller body."; got != want {
				t.Errorf("%s: got %q, want %q", path, got, want)
			}
		}
	}
}

func TestQueryAndPathRules(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	for target, want := range map[string]string{
		"/api/list?limit=0":         "limit: must be at least 1",
		"/api/list?limit=hunter2":   "limit: must be a whole number",
		"/api/list?limit=101":       "limit: must be at most 100",
		"/api/list?name=a%00b":      "query: must be UTF-8 without NUL",
		"/api/list?name=%ff":        "query: must be UTF-8 without NUL",
		"/api/list?limit=1&other=2": "",
	} {
		response := edgetest.Request{Method: http.MethodGet, Target: target}.Send(t, router)
		if want == "" {
			if response.Status != http.StatusOK {
				t.Errorf("%s: got %d %s, want 200", target, response.Status, response.Body)
			}
			continue
		}
		if got := edgetest.WantError(t, response, 400, fault.CodeValidationFailed); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}

// newRouter returns a router with the endpoints that register adds. It has no sessions and writes no log.
func newRouter(register func(*httpapi.Routes)) http.Handler {
	return httpapi.NewRouter(httpapi.Config{Logger: edgetest.DiscardLog, Clock: edgetest.Clock}, register)
}

// FuzzBody checks that every body is either valid or rejected with VALIDATION_FAILED.
func FuzzBody(f *testing.F) {
	router, _ := edgetest.NewRouter(config.Edge{})
	f.Add([]byte(`{"email":"a","password":"hunter2hunter2"}`))
	f.Add([]byte(`{"email":"\u0000","email":1}`))
	f.Add([]byte(`{"Email":"\ud83d","x":[{"":{}}],1:2}`))
	f.Add([]byte(`{"email":null,"age":1.0,"tags":[null,{"note":null}],"by":{"x":1e99}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		response := post(string(body)).Send(t, router)
		if response.Status != http.StatusCreated {
			edgetest.WantError(t, response, 400, fault.CodeValidationFailed)
		}
	})
}
