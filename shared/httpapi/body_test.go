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

// newRouter returns a router with the endpoints that register adds. It has no sessions and writes no log.
func newRouter(register func(*httpapi.Routes)) http.Handler {
	return httpapi.NewRouter(httpapi.Config{Logger: edgetest.DiscardLog, Clock: edgetest.Clock}, register)
}

type textOutput struct {
	Body struct {
		Text string `json:"text"`
	}
}

// echo returns a router with the endpoint POST /api/signup, whose output is the text of its input.
func echo[I any](op httpapi.Operation, text func(*I) string) http.Handler {
	op.ID, op.Method, op.Path = "signup", http.MethodPost, "/api/signup"
	return newRouter(func(r *httpapi.Routes) {
		httpapi.Public(r, op, func(_ context.Context, in *I) (*textOutput, error) {
			out := &textOutput{}
			out.Body.Text = text(in)
			return out, nil
		})
	})
}

// checkBodies sends bodies to POST /api/signup. It checks that each result is the text of the output or the error
// message, and that no response contains "hunter2", which is a part of many bodies.
func checkBodies(t *testing.T, router http.Handler, results map[string]string) {
	t.Helper()
	for body, want := range results {
		response := post(body).Send(t, router)
		got := strings.TrimSuffix(strings.TrimPrefix(response.Body, `{"text":"`), `"}`)
		if response.Status >= 300 {
			got = edgetest.WantError(t, response, 400, fault.CodeValidationFailed)
		}
		if got != want || strings.Contains(response.Body, "hunter2") {
			t.Errorf("%.200q: got %q, want %q", body, got, want)
		}
	}
}

func TestStrictBodyDecoding(t *testing.T) {
	t.Parallel()
	router, _ := edgetest.NewRouter(config.Edge{})
	const (
		rest        = `"password":"hunter2hunter2"`
		created     = `{"email":"a","size":14}` // the size of the password
		notJSON     = "body: is not valid JSON"
		notAnObject = "body: must be an object"
	)
	checkBodies(t, router, map[string]string{
		`{"email":"a",` + rest + `}`:              created,
		" \r\n\t{\"email\":\"a\"," + rest + "}\n": created,
		``:                                       "body: is required",
		`  `:                                     notJSON,
		`null`:                                   notAnObject,
		`[]`:                                     notAnObject,
		`"email"`:                                notAnObject,
		`{"email":"hunter2`:                      notJSON,
		`{1:2}`:                                  notJSON,
		`{{}:2}`:                                 notJSON,
		`{"email"}`:                              notJSON,
		`{"` + strings.Repeat("x", 999) + `":1}`: "body: must not contain a field name of more than 1000 bytes",
		// A text that is too long even if all of its characters were escapes of 12 bytes.
		`{"email":"` + strings.Repeat("x", 254*12+1) + `",` + rest + `}`: "email: must be at most 254 characters long",
		// The longest JSON of a text of the maximum length.
		`{"email":"` + strings.Repeat(`\ud83d\ude00`, 254) + `",` + rest + `}`: `{"email":"` +
			strings.Repeat("😀", 254) + `","size":14}`,
		`{email:"hunter2"}`:                        notJSON,
		`{"email":"a",` + rest + `,}`:              notJSON,
		`{"email":"a",/* */` + rest + `}`:          notJSON,
		`{"email":"a",` + rest + `}{}`:             notJSON,
		`email=a&password=hunter2`:                 notJSON,
		"{\"email\":\"hunter2\xff\"," + rest + "}": "email: must be valid UTF-8",
		// Problems of fields.
		`{"email":true,"password":"short","age":0}`: "email: must be a string; " +
			"password: must be at least 8 characters long; age: must be at least 1",
		`{"email":"\u0000","password":"hunter2\u0000"}`: "email: must not contain NUL; " +
			"password: must not contain NUL",
		`{"email":"a","email":"hunter2",` + rest + `}`:      "email: must not be given more than once",
		`{"email":"a","\u0065mail":"hunter2",` + rest + `}`: "email: must not be given more than once",
		`{"tags":[[],{"name":"a","name":"b"}],"email":"a",` + rest + `}`: "tags[1].name: " +
			"must not be given more than once",
		`{"x":{"y":1,"y":2},"email":"a",` + rest + `}`:                       "x.y: must not be given more than once",
		`{"email":"a\u0000hunter2",` + rest + `}`:                            "email: must not contain NUL",
		`{"tags":[{"name":"a"},{"name":"\u0000"}],"email":"a",` + rest + `}`: "tags[1].name: must not contain NUL",
		`{"email":"\\u0000",` + rest + `}`:                                   `{"email":"\\u0000","size":14}`,
		`{"email":5,` + rest + `}`:                                           "email: must be a string",
		`{"email":null,` + rest + `}`:                                        "email: must be a string",
		`{"password":"hunter2"}`: "password: must be at least 8 characters long; " +
			"email: is required",
		`{"email":"` + strings.Repeat("hunter2", 40) + `",` + rest + `}`: "email: must be at most 254 characters long",
		`{"email":"a","age":9223372036854775808,` + rest + `}`:           "age: is out of range",
		`{"email":"a","age":null,` + rest + `}`:                          "age: must be a whole number",
		`{"email":"a","tags":null,` + rest + `}`:                         created,
		`{"email":"a","tags":[{"name":"x"},null],` + rest + `}`:          "tags[1]: must be an object",
		`{"email":"a","tags":[{"name":"x","note":null}],` + rest + `}`:   "tags[0].note: must be a string",
		`{"email":"a","nick":null,` + rest + `}`:                         created,
		`{"email":{"a":null},"tags":{"name":null},` + rest + `}`:         "email: must be a string; tags: must be a list",
		`{"age":null,"tags":[{"name":7,"note":null}],` + rest + `}`: "age: must be a whole number; " +
			"tags[0].name: must be a string; tags[0].note: must be a string; email: is required",
		`{"email":"a","tags":[null` + strings.Repeat(",null", 19) + `],` + rest + `}`: itemErrors(20),
		// The decoder stops at the 21st problem.
		`{"email":"a","tags":[null` + strings.Repeat(",null", 999) + `],} is not read`: itemErrors(20) + "; and more",
		// The elements above the maximum are not validated.
		`{"email":"a","tags":[{"name":"x"}` + strings.Repeat(`,{"name":"x"}`, 49) + strings.Repeat(`,{}`, 950) +
			`],` + rest + `}`: "tags: must have at most 50 elements",
		`{"email":"a","age":1` + strings.Repeat("0", 100) + `,` + rest + `}`: "age: is out of range",
		// The body, the list and its elements.
		`{"x":[` + strings.Repeat("[],", 65_534) + `[]]} is not read`: "body: must not contain more than 65536 values",
		strings.Repeat(`[`, 33) + strings.Repeat(`]`, 33):             "body: must not be nested more than 32 levels deep",
		strings.Repeat(`{"a":`, 100_000):                              "body: must not be nested more than 32 levels deep",
		`{"email":"a","tags":[{"name":"x"},{"name":7}],` + rest + `}`: "tags[1].name: must be a string",
	})
}

