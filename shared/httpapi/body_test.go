package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var asJSON = map[string]string{"Content-Type": "application/json"}

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
		"fine":                      {`{"email":"a",` + rest + `}`, ""},
		"unknown fields":            {`{"email":"a","role":"admin","$x":[{}],` + rest + `}`, ""},
		"white space around":        {" \r\n\t{\"email\":\"a\"," + rest + "}\n", ""},
		"missing":                   {``, "body: is required"},
		"blank":                     {`  `, "body: is not valid JSON"},
		"null":                      {`null`, "body: must be an object"},
		"a list":                    {`[]`, "body: must be an object"},
		"a string":                  {`"email"`, "body: must be an object"},
		"truncated":                 {`{"email":"hunter2`, "body: is not valid JSON"},
		"not quoted":                {`{email:"hunter2"}`, "body: is not valid JSON"},
		"trailing comma":            {`{"email":"a",` + rest + `,}`, "body: is not valid JSON"},
		"a comment":                 {`{"email":"a",/* */` + rest + `}`, "body: is not valid JSON"},
		"two values":                {`{"email":"a",` + rest + `}{}`, "body: is not valid JSON"},
		"a form":                    {`email=a&password=hunter2`, "body: is not valid JSON"},
		"broken UTF-8":              {"{\"email\":\"hunter2\xff\"," + rest + "}", "body: is not valid JSON"},
		"half a surrogate":          {`{"email":"\ud800",` + rest + `}`, "body: is not valid JSON"},
		"a wrong type and a rule":   {`{"email":true,"password":"short","age":0}`, "age: must be at least 1; email: must be a string; password: must have at least 8 characters"},
		"an unknown huge number":    {`{"email":"a","x":[1e999,{"y":-1e999}],` + rest + `}`, ""},
		"NUL everywhere":            {`[` + strings.Repeat(`"\u0000",`, 1000) + `1]`, places("[%d]: must not contain NUL", 20)},
		"two NULs":                  {`{"email":"\u0000","password":"hunter2\u0000"}`, "email: must not contain NUL; password: must not contain NUL"},
		"a name with NUL":           {`{"hunter2\u0000":1,"email":"a",` + rest + `}`, "body: must not contain NUL"},
		"a long name twice":         {`{"` + strings.Repeat("x", 101) + `":1,"` + strings.Repeat("x", 101) + `":1}`, "body: must not contain a field more than once"},
		"a name twice":              {`{"email":"a","email":"hunter2",` + rest + `}`, "email: must not be given more than once"},
		"an escaped name twice":     {`{"email":"a","\u0065mail":"hunter2",` + rest + `}`, "email: must not be given more than once"},
		"a name twice in a list":    {`{"tags":[[],{"name":"a","name":"b"}],"email":"a",` + rest + `}`, "tags[1].name: must not be given more than once"},
		"an unknown name twice":     {`{"x":{"y":1,"y":2},"email":"a",` + rest + `}`, "x.y: must not be given more than once"},
		"another case":              {`{"EMAIL":"a",` + rest + `}`, "email: is required"},
		"NUL":                       {`{"email":"a\u0000hunter2",` + rest + `}`, "email: must not contain NUL"},
		"NUL in a list":             {`{"tags":[{"name":"a"},{"name":"\u0000"}],"email":"a",` + rest + `}`, "tags[1].name: must not contain NUL"},
		"a backslash, not NUL":      {`{"email":"\\u0000",` + rest + `}`, ""},
		"a wrong type":              {`{"email":5,` + rest + `}`, "email: must be a string"},
		"absent is not null":        {`{"email":null,` + rest + `}`, "email: must be a string"},
		"several problems":          {`{"password":"hunter2"}`, "email: is required; password: must have at least 8 characters"},
		"too long":                  {`{"email":"` + strings.Repeat("hunter2", 40) + `",` + rest + `}`, "email: must have at most 254 characters"},
		"a fraction":                {`{"email":"a","age":1.5,` + rest + `}`, "age: must be a whole number"},
		"too small":                 {`{"email":"a","age":0,` + rest + `}`, "age: must be at least 1"},
		"a whole number with point": {`{"email":"a","age":1.0,` + rest + `}`, ""},
		"a whole number, exponent":  {`{"email":"a","age":120e-1,` + rest + `}`, ""},
		"beyond every int":          {`{"email":"a","age":9223372036854775808,` + rest + `}`, "age: is out of range"},
		"beyond every float64":      {`{"email":"a","age":1e999,` + rest + `}`, "age: is out of range"},
		"null for an optional one":  {`{"email":"a","age":null,` + rest + `}`, "age: must be a whole number"},
		"null for a list":           {`{"email":"a","tags":null,` + rest + `}`, ""},
		"null for an element":       {`{"email":"a","tags":[{"name":"x"},null],` + rest + `}`, "tags[1]: must be an object"},
		"null in an element":        {`{"email":"a","tags":[{"name":"x","note":null}],` + rest + `}`, "tags[0].note: must be a string"},
		"null where it is allowed":  {`{"email":"a","nick":null,"any":null,"by":{"x":1},` + rest + `}`, ""},
		"null in a map":             {`{"email":"a","by":{"x":1,"y":null},` + rest + `}`, "by.y: must be a whole number"},
		"out of range, long name":   {`{"email":"a","by":{"` + strings.Repeat("hunter2", 20) + `":1e99},` + rest + `}`, "body: is out of range"},
		"null in an unknown field":  {`{"email":"a","x":[null,{"email":null,"y":null}],` + rest + `}`, ""},
		"null in a wrong type":      {`{"email":{"a":null},"tags":{"name":null},` + rest + `}`, "email: must be a string; tags: must be a list"},
		"null and other problems":   {`{"age":null,"tags":[{"name":7,"note":null}],` + rest + `}`, "age: must be a whole number; email: is required; tags[0].name: must be a string; tags[0].note: must be a string"},
		"null in many places":       {`{"email":"a","tags":[null` + strings.Repeat(",null", 1000) + `],` + rest + `}`, places("tags[%d]: must be an object", 20)},
		"nested too deep":           {strings.Repeat(`[`, 33) + strings.Repeat(`]`, 33), "body: must not be nested more than 32 levels deep"},
		"nested extremely deep":     {strings.Repeat(`{"a":`, 100_000), "body: must not be nested more than 32 levels deep"},
		"an element":                {`{"email":"a","tags":[{"name":"x"},{"name":7}],` + rest + `}`, "tags[1].name: must be a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := post(tc.body).Send(t, router)
			if strings.Contains(a.Body, "hunter2") {
				t.Errorf("the response repeats a value of the body: %s", a.Body)
			}
			if tc.want == "" {
				if a.Status != http.StatusCreated {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				return
			}
			if got := edgetest.WantError(t, a, 400, fault.CodeValidationFailed); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// places returns the error message about the first n elements of a list.
func places(format string, n int) string {
	problems := make([]string, n)
	for i := range problems {
		problems[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(problems, "; ")
}

// After a value of the wrong type, the remaining fields are still decoded and validated.
func TestValidateAfterMismatch(t *testing.T) {
	t.Parallel()
	router := httpapi.NewRouter(httpapi.Config{Clock: clock.System, Logger: slog.New(slog.DiscardHandler)}, func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "signup", Method: http.MethodPost, Path: "/api/signup"},
			func(context.Context, *validatedInput) (*edgetest.EchoOutput, error) {
				return &edgetest.EchoOutput{}, nil
			})
	})
	for body, want := range map[string]string{
		`{"a":1,"b":"fine","c":"fine"}`:             "a: must be a string",
		`{"a":[{}],"b":"","c":"fine"}`:              "a: must be a string; b: is required",
		`{"a":"fine","b":true,"c":""}`:              "b: must be a string; c: is required",
		`{"a":"fine","b":{"c":1},"c":null}`:         "b: must be a string; c: must be a string",
		`{"a":"fine","b":"fine","c":null}`:          "c: must be a string",
		`{"z":1e999,"a":false,"b":"fine","c":""}`:   "a: must be a string; c: is required",
		`{"a":"fine","b":"fine","c":"","z":-1e999}`: "c: is required",
		`null`:         "body: must be an object", // its fields are not reported as missing
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
	for contentType, status := range map[string]int{
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
			r := edgetest.Request{Method: http.MethodPost, Target: path, Body: body, Header: map[string]string{"Content-Type": contentType}}
			a := r.Send(t, router)
			if status == 415 {
				edgetest.WantError(t, a, 415, fault.CodeUnsupportedMediaType)
			} else if a.Status/100 != 2 {
				t.Errorf("%q: %d %s", contentType, a.Status, a.Body)
			}
		}
	}
	empty := edgetest.Request{Method: http.MethodPost, Target: "/api/logout"}.Send(t, router)
	if empty.Status != http.StatusOK {
		t.Errorf("without a body and a type: %d %s", empty.Status, empty.Body)
	}
}

func TestMaximumBodySize(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	frame := `{"email":"a","password":"hunter2hunter2","x":""}`
	full := strings.Replace(frame, `"x":"`, `"x":"`+strings.Repeat("x", 4<<20-len(frame)), 1)
	if a := post(full).Send(t, router); a.Status != http.StatusCreated {
		t.Errorf("%d bytes: %d %s", len(full), a.Status, a.Body)
	}
	edgetest.WantError(t, post(full+" ").Send(t, router), 413, fault.CodePayloadTooLarge)
	over := edgetest.Request{Method: http.MethodPost, Target: "/api/logout", Body: full + " ", Header: asJSON}
	edgetest.WantError(t, over.Send(t, router), 413, fault.CodePayloadTooLarge)
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
		a := edgetest.Request{Method: http.MethodGet, Target: target}.Send(t, router)
		if want == "" {
			if a.Status != http.StatusOK {
				t.Errorf("%s: %d %s", target, a.Status, a.Body)
			}
			continue
		}
		if got := edgetest.WantError(t, a, 400, fault.CodeValidationFailed); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
}

func FuzzBody(f *testing.F) {
	router, _ := edgetest.NewRouter(config.Edge{})
	f.Add([]byte(`{"email":"a","password":"hunter2hunter2"}`))
	f.Add([]byte(`{"email":"\u0000","email":1}`))
	f.Add([]byte(`{"email":null,"age":1.0,"tags":[null,{"note":null}],"by":{"x":1e99}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := post(string(body)).Send(t, router)
		if a.Status != http.StatusCreated {
			edgetest.WantError(t, a, 400, fault.CodeValidationFailed)
		}
	})
}
