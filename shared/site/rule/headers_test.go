package rule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHeaders(t *testing.T) {
	t.Parallel()
	rules, warnings := ParseHeaders([]byte("\ufeff# all\r\n/*\r\n  x-frame-options: DENY\r\n\tX-Robots-Tag : noindex \n" +
		"content-security-policy: default-src 'self'; img-src https://x.example:8080\r\n\r\n/empty\n/a/:b/\nLink: </a.css>; rel=preload\n" +
		"Link: </b.css>; rel=preload\nX-XSS-Protection: 0\nCross-Origin-Opener-Policy: same-origin\nAccess-Control-Allow-Origin: *\n"))
	want := []Headers{
		{"/*", []Field{{"X-Frame-Options", "DENY"}, {"X-Robots-Tag", "noindex"},
			{"Content-Security-Policy", "default-src 'self'; img-src https://x.example:8080"}}},
		{"/a/:b", []Field{{"Link", "</a.css>; rel=preload, </b.css>; rel=preload"}, {"X-Xss-Protection", "0"},
			{"Cross-Origin-Opener-Policy", "same-origin"}, {"Access-Control-Allow-Origin", "*"}}},
	}
	if diff := cmp.Diff(want, rules); diff != "" || len(warnings) > 0 {
		t.Errorf("warnings %v; rules (-want +got):\n%s", warnings, diff)
	}
}

func TestRefusedHeaders(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"X-Frame-Options":                      "has the form",
		"X-Frame-Options:":                     "has the form",
		": DENY":                               "has the form",
		"X Frame: DENY":                        "has the form",
		"X-Fr\rame: DENY":                      "has the form",
		"! X-Frame-Options":                    "has the form",
		"X-Ä: a":                               "has the form",
		"X-" + strings.Repeat("a", 70) + ": a": "has the form",
		"https://a.example/*":                  "not with a URL",
		"Set-Cookie: a=b":                      "Set-Cookie cannot be set",
		"set-cookie: a=b":                      "Set-Cookie cannot be set",
		"Location: /x":                         "Location cannot be set",
		"Refresh: 0; url=/x":                   "Refresh cannot be set",
		"Content-Type: text/html":              "Content-Type cannot be set",
		"Cache-Control: no-store":              "Cache-Control cannot be set",
		"Content-Encoding: br":                 "Content-Encoding cannot be set",
		"Content-Length: 1":                    "Content-Length cannot be set",
		"Transfer-Encoding: chunked":           "Transfer-Encoding cannot be set",
		"Service-Worker-Allowed: /":            "Service-Worker-Allowed cannot be set",
		"Strict-Transport-Security: max-age=0": "Strict-Transport-Security cannot be set",
		"Clear-Site-Data: *":                   "Clear-Site-Data cannot be set",
		"Status: 200":                          "Status cannot be set",
		"Access-Control-: a":                   "Access-Control- cannot be set",
		"X-Content-Type-Options: x":            "X-Content-Type-Options cannot be set",
		"X-Deployment-Id: x":                   "X-Deployment-Id cannot be set",
		"x-amzn-remapped-date: x":              "X-Amzn-Remapped-Date cannot be set",
		"X-Amz-Cf-Id: x":                       "X-Amz-Cf-Id cannot be set",
		"X-Accel-Redirect: /x":                 "X-Accel-Redirect cannot be set",
		"X-Forwarded-For: 1.2.3.4":             "X-Forwarded-For cannot be set",
		"X-A: a\rSet-Cookie: b=c":              "visible ASCII",
		"X-A: a\x00":                           "visible ASCII",
		"X-A: é":                               "visible ASCII",
		"X-A: " + strings.Repeat("a", 2049):    "longer than 2048",
		"X-A: \xff":                            "not valid UTF-8",
	} {
		rules, warnings := ParseHeaders([]byte("/*\n  X-First: a\n  " + line + "\n  X-Last: b\n"))
		if len(rules) != 1 || len(rules[0].Fields) != 2 || len(warnings) != 1 || warnings[0].Line != 3 ||
			!strings.Contains(warnings[0].Text, want) {
			t.Errorf("%q: got %+v, %v, want a warning about line 3 with %q", line, rules, warnings, want)
		}
	}
	rules, warnings := ParseHeaders([]byte("X-A: a\n/a/*/b\n  X-A: a\n/a b\n/ok\n  X-A: a\n"))
	if got, want := fmt.Sprint(rules), "[{/ok [{X-A a}]}]"; got != want || len(warnings) != 4 {
		t.Errorf("got %s, %v, want %s and 4 warnings", got, warnings, want)
	}
}

