package site

import (
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/site/rule"
)

// ruled returns a fixture with a deployment that has rules.
func ruled(t *testing.T, redirects, headers string) *fixture {
	t.Helper()
	f := newFixture(t, nil)
	page := func(text string) content { return content{text: text, kind: htmlType} }
	var warnings []rule.Warning
	f.redirects, warnings = rule.ParseRedirects([]byte(redirects), func(string) bool { return true })
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	if f.headers, warnings = rule.ParseHeaders([]byte(headers)); len(warnings) > 0 {
		t.Fatal(warnings)
	}
	f.deploy(first, map[string]content{"/index.html": page("home"), "/app.html": page("app"), "/404.html": page("missing"),
		"/docs/index.html": page("docs"), "/assets/main-MAIN2345.js": {text: "main", hashed: true}})
	f.live(first)
	f.put("app", Address{AccountID: account, DeploymentID: first, Production: true, SPA: true})
	f.put("shop--first", Address{AccountID: account, DeploymentID: first})
	return f
}

// Rules come after files and folders, and before the page of an app and 404.html.
func TestRedirects(t *testing.T) {
	t.Parallel()
	f := ruled(t, "/app /other\n/docs /other\n/old/:page /new/:page?a=b 302\n/out/* https://example.com/x/:splat 308\n"+
		"/assets/gone.js https://example.com/gone.js\n/rewritten/* /:splat 200\n/secret/* /app 404\n/folder /docs 200\n"+
		"/catch/* /app 200\n/* /all 303", "")
	for _, tc := range []struct {
		path, location, body string
		status               int
	}{
		{path: "/app", status: 200, body: "app"},
		{path: "/docs", status: 308, location: "/docs/"},
		{path: "/old/a%20b%2F?x=%0a&y", status: 302, location: "/new/a%20b?a=b&x=%0a&y"},
		{path: "/old/a%5Cb", status: 302, location: "/new/a%5Cb?a=b"},
		{path: "/out/a/b?x", status: 308, location: "https://example.com/x/a/b?x"},
		{path: "/out/../../a", status: 404, body: "missing"},
		{path: "/out//evil.example", status: 404, body: "missing"},
		{path: "//evil.example/out/a", status: 404, body: "missing"},
		{path: "/rewritten/app?x", status: 200, body: "app"},
		{path: "/rewritten/docs", status: 200, body: "docs"},
		{path: "/rewritten/docs/", status: 200, body: "docs"},
		{path: "/rewritten/old/x", status: 303, location: "/all"}, // one step, so the last rule applies
		{path: "/secret/x", status: 404, body: "app"},
		{path: "/folder", status: 200, body: "docs"},
		{path: "/catch/x", status: 200, body: "app"},
		{path: "/any", status: 303, location: "/all"},
		{path: "/all", status: 404, body: "missing"},
		{path: "/assets/gone.js", status: 301, location: "https://example.com/gone.js"},
		{path: "/assets/main-GONE2345.js", status: 404, body: "missing"},
		{path: "/assets/main-MAIN2345.js", status: 200, body: "main"},
	} {
		w := f.get(host, tc.path)
		if w.Code != tc.status || w.Header().Get("Location") != tc.location || plain(t, w) != tc.body {
			t.Errorf("%s: got %d %q %q, want %d %q %q", tc.path, w.Code, w.Header().Get("Location"), w.Body, tc.status,
				tc.location, tc.body)
		}
		wantHeader(t, w, "X-Deployment-Id", first, "X-Content-Type-Options", "nosniff")
		if tc.body != "main" {
			wantHeader(t, w, "Cache-Control", revalidate)
		}
	}
	for path, want := range map[string]string{"/all": "home", "/secret/x": "app"} {
		if w := f.get("app.example.app", path); plain(t, w) != want {
			t.Errorf("SPA: %s: got %q, want %q", path, w.Body, want)
		}
	}
	if w := f.get("shop--first.example.app", "/any"); w.Header().Get("Location") != "/all" {
		t.Errorf("the deployment's own address: got %d %v, want the redirect", w.Code, w.Header())
	}
	etag := f.get(host, "/catch/x").Header().Get("Etag")
	if w := f.get(host, "/catch/y", "If-None-Match", etag); w.Code != http.StatusNotModified {
		t.Errorf("a rewrite: got %d, want 304", w.Code)
	}
}

// A redirect whose address would be too long for the gateway has a page instead, or is not applied.
func TestLongRedirects(t *testing.T) {
	t.Parallel()
	f := ruled(t, "/old /new", "")
	long := "?" + strings.Repeat("x", 9000)
	if w := f.get(host, "/docs"+long); w.Code != http.StatusRequestURITooLong || w.Header().Get("Location") != "" {
		t.Errorf("a folder: got %d, want 414", w.Code)
	}
	if w := f.get(host, "/old"+long); w.Code != http.StatusNotFound || w.Header().Get("Location") != "" {
		t.Errorf("a rule: got %d, want 404", w.Code)
	}
}

