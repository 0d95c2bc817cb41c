package site

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
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
func findIn(m Manifest, path string, spa bool) target {
	if t, ok := m.find(path, ""); ok {
		return t
	}
	return m.fallback(path, spa)
}

func TestFind(t *testing.T) {
	t.Parallel()
	const ok, missing, redirect = http.StatusOK, http.StatusNotFound, http.StatusPermanentRedirect
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
		want target
	}{
		{"root", site, "/", false, target{ok, "/index.html", ""}},
		{"file", site, "/a", false, target{ok, "/a", ""}},
		{"html before folder", site, "/b", false, target{ok, "/b.html", ""}},
		{"folder", site, "/b/", false, target{ok, "/b/index.html", ""}},
		{"folder without slash", site, "/docs", false, target{redirect, "", "/docs/"}},
		{"folder without slash, SPA", site, "/docs", true, target{redirect, "", "/docs/"}},
		{"page with slash", site, "/docs/x/", false, target{redirect, "", "/docs/x"}},
		{"page with slash, SPA", site, "/docs/x/", true, target{redirect, "", "/docs/x"}},
		{"html in folder", site, "/docs/x", false, target{ok, "/docs/x.html", ""}},
		{"index by name", site, "/docs/index.html", false, target{ok, "/docs/index.html", ""}},
		{"index without extension", site, "/docs/index", false, target{ok, "/docs/index.html", ""}},
		{"not ASCII", site, "/naïve", false, target{ok, "/naïve.html", ""}},
		{"percent sign", site, "/100%.txt", false, target{ok, "/100%.txt", ""}},
		{"blank", site, "/a b.txt", false, target{ok, "/a b.txt", ""}},
		{"file with slash", site, "/a/", false, target{missing, "/404.html", ""}},
		{"missing", site, "/missing", false, target{missing, "/404.html", ""}},
		{"missing in folder", site, "/docs/missing", false, target{missing, "/docs/404.html", ""}},
		{"missing in folder of folder", site, "/docs/deep/deeper/missing/", false, target{missing, "/docs/404.html", ""}},
		{"folder without index", site, "/docs/deep/", false, target{missing, "/docs/404.html", ""}},
		{"another folder with the same beginning", site, "/docs2/x", false, target{missing, "/404.html", ""}},
		{"case matters", site, "/A", false, target{missing, "/404.html", ""}},
		{"SPA", site, "/missing/x.js", true, target{ok, "/index.html", ""}},
		{"SPA, missing file of the bundler", bundled, "/assets/main-c3d4.js", true, target{missing, "", ""}},
		{"SPA, other path of a bundle", bundled, "/assets", true, target{ok, "/index.html", ""}},
		{"SPA without a bundle", site, "/assets/main-c3d4.js", true, target{ok, "/index.html", ""}},
		{"SPA with a file", site, "/a", true, target{ok, "/a", ""}},
		{"SPA without index.html", bare, "/x", true, target{missing, "", ""}},
		{"SPA without index.html, with 404.html", bare, "/docs/x", true, target{missing, "/docs/404.html", ""}},
		{"no index.html", bare, "/", false, target{missing, "", ""}},
		{"parent folder", site, "/docs/../a", false, target{missing, "/docs/404.html", ""}},
		{"this folder", site, "/./a", false, target{missing, "/404.html", ""}},
		{"two slashes", site, "//a", false, target{missing, "/404.html", ""}},
		{"two slashes and a folder", site, "//docs", false, target{missing, "/404.html", ""}},
		{"two slashes at the end", site, "/docs//", false, target{missing, "/404.html", ""}},
		{"no slash", site, "a", false, target{missing, "/404.html", ""}},
		{"empty", site, "", false, target{missing, "/404.html", ""}},
		{"NUL", site, "/a\x00", false, target{missing, "/404.html", ""}},
		{"not UTF-8", site, "/a\xff", false, target{missing, "/404.html", ""}},
		{"very long", site, "/" + strings.Repeat("docs/", 100_000), false, target{missing, "/404.html", ""}},
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
		case got.status == http.StatusPermanentRedirect:
			location, err := url.Parse(got.location)
			if err != nil || location.Host != "" || location.RawQuery != "" {
				t.Fatalf("%q: got a redirect to %q: %v", path, got.location, err)
			}
			next := findIn(m, location.Path, spa)
			if next.status != http.StatusOK || !m.has(next.path) || !strings.HasPrefix(next.path, location.Path) {
				t.Errorf("%q: got a redirect to %q, which shows %+v", path, got.location, next)
			}
		case !m.has(got.path):
			t.Errorf("%q: got %+v, which is not in the manifest", path, got)
		case got.status == http.StatusOK:
			names := map[string]bool{path: true, path + ".html": true, path + "index.html": true, path + "/index.html": true}
			if !names[got.path] && (!spa || got.path != "/index.html") {
				t.Errorf("%q: got %+v", path, got)
			}
		case got.status != http.StatusNotFound || !strings.HasSuffix(got.path, "/404.html") || spa:
			t.Errorf("%q: got %+v", path, got)
		}
	})
}
