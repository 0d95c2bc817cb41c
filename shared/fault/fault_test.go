package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"devplatform/shared/fault"
)

// statuses repeats fault.StatusOf, so that the test detects an accidental change of a status.
var statuses = map[fault.Code]int{
	"AUTH_INVALID_CREDENTIALS":  401,
	"AUTH_USER_EXISTS":          409,
	"AUTH_RATE_LIMITED":         429,
	"AUTH_INVALID_TOKEN":        401,
	"AUTH_CSRF_REJECTED":        403,
	"AUTH_OAUTH_NOT_CONFIGURED": 501,
	"AUTH_OAUTH_STATE_INVALID":  400,
	"AUTH_OAUTH_FAILED":         401,
	"VALIDATION_FAILED":         400,
	"ACCESS_DENIED":             403,
	"PROJECT_NOT_FOUND":         404,
	"FILE_NOT_FOUND":            404,
	"UPLOAD_NOT_FOUND":          404,
	"WORKSPACE_NOT_FOUND":       404,
	"MEMBER_NOT_FOUND":          404,
	"INVITATION_NOT_FOUND":      404,
	"USER_NOT_FOUND":            404,
	"SESSION_NOT_FOUND":         404,
	"IDENTITY_NOT_FOUND":        404,
	"COMMENT_NOT_FOUND":         404,
	"MESSAGE_NOT_FOUND":         404,
	"WEBHOOK_NOT_FOUND":         404,
	"DELIVERY_NOT_FOUND":        404,
	"EXPORT_NOT_FOUND":          404,
	"ROUTE_NOT_FOUND":           404,
	"METHOD_NOT_ALLOWED":        405,
	"PRECONDITION_FAILED":       412,
	"CONFLICT":                  409,
	"PAYLOAD_TOO_LARGE":         413,
	"UNSUPPORTED_MEDIA_TYPE":    415,
	"QUOTA_EXCEEDED":            402,
	"RATE_LIMITED":              429,
	"AI_UNAVAILABLE":            503,
	"AI_REFUSED":                422,
	"SERVICE_UNAVAILABLE":       503,
	"INTERNAL_ERROR":            500,
	"NO_SUCH_CODE":              500, // an unknown code

	"AUTH_REAUTHENTICATION_REQUIRED": 403,
}

func TestCodeStatus(t *testing.T) {
	t.Parallel()
	for code, status := range statuses {
		if got := code.Status(); got != status {
			t.Errorf("%s: got status %d, want %d", code, got, status)
		}
	}
}

func TestErrorsAreImmutable(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	base := fault.New(fault.CodeConflict, "Conflict.")
	changed := base.WithHeader("A", "1").WithHeader("A", "2").WithCause(cause)
	if base.Headers() != nil || base.Unwrap() != nil {
		t.Error("WithHeader or WithCause changed the original error")
	}
	if got := changed.Headers().Values("A"); len(got) != 2 {
		t.Errorf("got the headers %q, want both values", got)
	}
	if !errors.Is(changed, cause) {
		t.Errorf("errors.Is does not find the cause of %v", changed)
	}
	wrapped := fmt.Errorf("store: %w", changed)
	if !errors.Is(wrapped, base) || errors.Is(wrapped, fault.New(fault.CodeInternal, "")) {
		t.Error("errors.Is does not compare codes")
	}
}
