package openai_test

import (
	"cmp"
	"net/url"
	"testing"

	"devplatform/shared/assistant/openai"
)

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
