package provider_test

import (
	_ "embed"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/provider"
)

//go:embed testdata/faults.txt
var knownErrors string

func TestFaultsOfKnownErrors(t *testing.T) {
	t.Parallel()
	columns := regexp.MustCompile(`\s{2,}`)
	for line := range strings.Lines(knownErrors) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := columns.Split(strings.TrimSpace(line), 4)
		status, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		failure := provider.Failure{Status: status, Codes: strings.Split(fields[2], ","), Message: fields[3]}
		if got := failure.Fault(); string(got) != fields[0] {
			t.Errorf("%+v: got the fault %q, want %q", failure, got, fields[0])
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Sun, 22 Nov 2026 03:00:00 GMT"
	for _, tc := range []struct {
		ms, after, date string // the headers Retry-After-Ms, Retry-After and Date
		want            time.Duration
	}{
		{"", "", date, 0},
		{"", "7", date, 7 * time.Second},
		{"", "0.5", "", 0},
		{"1500", "7", date, 1500 * time.Millisecond},
		{"x", "7", date, 7 * time.Second},
		{"", "-7", date, 0},
		{"", "NaN", date, 0},
		{"", "1e300", date, 0},
		{"", "soon", date, 0},
		{"", "Sun, 22 Nov 2026 03:00:10 GMT", date, 10 * time.Second},
		{"", "Sunday, 22-Nov-26 03:00:10 GMT", date, 10 * time.Second},
		{"", "Sun, 22 Nov 2026 02:00:00 GMT", date, 0},
		{"", "Tue, 22 Nov 2050 03:00:00 GMT", date, 24 * time.Hour},
		{"", "Sun, 22 Nov 2026 03:00:10 GMT", "", 0},
	} {
		h := http.Header{}
		h.Set("Retry-After-Ms", tc.ms)
		h.Set("Retry-After", tc.after)
		h.Set("Date", tc.date)
		if got := provider.RetryAfter(h); got != tc.want {
			t.Errorf("%+v: got %v", tc, got)
		}
	}
}

// FuzzRetryAfter checks that the wait is within its bounds for any header.
func FuzzRetryAfter(f *testing.F) {
	const date = "Fri, 30 Jan 2026 13:25:30 GMT"
	for _, seed := range []struct{ value, ms, date string }{
		{value: "120"},
		{value: "0.5"},
		{ms: "1500"},
		{value: "NaN", ms: "Inf"},
		{value: "-1", ms: "-1e308"},
		{value: "1e308", ms: "1e308"},
		{value: "0x1p62"},
		{value: "Fri, 31 Dec 9999 23:59:59 GMT", date: date},
		{value: "Fri, 30 Jan 2026 13:25:33 GMT", ms: "x", date: date},
	} {
		f.Add(seed.value, seed.ms, seed.date)
	}
	f.Fuzz(func(t *testing.T, value, ms, date string) {
		wait := provider.RetryAfter(http.Header{"Retry-After": {value}, "Retry-After-Ms": {ms}, "Date": {date}})
		if wait < 0 || wait > 24*time.Hour {
			t.Fatalf("Retry-After %q, Retry-After-Ms %q, Date %q: got %s, want 0 to 24h", value, ms, date, wait)
		}
	})
}
