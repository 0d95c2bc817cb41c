package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"devplatform/shared/fault"
)

func TestUnknownCode(t *testing.T) {
	t.Parallel()
	if status := fault.Code("NO_SUCH_CODE").Status(); status != 500 {
		t.Errorf("got status %d, want 500", status)
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
