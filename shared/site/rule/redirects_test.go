package rule

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// site is the files of a site by the paths that show them.
var site = map[string]string{
	"/": "/index.html", "/index.html": "/index.html", "/app": "/app.html", "/gone": "/gone.html",
	"/blog/one.html": "/blog/one.html", "/404.html": "/404.html", "/é b": "/é b.html",
}

func hasFile(path string) bool { return site[path] != "" }

func find(path string) string { return site[path] }

func TestParseRedirects(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Redirect{
		"/a /b":                           {"/a", "/b", 301},
		"/a\t /b  302":                    {"/a", "/b", 302},
		"/a/ /b/ 303 # why":               {"/a", "/b/", 303},
		"/a /b#part 307":                  {"/a", "/b#part", 307},
		"/a /b?x=1 308":                   {"/a", "/b?x=1", 308},
		"/ /b":                            {"/", "/b", 301},
		"/* /index.html 200":              {"/*", "/index.html", 200},
		"/* /404.html 404":                {"/*", "/404.html", 404},
		"/a/* /b/:splat":                  {"/a/*", "/b/:splat", 301},
		"/a* /b/:splat":                   {"/a*", "/b/:splat", 301},
		"/:a/:b_2/c /:b_2/:a":             {"/:a/:b_2/c", "/:b_2/:a", 301},
		"/a/:x /s?q=:x#:x":                {"/a/:x", "/s?q=:x#:x", 301},
		"/%C3%A9%20b/é /%c3%A9/é":         {"/é b/é", "/%c3%A9/%C3%A9", 301},
		"/a /Special%3ASearch":            {"/a", "/Special%3ASearch", 301},
		"/a HTTPS://Example.COM":          {"/a", "https://example.com/", 301},
		"/a https://example.com:8443/b?c": {"/a", "https://example.com:8443/b?c", 301},
		"/a https://example.com?c":        {"/a", "https://example.com/?c", 301},
		"/a/* https://x-1.co/:splat 302":  {"/a/*", "https://x-1.co/:splat", 302},
		"/a /app 200":                     {"/a", "/app", 200},
		"/b/:x /blog/:x.html 200":         {"/b/:x", "/blog/:x.html", 200},
		"/a /%C3%A9%20b 200":              {"/a", "/%C3%A9%20b", 200},
		"/a /b|c<d>\"^`{}":                {"/a", "/b%7Cc%3Cd%3E%22%5E%60%7B%7D", 301},
		"/a /a/":                          {"/a", "/a/", 301},
	} {
		rules, warnings := ParseRedirects([]byte("\ufeff# a comment\r\n\r\n  "+line+" \r\n"), hasFile)
		if len(rules) != 1 || rules[0] != want || len(warnings) > 0 {
			t.Errorf("%q: got %+v, %v, want %+v", line, rules, warnings, want)
		}
	}
}

