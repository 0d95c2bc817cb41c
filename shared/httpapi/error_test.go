package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"devplatform/infra/edgetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func TestErrorResponses(t *testing.T) {
	t.Parallel()
	router, log := edgetest.NewRouter(config.Edge{})
	for name, want := range map[string]struct {
		status     int
		code       fault.Code
		retryAfter string
	}{
		"known":     {409, fault.CodeUserExists, ""},
		"wrapped":   {404, fault.CodeSessionNotFound, ""},
		"headers":   {429, fault.CodeAuthRateLimited, "7"},
		"conflict":  {503, fault.CodeServiceUnavailable, "1"}, // the operation does not document CONFLICT
		"storage":   {503, fault.CodeServiceUnavailable, "1"},
		"keys":      {503, fault.CodeServiceUnavailable, "1"},
		"not-found": {500, fault.CodeInternal, ""},
		"unknown":   {500, fault.CodeInternal, ""},
		"deadline":  {500, fault.CodeInternal, ""},
	} {
		response := edgetest.Request{Method: http.MethodGet, Target: "/api/fail/" + name}.Send(t, router)
		edgetest.WantError(t, response, want.status, want.code)
		if got := response.Header.Get("Retry-After"); got != want.retryAfter {
			t.Errorf("%s: got Retry-After %q, want %q", name, got, want.retryAfter)
		}
	}
	for _, line := range log.Lines(t) {
		if line["code"] == "INTERNAL_ERROR" && (line["level"] != "ERROR" || line["cause"] == nil) {
			t.Errorf("logged %v, want level ERROR and a cause", line)
		}
	}
}

func TestPanicAndEncodingErrorResponses(t *testing.T) {
	t.Parallel()
	router, log := edgetest.NewRouter(config.Edge{})
	for _, path := range []string{"/api/panic", "/api/broken"} {
		response := edgetest.Request{Method: http.MethodGet, Target: path}.Send(t, router)
		edgetest.WantError(t, response, 500, fault.CodeInternal)
		if response.Header.Get("X-Leak") != "" {
			t.Errorf("%s: the error response has the handler's headers", path)
		}
	}
	lines := log.Lines(t)
	if len(lines) != 2 || lines[0]["cause"] == nil || lines[1]["cause"] == nil {
		t.Errorf("logged %v, want two lines with a cause", lines)
	}
}

// A conflict that outlasts all retries is a CONFLICT only if the operation documents this code. Otherwise, such as for
// a login, the client cannot read anything again, and can only repeat the request.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for documented, status := range map[*fault.Error]int{
		fault.ErrConflict: http.StatusConflict,
		fault.New(fault.CodeConflict, "The label is taken."):       http.StatusConflict,
		fault.New(fault.CodeUserExists, "The user has signed up."): http.StatusServiceUnavailable,
	} {
		router := newRouter(func(r *httpapi.Routes) {
			op := httpapi.Operation{Method: http.MethodPost, Path: "/api/change", Errors: []*fault.Error{documented}}
			httpapi.Public(r, op, func(context.Context, *struct{}) (*textOutput, error) {
				return nil, fmt.Errorf("change: %w: 20 attempts", db.ErrConflict)
			})
		})
		response := edgetest.Request{Method: http.MethodPost, Target: "/api/change"}.Send(t, router)
		if response.Status != status {
			t.Errorf("the operation documents %s: got status %d, want %d", documented.Code, response.Status, status)
		}
	}
}
