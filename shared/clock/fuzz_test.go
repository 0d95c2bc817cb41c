package clock_test

import (
	"testing"
	"time"

	"devplatform/shared/clock"
)

// FuzzParseTimestamp checks that a time has only one valid form. Stored timestamps are compared as strings.
func FuzzParseTimestamp(f *testing.F) {
	for _, seed := range []string{
		"2026-01-31T08:15:30.123Z", "2026-01-31T08:15:30Z", "2026-02-30T08:15:30.123Z", "2026-01-31T24:00:00.000Z",
		"2026-01-31T08:15:60.000Z", "2026-01-31T08:15:30,123Z", "0000-01-01T00:00:00.000Z", "2026-01-31t08:15:30.123z",
		"2026-01-31T08:15:30.123+00:00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := clock.ParseTimestamp(s)
		if err == nil && (at.String() != s || !clock.Stamp(at.Time()).Equal(at) || at.Time().Location() != time.UTC) {
			t.Fatalf("%q was parsed as %s, want an error or the same text", s, at)
		}
	})
}