func TestRefusedRedirects(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/a":                                    "has the form",
		"/a /b 301 x":                           "has the form",
		"/a id=:id /b":                          "must be",
		"/a /b 301!":                            "! after a status",
		"/a /b 200!":                            "! after a status",
		"/a /b 305":                             "the status must be",
		"/a /b -301":                            "the status must be",
		"a /b":                                  "must begin with one slash",
		"https://a.example/b /c":                "must begin with one slash",
		"//a /b":                                "must begin with one slash",
		"/a//b /b":                              "must begin with one slash",
		"/a?b=1 /b":                             "no query",
		"/a/*/b /b":                             "* is allowed once",
		"/*/* /b":                               "* is allowed once",
		"/a%2Fb /b":                             "%2F",
		"/a%2A /b":                              "%2A",
		"/a%zz /b":                              "% must be followed",
		"/a%0Ab /b":                             "control characters",
		"/a\\b /b":                              "control characters",
		"/a%5Cb /b":                             "control characters",
		"/a/../b /b":                            "segments . and ..",
		"/a/%2e%2E/b /b":                        "segments . and ..",
		"/: /b":                                 "a placeholder such as",
		"/:1 /b":                                "a placeholder such as",
		"/:a-b /b":                              "a placeholder such as",
		"/:a* /b":                               "a placeholder such as",
		"/%3Aa /b":                              "a placeholder such as",
		"/:a/:a /b":                             "occurs twice",
		"/:splat/* /b":                          "occurs twice",
		"/a /:b":                                ":b does not occur",
		"/:a /:ab":                              ":ab does not occur",
		"/* /" + strings.Repeat(":splat", 21):   "more than 20 placeholders",
		"/a /:splat":                            ":splat does not occur",
		"/a b":                                  "begins with one slash",
		"/a //evil.example":                     "begins with one slash",
		"/a /\\evil.example":                    "control characters",
		"/a \\\\evil.example":                   "begins with one slash",
		"/a http://example.com":                 "begins with one slash",
		"/a javascript:alert(1)":                "begins with one slash",
		"/a https:example.com":                  "begins with one slash",
		"/a https:/example.com":                 "begins with one slash",
		"/a https:///example.com":               "the host of the target",
		"/a https://":                           "the host of the target",
		"/* https://:splat":                     "the host of the target",
		"/* https://:splat.example":             "the host of the target",
		"/* https://example.com:splat/":         "the host of the target",
		"/* https://example.com:splat":          "the host of the target",
		"/a https://user@example.com":           "the host of the target",
		"/a https://example.com\\@b.com":        "the host of the target",
		"/a https://bücher.example":             "the host of the target",
		"/a https://a..b/":                      "the host of the target",
		"/a https://-a.b/":                      "the host of the target",
		"/a https://[::1]/":                     "the host of the target",
		"/a https://example.com/b 200":          "must be a path of the site",
		"/a https://example.com/b 404":          "must be a path of the site",
		"/a /app?x 200":                         "must be a path of the site",
		"/a /missing 200":                       "has no file for /missing",
		"/a /missing 404":                       "has no file for /missing",
		"/a /b/../c":                            "segments . and ..",
		"/a /b/%2E./c":                          "segments . and ..",
		"/a /b%4":                               "% must be followed",
		"/a /a":                                 "leads to itself",
		"/a/ /a?x=1 302":                        "leads to itself",
		"/:x /:x?y=1":                           "leads to itself",
		"/é /%C3%A9":                            "leads to itself",
		"/a /b\x00":                             "control characters",
		"/\xff /b":                              "not valid UTF-8",
		"/" + strings.Repeat("a", 600) + " /b":  "longer than 512",
		"/a /" + strings.Repeat("a", 3000):      "longer than 2048",
		"/a /b #" + strings.Repeat("a", 10_000): "longer than 4096",
	} {
		rules, warnings := ParseRedirects([]byte("/first /rule\n\n"+line+"\n/last /rule"), hasFile)
		if len(rules) != 2 || len(warnings) != 1 || warnings[0].Line != 3 || !strings.Contains(warnings[0].Text, want) {
			t.Errorf("%q: got %+v, %v, want a warning about line 3 with %q", line, rules, warnings, want)
		}
	}
}