// Headers of rules are added to all responses of the site, and never to the pages of the server.
func TestHeaders(t *testing.T) {
	t.Parallel()
	f := ruled(t, "/old /new", "/*\n X-Frame-Options: DENY\n X-Robots-Tag: nofollow\n Referrer-Policy: no-referrer\n"+
		"/app\n X-Frame-Options: SAMEORIGIN\n/large\n X-A: "+strings.Repeat("a", 2000)+"\n X-B: "+strings.Repeat("b", 2000)+
		"\n X-C: "+strings.Repeat("c", 2000))
	rules := []string{"X-Frame-Options", "DENY", "X-Robots-Tag", "nofollow", "Referrer-Policy", "no-referrer"}
	for path, status := range map[string]int{
		"/": 200, "/missing": 404, "//x": 404, "/docs": 308, "/old": 301, "/assets/main-MAIN2345.js": 200,
	} {
		w := f.get(host, path)
		wantHeader(t, w, rules...)
		wantHeader(t, w, "X-Content-Type-Options", "nosniff", "X-Deployment-Id", first,
			"Strict-Transport-Security", "max-age=31536000")
		if w.Code != status {
			t.Errorf("%s: got %d, want %d", path, w.Code, status)
		}
	}
	wantHeader(t, f.get(host, "/", "If-None-Match", "*"), rules...)
	wantHeader(t, f.get(host, "/app"), "X-Frame-Options", "SAMEORIGIN")
	wantHeader(t, f.get("shop--first.example.app", "/app"), "X-Frame-Options", "SAMEORIGIN", "X-Robots-Tag", "noindex")
	wantHeader(t, f.do(http.MethodPost, host, "/", nil), "X-Frame-Options", "",
		"Referrer-Policy", "strict-origin-when-cross-origin")
	wantHeader(t, f.get("unknown.example.app", "/"), "X-Frame-Options", "", "X-Robots-Tag", "noindex")
	w := f.get("app.example.app", "/large")
	if size := len(w.Header().Get("X-A") + w.Header().Get("X-B") + w.Header().Get("X-C")); size != 6000 {
		t.Errorf("got headers of %d bytes, want 6,000", size)
	}
	// The headers of a redirect and its address have the limit together.
	f.redirects, _ = rule.ParseRedirects([]byte("/large /"+strings.Repeat("x", 2040)), nil)
	f.deploy(second, map[string]content{"/index.html": {}})
	f.live(second)
	w = f.get(host, "/large?"+strings.Repeat("y", 2000))
	wantHeader(t, w, "X-B", strings.Repeat("b", 2000), "X-C", "", "X-Frame-Options", "DENY")
	if w.Code != http.StatusMovedPermanently {
		t.Errorf("got %d, want the redirect", w.Code)
	}
}

// Files of earlier deployments come before the rules, and have the headers of the live deployment.
func TestRulesAndEarlier(t *testing.T) {
	t.Parallel()
	f := newEarlier(t)
	f.redirects, _ = rule.ParseRedirects([]byte("/assets/* https://example.com/:splat\n/* /index.html 200"),
		func(string) bool { return true })
	f.headers, _ = rule.ParseHeaders([]byte("/assets/*\n Cross-Origin-Resource-Policy: same-origin"))
	const fourth = "dpl_01KGA4ZK70ABCDEFGHJKMNPQR4"
	f.deploy(fourth, map[string]content{"/index.html": {text: "home"}, "/assets/x-XXXX2345.js": {hashed: true}})
	a := Address{AccountID: account, DeploymentID: fourth, Production: true}
	a.Earlier = []EarlierDeployment{{Label: "shop--second", Until: epoch.Unix() + 60}}
	f.put("shop", a)
	w := f.get(host, midChunk)
	wantHeader(t, w, "X-Deployment-Id", second, "Cross-Origin-Resource-Policy", "same-origin", "Cache-Control", immutable)
	if w.Code != http.StatusOK || w.Body.String() != "second" {
		t.Errorf("got %d %q, want the file", w.Code, w.Body)
	}
	wantHeader(t, f.get(host, oldChunk), "Location", "https://example.com"+strings.TrimPrefix(oldChunk, "/assets"))
	if w := f.get(host, "/any"); w.Code != http.StatusOK || w.Body.String() != "home" {
		t.Errorf("got %d %q, want the page", w.Code, w.Body)
	}
}
