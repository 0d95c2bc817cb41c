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
		wait := openai.RetryAfter(http.Header{"Retry-After": {value}, "Retry-After-Ms": {ms}, "Date": {date}})
		if wait < 0 || wait > 24*time.Hour {
			t.Fatalf("Retry-After %q, Retry-After-Ms %q, Date %q: got %s, want 0 to 24h", value, ms, date, wait)
		}
	})
}

// FuzzEndpoint checks that the endpoint of a base URL is on the same host.
func FuzzEndpoint(f *testing.F) {
	for _, seed := range []string{
		"https://api.openai.com/v1",
		"http://localhost:11434/v1/",
		"https://a.example/openai?api-version=1",
		"https://u:p@a.example",
		"ftp://a",
		"//a",
		"https://",
		"https://a/%zz",
		"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, base string) {
		endpoint, _, err := openai.Endpoint(base)
		if err != nil {
			return
		}
		want, errBase := url.Parse(cmp.Or(base, "https://api.openai.com/v1"))
		got, errEndpoint := url.Parse(endpoint)
		if errBase != nil || errEndpoint != nil {
			t.Fatalf("%q has the endpoint %q: got errors %v and %v", base, endpoint, errBase, errEndpoint)
		}
		if got.Host == "" || got.Host != want.Host || got.Scheme != "https" && got.Scheme != "http" {
			t.Fatalf("%q has the endpoint %q, want the same host", base, endpoint)
		}
	})
}