// A file has at most 100 rules, and a limited number of warnings.
func TestManyRules(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 150 {
		fmt.Fprintf(&text, "/%d /to\n", i)
	}
	rules, warnings := ParseRedirects([]byte(text.String()), hasFile)
	if len(rules) != maxRules || rules[maxRules-1].From != "/99" || len(warnings) != maxWarnings+1 {
		t.Errorf("got %d rules and %d warnings", len(rules), len(warnings))
	}
	if last := warnings[maxWarnings]; last.Line != 131 || !strings.Contains(last.Text, "19 further") {
		t.Errorf("got the last warning %+v, want line 131 and 19 further lines", last)
	}
	rules, warnings = ParseRedirects([]byte("/a /b\n#"+strings.Repeat("x\n/c ", 1<<20)), hasFile)
	if len(rules) != 1 || len(warnings) != maxWarnings+1 || !strings.Contains(warnings[0].Text, "512 KiB") {
		t.Errorf("got %d rules and the warnings %v", len(rules), warnings)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	rules := func(text string) []Redirect {
		t.Helper()
		all, warnings := ParseRedirects([]byte(text), hasFile)
		if len(warnings) > 0 {
			t.Fatal(warnings)
		}
		return all
	}
	long, escaped := strings.Repeat("é", 512), strings.Repeat("%C3%A9", 512)
	for _, tc := range []struct{ rules, path, query, want string }{
		{"/a /b", "/a", "", "301 /b"},
		{"/a /b", "/a/", "", "301 /b"},
		{"/a /b", "/a/c", "", ""},
		{"/a /b", "/A", "", ""},
		{"/a/b /c", "/a", "", ""},
		{"/ /b", "/", "", "301 /b"},
		{"/a /b\n/a /c", "/a", "", "301 /b"},
		{"/a /b 307", "/a", "x=1&y=%20", "307 /b?x=1&y=%20"},
		{"/a /b?z=0#part", "/a", "x=1", "301 /b?z=0&x=1#part"},
		{"/a https://example.com", "/a", "x=1", "301 https://example.com/?x=1"},
		{"/a /b", "/a", "x=\r\nSet-Cookie: a=b\"<é", "301 /b?x=%0D%0ASet-Cookie:%20a=b%22%3C%C3%A9"},
		{"/a /b", "/a", "#x\\y", "301 /b?%23x%5Cy"},
		{"/a /b", "/a", strings.Repeat("x", 9000), ""},
		{"/a/* /b/:splat", "/a", "", "301 /b/"},
		{"/a/* /b/:splat", "/a/", "", "301 /b/"},
		{"/a/* /b/:splat", "/a/c/d/", "", "301 /b/c/d/"},
		{"/a/* /b/:splat", "/ac", "", ""},
		{"/a* /b/:splat", "/ac/d", "", "301 /b/c/d"},
		{"/* /b/:splat", "/", "", "301 /b/"},
		{"/* https://example.com/:splat", "/a b/é?#%", "", "301 https://example.com/a%20b/%C3%A9%3F%23%25"},
		{"/:a/x/:b /:b/:a?q=:a#:b", "/1 &=/x/ü#", "", "301 /%C3%BC%23/1%20&=?q=1+%26%3D#%C3%BC%23"},
		{"/:a/x /y", "/x", "", ""},
		{"/a/:x /b", "/a/", "", ""},
		{"/a/:x /b/:x", "/a/:x", "", "301 /b/:x"},
		// No host comes from the request.
		{"/a/* /:splat", "/a/evil.example", "", "301 /evil.example"},
		{"/a/* /:splat", "/a/\\evil.example", "", "301 /%5Cevil.example"},
		{"/a/* /:splat", "/a/\t/evil.example", "", "301 /%09/evil.example"},
		{"/a/* /:splat/evil.example", "/a/", "", "301 /evil.example"},
		{"/a/* /:splat:splat:splat/x", "/a/", "", "301 /x"},
		{"/a/:x /:x", "/a/https:", "", "301 /https:"},
		// A browser does not leave the folder of the target.
		{"/a/* https://example.com/b/:splat", "/a/../c", "", ""},
		{"/a/* https://example.com/b/:splat", "/a/.", "", ""},
		{"/a/* https://example.com/b/:splat", "/a/%2e%2e/c", "", "301 https://example.com/b/%252e%252e/c"},
		// A rule does not lead to the path of the request, so the next one applies.
		{"/* /home", "/home", "", ""},
		{"/* /:splat", "/x/y", "", ""},
		{"/* /h%6Fme\n/home /b", "/home", "", "301 /b"},
		{"/a/* /a", "/a/b", "", "301 /a"},
		{"/a/* /a", "/a", "", ""},
		{"/* https://example.com/:splat", "/x", "", "301 https://example.com/x"},
		// Files.
		{"/* /index.html 200", "/any", "x=1", "200 /index.html"},
		{"/x /gone 404", "/x", "", "404 /gone.html"},
		{"/b/:x /blog/:x.html 200\n/* /app 200", "/b/one", "", "200 /blog/one.html"},
		{"/b/:x /blog/:x.html 200\n/* /app 200", "/b/two", "", "200 /app.html"},
		{"/b/* /:splat 200", "/b/é b", "", "200 /é b.html"},
		{"/b/* /:splat 200", "/b//app", "", "200 /app.html"},
		{"/b/* /:splat 200", "/b/b/app", "", ""}, // one step
		// A long path does not become an arbitrarily long response.
		{"/* /b/:splat?a=:splat", "/" + long, "", "301 /b/" + escaped + "?a=" + escaped},
		{"/* /" + strings.Repeat(":splat", 20), "/" + long, "", ""},
		{"/* /" + strings.Repeat(":splat", 20) + " 200", "/" + long, "", ""},
	} {
		got := ""
		if r, ok := Apply(rules(tc.rules), Request{Path: tc.path, Query: tc.query}, find); ok {
			got = fmt.Sprint(r.Status, " ", r.File, r.Location)
		}
		if got != tc.want {
			t.Errorf("%.200q with %.50q: got %.200q, want %.200q", tc.rules, tc.path, got, tc.want)
		}
	}
	some := rules("/* /index.html 200\n/assets/old.js /app 200")
	if r, ok := Apply(some, Request{Path: "/assets/old.js", Below: "/assets/"}, find); !ok || r.File != "/app.html" {
		t.Errorf("got %+v, want the rule for /assets", r)
	}
	if r, ok := Apply(some, Request{Path: "/assets/x.js", Below: "/assets/"}, find); ok {
		t.Errorf("got %+v, want no rule", r)
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ path, query, want string }{
		{"/a b/", "", "/a%20b/"}, {"/é?#/", "x=1&y=%20", "/%C3%A9%3F%23/?x=1&y=%20"},
		{"/a", "\r\nX: y", "/a?%0D%0AX:%20y"}, {"/\\a", "", "/%5Ca"},
	} {
		if got, ok := Location(tc.path, tc.query); got != tc.want || !ok {
			t.Errorf("%q: got %q, %v, want %q", tc.path, got, ok, tc.want)
		}
	}
	if got, ok := Location("/a", strings.Repeat("x", MaxLocation)); ok {
		t.Errorf("got a location of %d bytes, want none", len(got))
	}
}

func TestPlaceholderOrder(t *testing.T) {
	t.Parallel()
	var values []value
	if !match("/:a/b/:c/*", "/1/b/2/3/4", &values) {
		t.Fatal("the pattern does not match")
	}
	want := []value{{"a", "1"}, {"c", "2"}, {"splat", "3/4"}}
	if !slices.Equal(values, want) {
		t.Error(cmp.Diff(fmt.Sprint(want), fmt.Sprint(values)))
	}
}
