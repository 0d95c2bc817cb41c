package codehost_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConsentPageIsSafeToShow(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	page := h.open(authorization(set("state", `"><script>alert(1)</script>`)))
	if page.status != http.StatusOK {
		t.Fatalf("status %d: %s", page.status, page.body)
	}
	if strings.Contains(page.body, "<script") {
		t.Error("the page has the state unescaped")
	}
	_, rest, _ := strings.Cut(page.body, "<style>")
	style, _, ok := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := page.header.Get("Content-Security-Policy")
	if !ok || !strings.Contains(policy, "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the policy does not allow the style of the page: %s", policy)
	}
	for _, needed := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, needed) {
			t.Errorf("the policy lacks %s", needed)
		}
	}
	want := map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "same-origin", "Content-Type": "text/html; charset=utf-8",
	}
	for name, value := range want {
		if got := page.header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
}

func TestConsentKeepsTheState(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	const state = `<"&'> ünï ` + "\t" + `%00 +`
	forms := h.forms(h.open(authorization(set("state", state))).body)
	back := h.redirected(h.submit(forms[0], "authorize", set("login", "ada"), set("email", "ada@example.com")))
	if back.Get("state") != state {
		t.Errorf("state %q, want %q", back.Get("state"), state)
	}
}

func TestInvalidClientOrRedirectIsNotRedirected(t *testing.T) {
	t.Parallel()
	cases := map[string]func(url.Values){
		"no client":             set("client_id"),
		"unknown client":        set("client_id", "other"),
		"two clients":           set("client_id", clientID, clientID),
		"no redirect":           set("redirect_uri"),
		"two redirects":         set("redirect_uri", callback, "https://evil.example/"),
		"another host":          set("redirect_uri", "https://evil.example/auth/callback"),
		"a host with ours last": set("redirect_uri", "https://evilapp.example/auth/callback"),
		"a sub-domain":          set("redirect_uri", "https://x.app.example/auth/callback"),
		"another scheme":        set("redirect_uri", "http://app.example/auth/callback"),
		"script":                set("redirect_uri", "javascript:alert(1)"),
		"another port":          set("redirect_uri", "https://app.example:8443/auth/callback"),
		"a path beside":         set("redirect_uri", "https://app.example/auth/callbackx"),
		"a path above":          set("redirect_uri", "https://app.example/auth"),
		"dot segments":          set("redirect_uri", "https://app.example/auth/callback/../../evil"),
		"encoded dot segments":  set("redirect_uri", "https://app.example/auth/callback/%2e%2E/evil"),
		"a fragment":            set("redirect_uri", callback+"#x"),
		"a user":                set("redirect_uri", "https://app.example@evil.example/auth/callback"),
		"a backslash":           set("redirect_uri", `https://app.example\@evil.example/auth/callback`),
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "")
			got := h.open(authorization(change))
			if got.status != http.StatusBadRequest || got.header.Get("Location") != "" {
				t.Errorf("status %d, location %q", got.status, got.header.Get("Location"))
			}
		})
	}
}

func TestOtherErrorsAreRedirected(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(url.Values)
		want   string
	}{
		"no response type":    {set("response_type"), "invalid_request"},
		"implicit flow":       {set("response_type", "token"), "unsupported_response_type"},
		"no challenge":        {set("code_challenge"), "invalid_request"},
		"plain challenge":     {set("code_challenge_method", "plain"), "invalid_request"},
		"no method":           {set("code_challenge_method"), "invalid_request"},
		"a short challenge":   {set("code_challenge", "short"), "invalid_request"},
		"a padded challenge":  {set("code_challenge", challenge()+"="), "invalid_request"},
		"unknown scope":       {set("scope", "read:user repo"), "invalid_scope"},
		"a parameter twice":   {set("scope", "read:user", "read:user"), "invalid_request"},
		"two challenges":      {set("code_challenge", challenge(), challenge()), "invalid_request"},
		"two response types":  {set("response_type", "code", "token"), "invalid_request"},
		"case of the method":  {set("code_challenge_method", "s256"), "invalid_request"},
		"empty response type": {set("response_type", ""), "invalid_request"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "")
			back := h.redirected(h.open(authorization(c.change)))
			if back.Get("error") != c.want || back.Get("state") != "st&te=" || back.Has("code") {
				t.Errorf("redirected with %v, want error=%s", back, c.want)
			}
		})
	}
}