// itemErrors returns the error message about the first n tags, which are not objects.
func itemErrors(n int) string {
	problems := make([]string, n)
	for i := range problems {
		problems[i] = fmt.Sprintf("tags[%d]: must be an object", i)
	}
	return strings.Join(problems, "; ")
}

// After a value of the wrong type, the remaining fields are still decoded and validated.
func TestValidateAfterMismatch(t *testing.T) {
	t.Parallel()
	router := echo(httpapi.Operation{}, func(*validatedInput) string { return "" })
	checkBodies(t, router, map[string]string{
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
	})
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

const incomplete, half = `: contains an incomplete surrogate pair (`, `), which is half of a character`

type projectInput struct {
	Body struct {
		ProjectID string `json:"projectId,omitempty"`
		Framework string `json:"framework,omitempty"`
		To        string `json:"to,omitempty"`
		Content   string `json:"content,omitempty" nul:"allow"`
		Items     []struct {
			Path    string `json:"path"`
			Content string `json:"content,omitempty" nul:"allow"`
		} `json:"items,omitempty" maxItems:"3"`
	}
}

func framework(in *projectInput) string { return in.Body.Framework }

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 61)
	checkBodies(t, echo(httpapi.Operation{}, framework), map[string]string{
		`{"framwork":"react"}`:     "framwork: is not a known field (did you mean framework?)",
		`{"Framework":"react"}`:    "Framework: is not a known field (did you mean framework?)",
		`{"FRAMEWROK":"react"}`:    "FRAMEWROK: is not a known field (did you mean framework?)",
		`{"project_id":"prj_1"}`:   "project_id: is not a known field (did you mean projectId?)",
		`{"pro-ject_i d":"prj_1"}`: "pro-ject_i d: is not a known field (did you mean projectId?)",
		`{"frmwrk":"react"}`:       "frmwrk: is not a known field",
		`{"items":[{"Path":"/a"}]}`: "items[0].Path: is not a known field (did you mean path?); " +
			"items[0].path: is required",
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
	})
	checkBodies(t, echo(httpapi.Operation{IgnoreUnknownFields: true}, framework), map[string]string{
		`{"framework":"go","Framework":"x","":1}`:                        "go",
		`{"framework":"go","x":[1e999,{"framework":null}],"y":"\u0000"}`: "go",
		`{"framework":"go","items":[{"path":"/a","x":[null]}]}`:          "go",
		`{"framework":1,"x":2}`:                                          "framework: must be a string",
		`{"x":{"y":1,"y":2}}`:                                            "x.y: must not be given more than once",
		`{"x":["\ud83d"]}`:                                               `x[0]` + incomplete + `\ud83d` + half,
		`{"x":` + strings.Repeat("[", 32) + `}`:                          "body: must not be nested more than 32 levels deep",
	})
}

// The message about text that cannot be decoded names the reason.
func TestUndecodableText(t *testing.T) {
	t.Parallel()
	checkBodies(t, echo(httpapi.Operation{}, framework), map[string]string{
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
	})
}

func TestNULIsAllowedOnlyInMarkedFields(t *testing.T) {
	t.Parallel()
	router := echo(httpapi.Operation{}, func(in *projectInput) string {
		text := in.Body.Content
		for _, item := range in.Body.Items {
			text += item.Content
		}
		return fmt.Sprint(strings.Count(text, "\x00"))
	})
	checkBodies(t, router, map[string]string{ // the number of NULs that the handler received
		`{"content":"a\u0000b\u0000"}`: "2",
		`{"\u0063ontent":"\u0000"}`:    "1",
		`{"items":[{"path":"/a"},{"path":"","content":"\u0000\u0000"}],"content":"\u0000"}`: "3",
		`{"content":"\\u0000"}`:                            "0",
		`{"content":"\u0000","to":"/\u0000"}`:              "to: must not contain NUL",
		`{"items":[{"content":"\u0000","path":"\u0000"}]}`: "items[0].path: must not contain NUL",
		`{"content":["\u0000"]}`:                           "content: must be a string",
		`"\u0000"`:                                         "body: must be an object",
	})
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
