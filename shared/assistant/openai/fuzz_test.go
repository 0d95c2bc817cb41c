package openai_test

import (
	"cmp"
	"net/http"
	"net/url"
	"testing"
	"time"

	"devplatform/shared/assistant/openai"
)

// FuzzRetryAfter checks that the wait is within its bounds for any header.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range [][3]string{
		{"120", "", ""}, {"0.5", "", ""}, {"", "1500", ""}, {"NaN", "Inf", ""}, {"-1", "-1e308", ""}, {"1e308", "1e308", ""}, {"0x1p62", "", ""},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "", "Fri, 30 Jan 2026 13:25:30 GMT"}, {"Fri, 30 Jan 2026 13:25:33 GMT", "x", "Fri, 30 Jan 2026 13:25:30 GMT"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, value, ms, date string) {
		wait := openai.RetryAfter(http.Header{"Retry-After": {value}, "Retry-After-Ms": {ms}, "Date": {date}})
		if wait < 0 || wait > 24*time.Hour {
			t.Fatalf("%q, %q at %q: %s", value, ms, date, wait)
		}
	})
}

// FuzzEndpoint checks that the endpoint of a base URL is on the same host.
func FuzzEndpoint(f *testing.F) {
	for _, seed := range []string{
		"https://api.openai.com/v1", "http://localhost:11434/v1/", "https://a.example/openai?api-version=1", "https://u:p@a.example", "ftp://a", "//a", "https://", "https://a/%zz", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, base string) {
		to, _, err := openai.Endpoint(base)
		if err != nil {
			return
		}
		from, errFrom := url.Parse(cmp.Or(base, "https://api.openai.com/v1"))
		led, errTo := url.Parse(to)
		if errFrom != nil || errTo != nil || led.Host == "" || led.Host != from.Host || led.Scheme != "https" && led.Scheme != "http" {
			t.Fatalf("%q leads to %q: %v, %v", base, to, errFrom, errTo)
		}
	})
}
