// Package testmode reports how the tests run: in the short form of make check, in the full form of make nightly, or
// with the race detector. It imports only the standard library, so that small test binaries stay small.
package testmode

import (
	"os"
	"testing"
)

// IsNightly reports whether the long tests run in their full form, as in make nightly. Otherwise, they run in a short
// form.
func IsNightly() bool { return os.Getenv("NIGHTLY") != "" }

// SkipIfNotNightly skips a test that takes too long for each change, and has no short form.
func SkipIfNotNightly(t testing.TB) {
	t.Helper()
	if !IsNightly() {
		t.Skip("only in make nightly: it takes too long for each change")
	}
}

// SkipIfShort skips a test with -short, as in make check: the test takes seconds of processor time, or starts other
// programs.
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short: it takes seconds of processor time, or starts other programs")
	}
}
