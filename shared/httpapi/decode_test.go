package httpapi_test

import (
	"context"
	"log/slog"
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
		Small int32           `json:"small,omitempty"`
		Large int64           `json:"large,omitempty"`
		Count uint            `json:"count,omitempty"`
		At    clock.Timestamp `json:"at,omitzero"`
		Rows  []struct {
			Sizes []int `json:"sizes"`
		} `json:"rows,omitempty"`
	}
}

type numberOutput struct {
	Body struct {
		Sum string `json:"sum"`
	}
}

// In JSON Schema, every number without a fraction is an integer, in any notation.
func TestIntegerNotations(t *testing.T) {
	t.Parallel()
	router := httpapi.NewRouter(httpapi.Config{Clock: clock.System, Logger: slog.New(slog.DiscardHandler)}, func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "number", Method: http.MethodPost, Path: "/api/number"},
			func(_ context.Context, in *numberInput) (*numberOutput, error) {
				sum := int64(in.Body.Small) + in.Body.Large + int64(in.Body.Count)
				if in.Body.Int != nil {
					sum += int64(*in.Body.Int)
				}
				for _, row := range in.Body.Rows {
					for _, size := range row.Sizes {
						sum += int64(size)
					}
				}
				out := &numberOutput{}
				out.Body.Sum = strconv.FormatInt(sum, 10)
				return out, nil
			})
	})
	const outOfRange = ": is out of range"
	for body, want := range map[string]string{ // the sum, or the message
		`{"int":1.0}`:                                    "1",
		`{"int":1e2,"small":-2.50e1,"large":7}`:          "82",
		`{"int":-0.0}`:                                   "0",
		`{"count":20E-1}`:                                "2",
		`{"large":9007199254740991.0}`:                   "9007199254740991",
		`{"large":9223372036854775807,"int":0e9}`:        "9223372036854775807",
		`{"large":9223372036854775807.0}`:                "large" + outOfRange,
		`{"large":1e99}`:                                 "large" + outOfRange,
		`{"small":2147483647.0}`:                         "2147483647",
		`{"small":2147483648.0}`:                         "small" + outOfRange,
		`{"small":-2147483649}`:                          "small" + outOfRange,
		`{"int":-1e1000000000}`:                          "int" + outOfRange,
		`{"rows":[{"sizes":[1.0,2]},{"sizes":[3e0]}]}`:   "6",
		`{"rows":[{"sizes":[]},{"sizes":[1.0,2,1e30]}]}`: "rows[1].sizes[2]" + outOfRange,
		`{"x":{"int":1e999},"int":1e30,"y":1}`:           "int" + outOfRange,
		`{"int":1.5,"small":1e99}`:                       "int: must be a whole number; small" + outOfRange,
		`{"at":"2026-01-31T08:15:30.123Z","int":1e0}`:    "1",
	} {
		r := edgetest.Request{Method: http.MethodPost, Target: "/api/number", Body: body, Header: asJSON}
		a := r.Send(t, router)
		if _, err := strconv.Atoi(want); err != nil {
			if got := edgetest.WantError(t, a, 400, fault.CodeValidationFailed); got != want {
				t.Errorf("%s: got %q, want %q", body, got, want)
			}
		} else if a.Body != `{"sum":"`+want+`"}` {
			t.Errorf("%s: got %d %s, want %s", body, a.Status, a.Body, want)
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
	router := httpapi.NewRouter(httpapi.Config{Clock: clock.System, Logger: slog.New(slog.DiscardHandler)}, func(r *httpapi.Routes) {
		httpapi.Public(r, httpapi.Operation{ID: "nullable", Method: http.MethodPost, Path: "/api/nullable"},
			func(_ context.Context, in *nullableInput) (*numberOutput, error) {
				out := &numberOutput{}
				switch secret := in.Body.Secret; {
				case !secret.Present && secret.Value == nil:
					out.Body.Sum = "absent"
				case secret.Value == nil:
					out.Body.Sum = "null"
				default:
					out.Body.Sum = *secret.Value
				}
				return out, nil
			})
	})
	for body, want := range map[string]string{ // the field, or the message
		`{}`:                                 "absent",
		`{"Secret":"ab"}`:                    "absent",
		`{"secret":null}`:                    "null",
		`{"secret":"ab"}`:                    "ab",
		`{"secret":"a"}`:                     "secret: must have at least 2 characters",
		`{"secret":1}`:                       "secret: must be a string",
		`{"secret":["a"]}`:                   "secret: must be a string",
		`{"colors":["red","green"]}`:         "absent",
		`{"colors":["red","blue"]}`:          "colors[1]: must be one of red, green",
		`{"colors":["red","red","red"]}`:     "colors: must have at most 2 elements",
		`{"colors":["x"],"secret":"\u0000"}`: "secret: must not contain NUL",
	} {
		a := edgetest.Request{Method: http.MethodPost, Target: "/api/nullable", Body: body, Header: asJSON}.Send(t, router)
		if a.Status == http.StatusOK {
			if a.Body != `{"sum":"`+want+`"}` {
				t.Errorf("%s: got %s, want %s", body, a.Body, want)
			}
		} else if got := edgetest.WantError(t, a, 400, fault.CodeValidationFailed); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}
