package build

import (
	"slices"
	"strings"
	"testing"
)

// Files with rules are returned, from /public or the root of the site, and never published.
func TestRules(t *testing.T) {
	t.Parallel()
	const app = `{"devDependencies":{"vite":"7"}}`
	for name, tc := range map[string]struct {
		files              map[string][]byte
		redirects, headers string // "path content"
	}{
		"none":   {files: files("/index.html", "", "/sub/_redirects", "a", "/_Headers", "a")},
		"static": {files("/index.html", "", "/_redirects", "a", "/_headers", "b"), "/_redirects a", "/_headers b"},
		"public": {files("/index.html", "", "/_redirects", "a", "/public/_redirects", "b", "/public/_headers", "c"),
			"/public/_redirects b", "/public/_headers c"},
		"app": {files("/index.html", "", "/package.json", app, "/public/_redirects", "a", "/_headers", "b",
			"/src/_redirects", "c"),
			"/public/_redirects a", "/_headers b"},
		"vite": {files("/web/index.html", "", "/package.json", app,
			"/vite.config.js", `export default {root: "web", publicDir: "static"}`,
			"/web/static/_redirects", "a", "/web/_headers", "b", "/_headers", "c"),
			"/web/static/_redirects a", "/web/_headers b"},
	} {
		out, err := run(t, sources{Files: tc.files})
		if err != nil {
			t.Fatal(err)
		}
		redirects := strings.TrimSpace(out.Redirects.Path + " " + string(out.Redirects.Data))
		headers := strings.TrimSpace(out.Headers.Path + " " + string(out.Headers.Data))
		if redirects != tc.redirects || headers != tc.headers {
			t.Errorf("%s: got %q and %q, want %q and %q", name, redirects, headers, tc.redirects, tc.headers)
		}
		if slices.ContainsFunc(out.Files, func(f File) bool { return strings.Contains(f.Path, "/_") }) {
			t.Errorf("%s: published %v", name, out.Files)
		}
	}
	out, err := Run(t.Context(), sources{Files: files("/web/index.html", "", "/web/_redirects", "a")}.input())
	if err != nil || out.Redirects.Path != "/web/_redirects" {
		t.Errorf("in a folder: got %+v, %v", out.Redirects, err)
	}
	// A process that was taken over cannot return another file.
	for _, name := range []string{"/.env", "/missing", "/x/_headers"} {
		if got := (result{Rules: map[string]string{"/_redirects": name}}).rules(Input{
			Files: files("/.env", "SECRET", "/x/_headers", ""),
		}, "/_redirects"); got.Path != "" {
			t.Errorf("got %+v", got)
		}
	}
}