// A rule and a response have a limited size.
func TestLargeHeaders(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("a", 2000)
	var text strings.Builder
	for i := range 150 {
		fmt.Fprintf(&text, "/%d\n  X-A: a\n", i)
	}
	if rules, warnings := ParseHeaders([]byte(text.String())); len(rules) != maxRules || len(warnings) != maxWarnings+1 {
		t.Errorf("got %d rules and %d warnings", len(rules), len(warnings))
	}
	for _, text := range []string{
		"/*\n" + strings.Repeat("X-%d: "+value+"\n", 5), "/*\n" + strings.Repeat("X-%d: a\n", 31),
		"/*\n" + strings.Repeat("Link: "+value[:1000]+"\n", 3),
	} {
		for i := range 31 {
			text = strings.Replace(text, "%d", fmt.Sprint(i), 1)
		}
		rules, warnings := ParseHeaders([]byte(text))
		if len(rules) != 1 || len(warnings) != 1 || warnings[0].Line != strings.Count(text, "\n") {
			t.Errorf("%.20q: got %d rules and %v, want a warning about the last line", text, len(rules), warnings)
		}
	}
	rules, _ := ParseHeaders([]byte("/*\nX-A: " + value + "\nX-B: " + value + "\n/a\nX-C: " + value + "\nX-D: " + value +
		"\nX-E: " + value + "\nX-A: b\nX-F: " + value + "\n/b\nX-E: " + value + "\n"))
	fields, fits := HeadersOf(rules, "/a", 0)
	names := ""
	for _, f := range fields {
		names += " " + f.Name + " " + f.Value[:1]
	}
	if names != " X-A b X-B a X-C a X-D a X-F a" || fits || sizeOf(fields) > maxResponse {
		t.Errorf("got%s, %d bytes, fits %v", names, sizeOf(fields), fits)
	}
	if fields, fits := HeadersOf(rules, "/b", 5000); len(fields) != 1 || fits {
		t.Errorf("beside 5,000 bytes: got %d headers, fits %v", len(fields), fits)
	}
	if fields, fits := HeadersOf(rules, "/b", 0); len(fields) != 3 || !fits {
		t.Errorf("got %d headers, fits %v", len(fields), fits)
	}
}

func TestHeadersOf(t *testing.T) {
	t.Parallel()
	rules, warnings := ParseHeaders([]byte("/*\nX-A: all\nX-B: all\n/docs/*\nX-A: docs\n/docs/:page\nX-C: page\n/%C3%A9\nX-A: é\n/\nX-A: root"))
	for path, want := range map[string]string{
		"/": "[{X-A root} {X-B all}]", "/x": "[{X-A all} {X-B all}]", "//x": "[{X-A all} {X-B all}]",
		"/docs": "[{X-A docs} {X-B all}]", "/docs/a/": "[{X-A docs} {X-B all} {X-C page}]",
		"/docs/a/b": "[{X-A docs} {X-B all}]", "": "[]", "x": "[]",
	} {
		if fields, fits := HeadersOf(rules, path, 0); fmt.Sprint(fields) != want || !fits {
			t.Errorf("%q: got %v, want %s", path, fields, want)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "visible ASCII") {
		t.Errorf("got %v, want a warning about the value é", warnings)
	}
}
