package httpapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type numberInput struct {
	Body struct {
		Int   *int            `json:"int,omitempty"`
		Large int64           `json:"large,omitempty"`
		Count int             `json:"count,omitempty"`
		At    clock.Timestamp `json:"at,omitzero"`
		Rows  []struct {
			Sizes []int `json:"sizes" maxItems:"9"`
		} `json:"rows,omitempty" maxItems:"9"`
	}
}

// TestIntegerNotations checks that every number without a fraction is an integer, in any notation, as in JSON Schema.
func TestIntegerNotations(t *testing.T) {
	t.Parallel()
	router := echo(httpapi.Operation{}, func(in *numberInput) string {
		sum := in.Body.Large + int64(in.Body.Count)
		if in.Body.Int != nil {
			sum += int64(*in.Body.Int)
		}
		for _, row := range in.Body.Rows {
			for _, size := range row.Sizes {
				sum += int64(size)
			}
		}
		return strconv.FormatInt(sum, 10)
	})
	const outOfRange = ": is out of range"
	checkBodies(t, router, map[string]string{
		`{"int":1.0}`:                                    "1",
		`{"int":1e2,"count":-2.50e1,"large":7}`:          "82",
		`{"int":-0.0}`:                                   "0",
		`{"count":20E-1}`:                                "2",
		`{"large":9007199254740991.0}`:                   "9007199254740991",
		`{"large":9223372036854775807,"int":0e9}`:        "9223372036854775807",
		`{"large":9223372036854775807.0}`:                "large" + outOfRange,
		`{"large":1e99}`:                                 "large" + outOfRange,
		`{"int":-1e1000000000}`:                          "int" + outOfRange,
		`{"rows":[{"sizes":[1.0,2]},{"sizes":[3e0]}]}`:   "6",
		`{"rows":[{"sizes":[]},{"sizes":[1.0,2,1e30]}]}`: "rows[1].sizes[2]" + outOfRange,
		`{"int":1.5,"large":1e99}`:                       "int: must be a whole number; large" + outOfRange,
		`{"at":"2026-01-31T08:15:30.123Z","int":1e0}`:    "1",
	})
}

type color string

func (color) Values() []string { return []string{"red", "green"} }

type nullableInput struct {
	Body struct {
		Secret httpapi.Nullable[string] `json:"secret,omitzero" minLength:"2"`
		Colors []color                  `json:"colors,omitempty" maxItems:"2"`
	}
}

func TestNullableFieldsAndEnums(t *testing.T) {
	t.Parallel()
	router := echo(httpapi.Operation{}, func(in *nullableInput) string {
		switch secret := in.Body.Secret; {
		case !secret.Present && secret.Value == nil:
			return "absent"
		case secret.Value == nil:
			return "null"
		default:
			return *secret.Value
		}
	})
	checkBodies(t, router, map[string]string{
		`{}`:                                 "absent",
		`{"secret":null}`:                    "null",
		`{"secret":"ab"}`:                    "ab",
		`{"secret":"a"}`:                     "secret: must be at least 2 characters long",
		`{"secret":1}`:                       "secret: must be a string",
		`{"secret":["a"]}`:                   "secret: must be a string",
		`{"colors":["red","green"]}`:         "absent",
		`{"colors":["red","blue"]}`:          "colors[1]: must be one of red, green",
		`{"colors":["red","red","red"]}`:     "colors: must have at most 2 elements",
		`{"colors":["x"],"secret":"\u0000"}`: "colors[0]: must be one of red, green; secret: must not contain NUL",
	})
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
	small := httpapi.Operation{Tag: httpapi.Tag{MaxBody: 16 << 10}}
	const start, end = `{"a":"1","b":"1","c":"`, `"}`
	largest := start + strings.Repeat("x", 16<<10-len(start+end)) + end
	for _, router := range []http.Handler{
		echo(small, func(*validatedInput) string { return "" }), echo(small, func(*struct{}) string { return "" }),
	} {
		if response := post(largest).Send(t, router); response.Status != http.StatusOK {
			t.Errorf("body of %d bytes: got %d %s, want 200", len(largest), response.Status, response.Body)
		}
		for _, body := range []string{largest + " ", strings.Repeat("{", 16<<10+1)} {
			got := edgetest.WantError(t, post(body).Send(t, router), 413, fault.CodePayloadTooLarge)
			if want := "The request body is larger than 16 KiB. Send a smaller body."; got != want {
				t.Errorf("got %q, want %q", got, want)
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
