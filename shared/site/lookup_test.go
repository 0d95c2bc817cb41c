package site

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"devplatform/shared/site/rule"
)

// manifestOf returns a manifest with empty files.
func manifestOf(paths ...string) Manifest {
	m := Manifest{Files: map[string]File{}}
	for _, path := range paths {
		m.Files[path] = File{}
	}
	return m
}

// findIn returns what a path shows on a site without other rules.
func findIn(m Manifest, path string, spa bool) rule.Result {
	if t, ok := m.find(path, ""); ok {
		return t
	}
	return m.findOther(path, "", spa)
}

func TestFind(t *testing.T) {
	t.Parallel()
	const ok, missing, redirect = http.StatusOK, http.StatusNotFound, http.StatusPermanentRedirect
	result := func(status int, file, location string) rule.Result {
		return rule.Result{Status: status, File: file, Location: location}
	}
	site := manifestOf("/index.html", "/404.html", "/a", "/b.html", "/b/index.html", "/docs/index.html",
		"/docs/404.html", "/docs/x.html", "/docs/deep/y.txt", "/naïve.html", "/100%.txt", "/a b.txt")
	bare := manifestOf("/app.js", "/docs/404.html")
	bundled := manifestOf("/index.html", "/assets/logo.svg")
	bundled.Files["/assets/main-a1b2.js"] = File{Hashed: true}
	for _, tc := range []struct {
		name string
		m    Manifest
		path string
		spa  bool
		want rule.Result
	}{
		{"root", site, "/", false, result(ok, "/index.html", "")},
		{"file", site, "/a", false, result(ok, "/a", "")},
		{"html before folder", site, "/b", false, result(ok, "/b.html", "")},
		{"folder", site, "/b/", false, result(ok, "/b/index.html", "")},
		{"folder without slash", site, "/docs", false, result(redirect, "", "/docs/")},
		{"folder without slash, SPA", site, "/docs", true, result(redirect, "", "/docs/")},
		{"page with slash", site, "/docs/x/", false, result(redirect, "", "/docs/x")},
		{"page with slash, SPA", site, "/docs/x/", true, result(redirect, "", "/docs/x")},
		{"html in folder", site, "/docs/x", false, result(ok, "/docs/x.html", "")},
		{"index by name", site, "/docs/index.html", false, result(ok, "/docs/index.html", "")},
		{"index without extension", site, "/docs/index", false, result(ok, "/docs/index.html", "")},
		{"not ASCII", site, "/naïve", false, result(ok, "/naïve.html", "")},
		{"percent sign", site, "/100%.txt", false, result(ok, "/100%.txt", "")},
		{"blank", site, "/a b.txt", false, result(ok, "/a b.txt", "")},
		{"file with slash", site, "/a/", false, result(missing, "/404.html", "")},
		{"missing", site, "/missing", false, result(missing, "/404.html", "")},
		{"missing in folder", site, "/docs/missing", false, result(missing, "/docs/404.html", "")},
		{"missing in folder of folder", site, "/docs/deep/deeper/missing/", false, result(missing, "/docs/404.html", "")},
		{"folder without index", site, "/docs/deep/", false, result(missing, "/docs/404.html", "")},
		{"another folder with the same beginning", site, "/docs2/x", false, result(missing, "/404.html", "")},
		{"case matters", site, "/A", false, result(missing, "/404.html", "")},
		{"SPA", site, "/missing/x.js", true, result(ok, "/index.html", "")},
		{"SPA, missing file of the bundler", bundled, "/assets/main-c3d4.js", true, result(missing, "", "")},
		{"SPA, other path of a bundle", bundled, "/assets", true, result(ok, "/index.html", "")},
		{"SPA without a bundle", site, "/assets/main-c3d4.js", true, result(ok, "/index.html", "")},
		{"SPA with a file", site, "/a", true, result(ok, "/a", "")},
		{"SPA without index.html", bare, "/x", true, result(missing, "", "")},
		{"SPA without index.html, with 404.html", bare, "/docs/x", true, result(missing, "/docs/404.html", "")},
		{"no index.html", bare, "/", false, result(missing, "", "")},
		{"parent folder", site, "/docs/../a", false, result(missing, "/docs/404.html", "")},
		{"this folder", site, "/./a", false, result(missing, "/404.html", "")},
		{"two slashes", site, "//a", false, result(missing, "/404.html", "")},
		{"two slashes and a folder", site, "//docs", false, result(missing, "/404.html", "")},
		{"two slashes at the end", site, "/docs//", false, result(missing, "/404.html", "")},
		{"no slash", site, "a", false, result(missing, "/404.html", "")},
		{"empty", site, "", false, result(missing, "/404.html", "")},
		{"NUL", site, "/a\x00", false, result(missing, "/404.html", "")},
		{"not UTF-8", site, "/a\xff", false, result(missing, "/404.html", "")},
		{"very long", site, "/" + strings.Repeat("docs/", 100_000), false, result(missing, "/404.html", "")},
	} {
		if got := findIn(tc.m, tc.path, tc.spa); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// Whatever the path is, only files of the manifest are found, and redirects only lead to them.
func FuzzFind(f *testing.F) {
	for _, path := range []string{"/", "/a", "/docs", "/docs/", "//docs", "/docs/../a", "/\\evil", "", "/a%2f", "\xff"} {
		f.Add(path, "/docs", false)
	}
	f.Fuzz(func(t *testing.T, path, folder string, spa bool) {
		m := manifestOf("/index.html", "/a", "/404.html", folder+"/index.html", folder+"/404.html", path+".x")
		got := findIn(m, path, spa)
		switch {
		case got.Status == http.StatusPermanentRedirect:
			location, err := url.Parse(got.Location)
			if err != nil || location.Host != "" || location.RawQuery != "" {
				t.Fatalf("%q: got a redirect to %q: %v", path, got.Location, err)
			}
			next := findIn(m, location.Path, spa)
			if next.Status != http.StatusOK || !m.has(next.File) || !strings.HasPrefix(next.File, location.Path) {
				t.Errorf("%q: got a redirect to %q, which shows %+v", path, got.Location, next)
			}
		case !m.has(got.File):
			t.Errorf("%q: got %+v, which is not in the manifest", path, got)
		case got.Status == http.StatusOK:
			names := map[string]bool{path: true, path + ".html": true, path + "index.html": true, path + "/index.html": true}
			if !names[got.File] && (!spa || got.File != "/index.html") {
				t.Errorf("%q: got %+v", path, got)
			}
		case got.Status != http.StatusNotFound || !strings.HasSuffix(got.File, "/404.html") || spa:
			t.Errorf("%q: got %+v", path, got)
		}
	})
}
