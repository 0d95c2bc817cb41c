package httpapi_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/clock"
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

type textOutput struct {
	Body struct {
		Text string `json:"text"`
	}
}

// TestIntegerNotations checks that every number without a fraction is an integer, in any notation, as in JSON Schema.
func TestIntegerNotations(t *testing.T) {
	t.Parallel()
	router := newRouter(func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "number", Method: http.MethodPost, Path: "/api/number"},
			func(_ context.Context, in *numberInput) (*textOutput, error) {
				sum := in.Body.Large + int64(in.Body.Count)
				if in.Body.Int != nil {
					sum += int64(*in.Body.Int)
				}
				for _, row := range in.Body.Rows {
					for _, size := range row.Sizes {
						sum += int64(size)
					}
				}
				out := &textOutput{}
				out.Body.Text = strconv.FormatInt(sum, 10)
				return out, nil
			})
	})
	const outOfRange = ": is out of range"
	for body, want := range map[string]string{ // want is the sum, or the error message
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
	} {
		request := edgetest.Request{Method: http.MethodPost, Target: "/api/number", Body: body, Header: asJSON}
		response := request.Send(t, router)
		if _, err := strconv.Atoi(want); err != nil {
			if got := edgetest.WantError(t, response, 400, fault.CodeValidationFailed); got != want {
				t.Errorf("%s: got %q, want %q", body, got, want)
			}
		} else if response.Body != `{"text":"`+want+`"}` {
			t.Errorf("%s: got %d %s, want %s", body, response.Status, response.Body, want)
		}
	}
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
	router := newRouter(func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "nullable", Method: http.MethodPost, Path: "/api/nullable"},
			func(_ context.Context, in *nullableInput) (*textOutput, error) {
				out := &textOutput{}
				switch secret := in.Body.Secret; {
				case !secret.Present && secret.Value == nil:
					out.Body.Text = "absent"
				case secret.Value == nil:
					out.Body.Text = "null"
				default:
					out.Body.Text = *secret.Value
				}
				return out, nil
			})
	})
	for body, want := range map[string]string{ // want is the output, or the error message
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
	} {
		request := edgetest.Request{Method: http.MethodPost, Target: "/api/nullable", Body: body, Header: asJSON}
		response := request.Send(t, router)
		if response.Status == http.StatusOK {
			if response.Body != `{"text":"`+want+`"}` {
				t.Errorf("%s: got %s, want %s", body, response.Body, want)
			}
		} else if got := edgetest.WantError(t, response, 400, fault.CodeValidationFailed); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}
