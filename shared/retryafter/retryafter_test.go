package retryafter_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/shared/retryafter"
)

const year = 365 * 24 * time.Hour

func TestParse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 8, 15, 0, 500_000_000, time.UTC) // half a second after 08:15
	for value, want := range map[string]time.Duration{
		"0":                                0,
		"1":                                time.Second,
		"7":                                7 * time.Second,
		"120":                              2 * time.Minute,
		"000120":                           2 * time.Minute,
		"31536000":                         year, // exactly one year
		"31536001":                         year,
		"9223372037":                       year, // exceeds time.Duration
		"9223372036854775807":              year, // math.MaxInt64
		"99999999999999999999":             year, // exceeds int64
		"Sat, 31 Jan 2026 08:15:01 GMT":    500 * time.Millisecond,
		"Sat, 31 Jan 2026 08:15:00 GMT":    0,
		"Thu, 01 Jan 1970 00:00:00 GMT":    0,
		"Saturday, 31-Jan-26 09:15:00 GMT": time.Hour - 500*time.Millisecond,
		"Sat Jan 31 08:16:00 2026":         time.Minute - 500*time.Millisecond,
		"Fri, 31 Dec 9999 23:59:59 GMT":    year,
	} {
		if got, ok := retryafter.Parse(value, now); got != want || !ok {
			t.Errorf("%q: got %s, %v, want %s", value, got, ok, want)
		}
	}
	for _, value := range []string{
		"", "-5", "+5", "1.5", "1e3", "5s", "soon", "NaN", " 5", "5 ",
		"１", "٣", // digits that are not ASCII
		"Sat, 31 Jan 2026 08:15:01 CET", // an HTTP date is in GMT
	} {
		if got, ok := retryafter.Parse(value, now); got != 0 || ok {
			t.Errorf("%q: got %s, %v, want an invalid value", value, got, ok)
		}
	}
}

func TestParseWithoutCurrentTime(t *testing.T) {
	t.Parallel()
	if got, ok := retryafter.Parse("Sun, 22 Nov 2026 03:00:00 GMT", time.Time{}); got != 0 || ok {
		t.Errorf("date: got %s, %v, want an invalid value", got, ok)
	}
	if got, ok := retryafter.Parse("7", time.Time{}); got != 7*time.Second || !ok {
		t.Errorf("seconds: got %s, %v, want 7s", got, ok)
	}
}

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(-1<<37, 1<<37).Draw(t, "now"), 0) // 4355 years before and after 1970
		got, ok := retryafter.Parse(rapid.String().Draw(t, "value"), now)
		if got < 0 || got > year || !ok && got != 0 {
			t.Fatalf("got %s, %v, want 0 to 1 year, and 0 for an invalid value", got, ok)
		}
	})
}

// FuzzParse checks that the wait is from 0 to 1 year, that a number of seconds results in a wait of that many seconds,
// at most 1 year, and that a date results in a wait only if it is after now.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"120", "0", "-1", "99999999999999999999", "1e3", "Fri, 31 Dec 1999 23:59:59 GMT", "Sun Nov  6 08:49:37 1994",
		"Sunday, 06-Nov-94 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 30 Jan 2026 13:25:33 GMT", " 5", "5 ", "٣",
	} {
		f.Add(seed, int64(1769779530)) // 2026-01-30T13:25:30Z
	}
	f.Fuzz(func(t *testing.T, value string, unix int64) {
		now := time.Unix(unix%(1<<35), 0) // the years 881 to 3058
		wait, ok := retryafter.Parse(value, now)
		if wait < 0 || wait > year || !ok && wait != 0 {
			t.Fatalf("%q at %s: got %s, %v, want 0 to 1 year, and 0 for an invalid value", value, now, wait, ok)
		}
		seconds, err := strconv.ParseUint(value, 10, 64)
		const moreThanYear = 1e9 // so that the conversion to time.Duration does not overflow
		if err == nil && (!ok || wait != min(year, time.Duration(min(seconds, moreThanYear))*time.Second)) {
			t.Fatalf("%q: got %s, %v, want %d seconds, at most 1 year", value, wait, ok, seconds)
		}
		if at, err := http.ParseTime(value); err == nil && (!ok || at.After(now) != (wait > 0)) {
			t.Fatalf("%q at %s: got %s, %v, want a wait only for a later date", value, now, wait, ok)
		}
	})
}
