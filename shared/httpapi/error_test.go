package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"devplatform/shared/fault"
)

// API.md's table, written out a second time.
var statuses = map[fault.Code]int{
	"AUTH_INVALID_CREDENTIALS": 401, "AUTH_USER_EXISTS": 409, "AUTH_RATE_LIMITED": 429, "AUTH_INVALID_TOKEN": 401,
	"AUTH_CSRF_REJECTED": 403, "AUTH_OAUTH_NOT_CONFIGURED": 501, "AUTH_OAUTH_STATE_INVALID": 400, "AUTH_OAUTH_FAILED": 401,
	"VALIDATION_FAILED": 400, "ACCESS_DENIED": 403,
	"PROJECT_NOT_FOUND": 404, "FILE_NOT_FOUND": 404, "WORKSPACE_NOT_FOUND": 404, "MEMBER_NOT_FOUND": 404, "USER_NOT_FOUND": 404,
	"SESSION_NOT_FOUND": 404, "COMMENT_NOT_FOUND": 404, "MESSAGE_NOT_FOUND": 404, "WEBHOOK_NOT_FOUND": 404, "DELIVERY_NOT_FOUND": 404,
	"ROUTE_NOT_FOUND": 404, "METHOD_NOT_ALLOWED": 405, "PRECONDITION_FAILED": 412, "CONFLICT": 409,
	"PAYLOAD_TOO_LARGE": 413, "UNSUPPORTED_MEDIA_TYPE": 415, "QUOTA_EXCEEDED": 402, "RATE_LIMITED": 429,
	"AI_UNAVAILABLE": 503, "AI_REFUSED": 422, "SERVICE_UNAVAILABLE": 503, "INTERNAL_ERROR": 500,
	"NO_SUCH_CODE": 500,
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	for code, status := range statuses {
		if got := code.Status(); got != status {
			t.Errorf("%s: %d, want %d", code, got, status)
		}
	}
}

func TestErrorsAreNotChangedInPlace(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	base := fault.New(fault.CodeConflict, "Met.")
	with := base.WithHeader("A", "1").WithHeader("A", "2").WithCause(cause)
	if base.Headers() != nil || base.Unwrap() != nil {
		t.Error("the first one was changed")
	}
	if got := with.Headers().Values("A"); len(got) != 2 || !errors.Is(with, cause) {
		t.Errorf("%v, %v", got, with)
	}
	if wrapped := fmt.Errorf("store: %w", with); !errors.Is(wrapped, base) || errors.Is(wrapped, fault.New(fault.CodeInternal, "")) {
		t.Error("errors.Is does not go by code")
	}
}

func TestHandlersErrorsBecomeAnswers(t *testing.T) {
	t.Parallel()
	router, log := newRouter(edgeOf())
	for name, want := range map[string]struct {
		status     int
		code       fault.Code
		retryAfter string
	}{
		"known":       {409, fault.CodeUserExists, ""},
		"wrapped":     {404, fault.CodeSessionNotFound, ""},
		"headers":     {429, fault.CodeAuthRateLimited, "7"},
		"conflict":    {409, fault.CodeConflict, ""},
		"storage":     {503, fault.CodeServiceUnavailable, "1"},
		"keys":        {503, fault.CodeServiceUnavailable, "1"},
		"not-found":   {500, fault.CodeInternal, ""},
		"unknown":     {500, fault.CodeInternal, ""},
		"unavailable": {500, fault.CodeInternal, ""},
	} {
		a := request{method: http.MethodGet, target: "/api/fail/" + name}.send(t, router)
		wantError(t, a, want.status, want.code)
		if got := a.header.Get("Retry-After"); got != want.retryAfter {
			t.Errorf("%s: Retry-After %q", name, got)
		}
	}
	for _, line := range log.lines(t) {
		if line["code"] == "INTERNAL_ERROR" && (line["level"] != "ERROR" || line["cause"] == nil) {
			t.Errorf("a fault whose cause the log does not have: %v", line)
		}
	}
}

func TestPanicsAndUnwritableAnswersAreCleanErrors(t *testing.T) {
	t.Parallel()
	router, log := newRouter(edgeOf())
	for _, path := range []string{"/api/panic", "/api/broken"} {
		a := request{method: http.MethodGet, target: path}.send(t, router)
		wantError(t, a, 500, fault.CodeInternal)
		if a.header.Get("X-Leak") != "" {
			t.Errorf("%s: the torn answer's headers", path)
		}
	}
	lines := log.lines(t)
	if len(lines) != 2 || lines[0]["cause"] == nil || lines[1]["cause"] == nil {
		t.Errorf("log: %v", lines)
	}
}
