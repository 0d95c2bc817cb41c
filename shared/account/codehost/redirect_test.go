package codehost

import (
	"strings"
	"testing"

	"devplatform/shared/config"
)

var redirectOrigins = []config.Origin{"https://app.example.com", "http://localhost:5173"}

func TestCleanRedirect(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{
		"":                          "/",
		"/":                         "/",
		"/projects":                 "/projects",
		"/p?q=1&next=https://x.y/z": "/p?q=1&next=https://x.y/z",
		"/p#frag":                   "/p#frag",
		"/café":                     "/caf%C3%A9",
		"/a%20b":                    "/a%20b",
		"/100%25":                   "/100%25",
	}
	for raw, want := range map[string]string{
		"https://app.example.com":                "https://app.example.com/",
		"https://app.example.com/":               "https://app.example.com/",
		"https://app.example.com?x=1":            "https://app.example.com/?x=1",
		"https://app.example.com/p?q=1#frag":     "https://app.example.com/p?q=1#frag",
		"http://localhost:5173/p":                "http://localhost:5173/p",
		"https://app.example.com/p?to=http://x/": "https://app.example.com/p?to=http://x/",
	} {
		allowed[raw] = want
	}
	for raw, want := range allowed {
		if got, ok := cleanRedirect(raw, redirectOrigins); !ok || got != want {
			t.Errorf("cleanRedirect(%q) = %q, %v; want %q, true", raw, got, ok, want)
		}
	}
	rejected := []string{
		"//evil.example", "///evil.example", `/\evil.example`, `\/evil.example`, `\\evil.example`, "https://evil.example",
		"javascript:alert(1)", "evil.example", "?x", "#x", " /x",
		"/\t/evil.example", "/\n/evil.example", "/\x00", "/x\r\nSet-Cookie: a=b", "/\u0085x", "/\xff",
		"/%2f/evil.example", "/%5cevil.example", "/%2F%2Fevil.example", "/%252f%252fevil.example", "/%09/evil.example",
		"/x%0d%0aSet-Cookie:a=b", "/%zz", "/.//evil.example", "/" + strings.Repeat("a", maxRedirectBytes),
		"http://app.example.com/", "https://app.example.com:444/", "https://app.example.com.evil.example/",
		"https://app.example.com@evil.example/", "https://u:p@app.example.com/", "https://evil.example/app.example.com",
		"https://sub.app.example.com/", "https:/app.example.com/", "https:app.example.com", "https://", "https:///x",
		`https:\\app.example.com/`, `https://app.example.com\@evil.example/`, "https://app.example.com\t.evil.example/",
		" https://app.example.com/", "//app.example.com/", "http://localhost/", "http://localhost:5174/",
		"https://app.example.com//evil.example", "https://app.example.com/%2f/x", "https://app.example.com/%5cx",
		"javascript://app.example.com/%0aalert(1)", "https://app.example.com/" + strings.Repeat("a", maxRedirectBytes),
	}
	for _, raw := range rejected {
		if got, ok := cleanRedirect(raw, redirectOrigins); ok {
			t.Errorf("cleanRedirect(%q) = %q, true; want false", raw, got)
		}
	}
}

// FuzzCleanRedirect checks that every allowed redirect is a path of this origin or a URL of an allowed origin, and is
// not changed when it is cleaned again.
func FuzzCleanRedirect(f *testing.F) {
	for _, seed := range []string{"/x", "//x", `/\x`, "/%2f/x", "/a?b#c", "https://app.example.com/x", "https://app.example.com@x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		cleaned, ok := cleanRedirect(raw, redirectOrigins)
		if !ok {
			return
		}
		path := cleaned
		for _, origin := range redirectOrigins {
			path = strings.TrimPrefix(path, string(origin))
		}
		if path == "" || path[0] != '/' || (len(path) > 1 && (path[1] == '/' || path[1] == '\\')) {
			t.Fatalf("cleanRedirect(%q) = %q, which is not a path of an allowed origin", raw, cleaned)
		}
		again, ok := cleanRedirect(cleaned, redirectOrigins)
		if !ok && len(cleaned) <= maxRedirectBytes || ok && again != cleaned { // escaping can make the path too long
			t.Fatalf("cleanRedirect(%q) = %q, %v; want no change", cleaned, again, ok)
		}
	})
}
