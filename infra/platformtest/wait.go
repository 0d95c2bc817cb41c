package platformtest

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"devplatform/infra/testmode"
)

// patience limits the wait for a condition that is met at once on an idle machine.
const patience = time.Minute

// Eventually waits up to a minute until condition returns true. The error message of the test contains description,
// which is a text about the condition.
func Eventually(t testing.TB, description string, condition func() bool) {
	t.Helper()
	EventuallyWithin(t, patience, description, condition)
}

// EventuallyWithin does the same as Eventually with another limit. The time between two calls of condition grows, so
// that a long wait does not slow down what the test waits for.
func EventuallyWithin(t testing.TB, limit time.Duration, description string, condition func() bool) {
	t.Helper()
	deadline := time.After(limit)
	for wait := 10 * time.Millisecond; !condition(); wait = min(wait*5/4, 500*time.Millisecond) {
		select {
		case <-deadline:
			t.Fatalf("the condition was not met within %v: %s", limit, description)
		case <-time.After(wait):
		}
	}
}

// Required returns the path of a command-line tool. If the tool is not installed, it skips the test, or fails it in CI.
// With -short, it skips the test.
func Required(t testing.TB, tool string) string {
	t.Helper()
	testmode.SkipIfShort(t)
	path, err := exec.LookPath(tool)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s must be installed in CI: %v", tool, err)
	}
	t.Skipf("%s is not installed", tool)
	return ""
}
