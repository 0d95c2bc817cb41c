package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/site"
	"devplatform/shared/site/rule"
)

// The rules of _redirects and _headers are stored with the manifest. A line without effect is a warning with its line.
func TestRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	value := strings.Repeat("a", 2000)
	p := f.newUser("ada").newProject(map[string]string{
		"/index.html": "Hello", "/docs/index.html": "Docs",
		"/_redirects": "# rules\n/a /index 200\n/b /docs/ 200\n/c /missing 200\n/d https://example.com/:x\n/e/* /:splat",
		"/public/_headers": "/*\n  X-Frame-Options: DENY\n  Set-Cookie: a=b\n/docs/*\nX-A: " + value + "\nX-B: " + value +
			"\nX-C: " + value + "\nX-D: " + value + "\n",
	})
	d := p.deploy()
	var m site.Manifest
	for _, a := range p.addresses() {
		m = f.manifest(a)
	}
	first := rule.Headers{Path: "/*", Fields: []rule.Field{{Name: "X-Frame-Options", Value: "DENY"}}}
	if len(m.Files) != 2 || len(m.Headers) != 2 || !cmp.Equal(m.Headers[0], first) {
		t.Errorf("got %+v, want two files and two rules", m)
	}
	want := []rule.Redirect{{From: "/a", To: "/index", Status: 200}, {From: "/b", To: "/docs/", Status: 200},
		{From: "/e/*", To: "/:splat", Status: 301}}
	if diff := cmp.Diff(want, m.Redirects); diff != "" {
		t.Errorf("redirects (-want +got):\n%s", diff)
	}
	var log []string
	for _, line := range p.Get(p.url(d.Text("id"), "/log")).Want(t, http.StatusOK).List("lines") {
		log = append(log, fmt.Sprint(line["level"], " ", line["path"], " ", line["line"], " ", line["text"]))
	}
	wantLog := []string{
		"warning /_redirects 4 /_redirects:4: This line has no effect: the site has no file for /missing.",
		"warning /_redirects 5 /_redirects:5: This line has no effect: :x does not occur in the first path; write %3A for a colon.",
		"info <nil> <nil> Read 3 rules of /_redirects.",
		"warning /public/_headers 3 /public/_headers:3: This line has no effect: the header Set-Cookie cannot be set.",
		"info <nil> <nil> Read 2 rules of /public/_headers.",
	}
	if diff := cmp.Diff(wantLog, log[1:len(log)-1]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	p.save(map[string]string{"/public/_headers": "/docs/*\n X-A: " + value + "\n X-B: " + value + "\n X-C: " + value +
		"\n/*\n X-D: " + value + "\n X-E: " + value})
	lines := strings.Join(p.logOf(p.deploy().Text("id")), "\n")
	if !strings.Contains(lines, "warning /public/_headers: The headers of /docs/index.html and perhaps of other paths have more") {
		t.Errorf("got the log %s, want a warning about /docs/index.html", lines)
	}
}
