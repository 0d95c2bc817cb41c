package codehost

import (
	"net/url"
	"strings"
	"testing"
)

func TestAllowedRedirects(t *testing.T) {
	t.Parallel()
	registered, err := parseRedirects([]string{
		"http://localhost:3000/api/callback", "http://127.0.0.1:3000/api/", "http://[::1]/cb", "https://App.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{
		"http://localhost:3000/api/callback":                      true,
		"http://localhost:3000/api/callback/more?x=y":             true,
		"http://localhost:3001/api/callback":                      false, // localhost is not a loopback address
		"http://127.0.0.1:3000/api/callback":                      true,
		"http://127.0.0.1:51234/api/callback":                     true, // RFC 8252 §7.3
		"http://127.0.0.1/api":                                    true,
		"https://127.0.0.1:3000/api/callback":                     false,
		"http://127.0.0.2:3000/api/callback":                      false,
		"http://[::1]:9999/cb":                                    true,
		"http://[::1]:9999/cbx":                                   false,
		"https://app.example/anything":                            true,
		"https://app.example:443/":                                true,
		"https://app.example":                                     true,
		"https://app.example.evil/":                               false,
		"https://app.example/%2e%2e/x":                            false,
		"https://app.example/a%2Fb":                               false,
		"https://app.example/a//b":                                true,
		"//app.example/":                                          false,
		"https:app.example":                                       false,
		"https://app.example/ x":                                  false,
		"https://app.example/\r\nx":                               false,
		"https://app.example/" + strings.Repeat("a", maxRedirect): false,
		"": false,
	}
	for raw, want := range cases {
		if got := registered.allow(raw); got != want {
			t.Errorf("%q: %v", raw, got)
		}
	}
}

// FuzzAllowedRedirect checks that an allowed URI is below a registered one, also with the parameters of the response.
func FuzzAllowedRedirect(f *testing.F) {
	registered, err := parseRedirects([]string{"https://app.example/auth/callback"})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"https://app.example/auth/callback?a=b", "https://app.example/auth/callback/..", `https://app.example\x`, "https://app.example/auth/callback/%2e%2e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !registered.allow(raw) {
			return
		}
		to, err := url.Parse(withQuery(raw, url.Values{"code": {"c"}, "state": {"s"}}))
		if err != nil {
			t.Fatal(err)
		}
		to = to.JoinPath() // resolves dot segments as a browser would
		if to.Scheme != "https" || !strings.EqualFold(to.Hostname(), "app.example") || !strings.HasPrefix(to.Path+"/", "/auth/callback/") {
			t.Errorf("%q leads to %s", raw, to)
		}
		if q := to.Query(); !q.Has("code") && to.RawQuery != "" {
			t.Errorf("%q lost the code: %s", raw, to)
		}
	})
}
