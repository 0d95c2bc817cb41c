package rule

import (
	"net/url"
	"strings"
	"testing"
)

// Whatever the rules, the path and the query are, a redirect leads to a path of the site or to the host of its rule.
func FuzzRedirects(f *testing.F) {
	for _, rules := range []string{
		"/a/* /:splat", "/:a/:b https://example.com/:b?q=:a#:a", "/* /:splat/x 302", "/a* /:splat:splat",
		"/* //x", "/* /\\x", "/%2f* /x", "/:x /x?:x", "/* https://:splat.example",
	} {
		f.Add(rules, "/a//evil.example", "x=1")
		f.Add(rules, "/a/\\evil.example", "\r\nx: y")
		f.Add(rules, "/é/../b", "#")
	}
	f.Fuzz(func(t *testing.T, text, path, query string) {
		rules, _ := ParseRedirects([]byte(text), func(string) bool { return true })
		for _, rule := range rules {
			r, ok := Apply([]Redirect{rule}, Request{Path: path, Query: query}, func(path string) string { return path })
			if !ok {
				continue
			}
			if r.Location == "" {
				if !strings.HasPrefix(r.File, "/") || strings.HasPrefix(r.File, "//") && !strings.Contains(rule.To, "%2") {
					t.Errorf("%+v with %q: got the file %q", rule, path, r.File)
				}
				continue
			}
			if strings.ContainsFunc(r.Location, func(c rune) bool { return c <= ' ' || c > '~' || c == '\\' }) ||
				len(r.Location) > MaxLocation {
				t.Errorf("%+v with %q: got %q", rule, path, r.Location)
			}
			u, err := url.Parse(r.Location)
			switch isPath := strings.HasPrefix(rule.To, "/"); {
			case err != nil:
				if !strings.Contains(err.Error(), "invalid URL escape") {
					t.Errorf("%+v with %q: %v", rule, path, err)
				}
			case isPath && (u.Scheme != "" || u.Host != "" || r.Location[0] != '/' || strings.HasPrefix(r.Location, "//")):
				t.Errorf("%+v with %q: got %q, want a path", rule, path, r.Location)
			case !isPath && (u.Scheme+"://"+u.Host != splitTarget(rule.To).origin || u.User != nil):
				t.Errorf("%+v with %q: got %q, want its host", rule, path, r.Location)
			case isPath && u.Path == path:
				t.Errorf("%+v with %q: got a loop", rule, path)
			}
		}
	})
}

// Whatever the rules are, the headers are valid, allowed and not larger than the limit.
func FuzzHeaders(f *testing.F) {
	f.Add("/*\n  X-Frame-Options: DENY\n  Set-Cookie: a=b\r  Link: c\n/a/:b\n X-A: "+strings.Repeat("a", 2000), "/a/b")
	f.Fuzz(func(t *testing.T, text, path string) {
		rules, _ := ParseHeaders([]byte(text))
		fields, _ := HeadersOf(rules, path, 0)
		seen := map[string]bool{}
		for _, field := range fields {
			if seen[field.Name] || !allowedNames.MatchString(field.Name) || reservedNames.MatchString(field.Name) ||
				strings.ContainsFunc(field.Value, func(c rune) bool { return c < ' ' || c > '~' }) || field.Value == "" {
				t.Errorf("got the header %+v", field)
			}
			seen[field.Name] = true
		}
		if sizeOf(fields) > maxResponse {
			t.Errorf("got %d bytes", sizeOf(fields))
		}
	})
}