func TestStateIsOptional(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	if back := h.redirected(h.open(authorization(set("state"), set("scope", "no")))); back.Has("state") {
		t.Errorf("got a state that was not sent: %v", back)
	}
}

func TestRedirectKeepsItsQuery(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	forms := h.forms(h.open(authorization(set("redirect_uri", callback+"?tenant=a%26b"))).body)
	back := h.redirected(h.submit(forms[0], "authorize", set("login", "ada"), set("email", "ada@example.com")))
	if back.Get("tenant") != "a&b" || back.Get("code") == "" {
		t.Errorf("redirected with %v", back)
	}
}

func TestCancelIsAccessDenied(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	back := h.redirected(h.submit(h.forms(h.open(authorization()).body)[0], "cancel"))
	if back.Get("error") != "access_denied" || back.Get("state") != "st&te=" || back.Has("code") {
		t.Errorf("redirected with %v", back)
	}
}

func TestConsentFormCannotBeForged(t *testing.T) {
	t.Parallel()
	fill := func(q url.Values) { q.Set("login", "ada"); q.Set("email", "ada@example.com") }
	from := func(name, value string) func(*host, form) response {
		return func(h *host, f form) response {
			fill(f.fields)
			f.fields.Set("decision", "authorize")
			req := h.request(http.MethodPost, h.server.URL+f.action, f.fields.Encode())
			req.Header.Set(name, value)
			return h.do(req)
		}
	}
	cases := map[string]func(*host, form) response{
		"from another site":                  from("Sec-Fetch-Site", "cross-site"),
		"from another site of the same host": from("Sec-Fetch-Site", "same-site"),
		"from another origin":                from("Origin", "https://evil.example"),
		"from an opaque origin":              from("Origin", "null"),
		"by a link": func(h *host, f form) response {
			fill(f.fields)
			f.fields.Set("decision", "authorize")
			got := h.do(h.request(http.MethodGet, h.server.URL+f.action+"?"+f.fields.Encode(), ""))
			if got.status == http.StatusOK { // the page again, without a code
				got.status = http.StatusForbidden
			}
			return got
		},
	}
	for name, forge := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "")
			got := forge(h, h.forms(h.open(authorization()).body)[0])
			if got.status != http.StatusForbidden || got.header.Get("Location") != "" {
				t.Errorf("status %d, location %q", got.status, got.header.Get("Location"))
			}
		})
	}
}

func TestConsentFormWithAnotherRedirect(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	f := h.forms(h.open(authorization()).body)[0]
	got := h.submit(f, "cancel", set("redirect_uri", "https://evil.example/"))
	if got.status != http.StatusBadRequest || got.header.Get("Location") != "" {
		t.Errorf("status %d, location %q", got.status, got.header.Get("Location"))
	}
}

func TestConsentFormShowsErrorsAndKeepsValues(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	got := h.submit(h.forms(h.open(authorization()).body)[0], "authorize", set("login", "-no-"), set("email", "<b>"), set("verified"))
	if got.status != http.StatusUnprocessableEntity || strings.Count(got.body, `role="alert"`) != 2 {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	again := h.forms(got.body)[0]
	want := url.Values{"login": {"-no-"}, "email": {"<b>"}}
	if diff := cmp.Diff(want, url.Values{"login": again.fields["login"], "email": again.fields["email"]}); diff != "" {
		t.Error(diff)
	}
	if again.fields.Has("verified") {
		t.Error("the box is checked again")
	}
	h.redirected(h.submit(again, "authorize", set("login", "ada"), set("email", "ada@example.com")))
}

func TestMethodsAndPaths(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	cases := []struct {
		method, path, allow string
		status              int
	}{
		{http.MethodPut, "/login/oauth/authorize", "GET, HEAD, POST", http.StatusMethodNotAllowed},
		{http.MethodGet, "/login/oauth/access_token", "POST", http.StatusMethodNotAllowed},
		{http.MethodPost, "/api/v1/user", "GET, HEAD", http.StatusMethodNotAllowed},
		{http.MethodGet, "/login/oauth/authorize/", "", http.StatusNotFound},
		{http.MethodGet, "/nothing", "", http.StatusNotFound},
		{http.MethodGet, "/", "", http.StatusOK},
		{http.MethodHead, "/", "", http.StatusOK},
	}
	for _, c := range cases {
		got := h.do(h.request(c.method, h.url(c.path), ""))
		allow := got.header.Get("Allow")
		if got.status != c.status || allow != c.allow {
			t.Errorf("%s %s: %d, Allow %q", c.method, c.path, got.status, allow)
		}
	}
}
