package runtime_test

import (
	"errors"
	"strings"
	"testing"

	"devplatform/infra/local/runtime"
)

// Check returns the reason why a function does not start, and nothing for one that does.
func TestCheck(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"function": "", "init-exit": "no configuration", "init-error": "no table", "init-panic": "panic: no settings",
		"unknown": "unknown mode unknown",
	} {
		var bootstrap string
		r := start(t, func(o *runtime.Options) {
			o.Functions[0].Env = map[string]string{modeVariable: mode}
			bootstrap = o.Functions[0].Bootstrap
		})
		got := ""
		if err := r.Check(t.Context(), "echo", bootstrap); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got the error %q, want %q", mode, got, want)
		}
	}
	r := start(t, nil)
	if err := r.Check(t.Context(), "echo", "/no/such/file"); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("without a binary: got the error %v", err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(t.Context(), "echo", "/no/such/file"); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("after Close: got the error %v", err)
	}
}
