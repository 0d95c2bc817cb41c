package codehost_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/codehost"
)

// The package shared/account/oauth tests the flow with a real client: consents, denials and codes. The tests
// here send what this client does not send.

const callback = "https://app.example/auth/callback"

func newHost(t *testing.T) *codehost.Server {
	t.Helper()
	return codehost.New(codehost.Options{
		Now: time.Now, ClientID: "app", ClientSecret: "secret", Logger: slog.New(slog.DiscardHandler),
		RedirectPrefixes: []string{callback, "http://127.0.0.1:3000/"},
	})
}

// authorization returns the query of a valid authorization request, with changes in pairs of name and value.
func authorization(changes ...string) url.Values {
	q := url.Values{
		"client_id": {"app"}, "redirect_uri": {callback}, "response_type": {"code"}, "state": {"st&te="},
		"code_challenge": {strings.Repeat("x", 43)}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	return q
}

func do(s *codehost.Server, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:4566/codehost"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestConsentPageIsSafeToShow(t *testing.T) {
	t.Parallel()
	page := do(newHost(t), "GET", "/login/oauth/authorize?"+authorization("state", `"><script>alert(1)</script>`).Encode(), "")
	policy := page.Header().Get("Content-Security-Policy")
	if page.Code != http.StatusOK || strings.Contains(page.Body.String(), "<script") {
		t.Errorf("got status %d and the page %s, want 200 and an escaped state", page.Code, page.Body)
	}
	for _, needed := range []string{"default-src 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, needed) {
			t.Errorf("got the policy %q, want %s in it", policy, needed)
		}
	}
}

func TestUntrustedClientIsNotRedirected(t *testing.T) {
	t.Parallel()
	s := newHost(t)
	for _, change := range [][2]string{
		{"client_id", "other"},
		{"redirect_uri", ""},
		{"redirect_uri", "https://evil.example/auth/callback"},
		{"redirect_uri", "https://x.app.example/auth/callback"},
		{"redirect_uri", "http://app.example/auth/callback"},
		{"redirect_uri", "https://app.example:8443/auth/callback"},
		{"redirect_uri", "https://app.example/auth"},
		{"redirect_uri", "https://app.example@evil.example/auth/callback"},
		{"redirect_uri", `https://app.example\@evil.example/auth/callback`},
	} {
		w := do(s, "GET", "/login/oauth/authorize?"+authorization(change[0], change[1]).Encode(), "")
		if w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
			t.Errorf("%s=%s: got status %d and Location %q, want 400", change[0], change[1], w.Code, w.Header().Get("Location"))
		}
	}
	for _, trusted := range []string{callback, callback + "/more?x=y", "http://127.0.0.1:3000/callback"} {
		w := do(s, "GET", "/login/oauth/authorize?"+authorization("redirect_uri", trusted).Encode(), "")
		if w.Code != http.StatusOK {
			t.Errorf("%s: got status %d, want the consent page", trusted, w.Code)
		}
	}
}

func TestOtherErrorsAreRedirected(t *testing.T) {
	t.Parallel()
	s := newHost(t)
	for _, c := range []struct{ name, value, want string }{
		{"response_type", "token", "unsupported_response_type"},
		{"code_challenge", "", "invalid_request"},
		{"code_challenge", "short", "invalid_request"},
		{"code_challenge_method", "plain", "invalid_request"},
	} {
		w := do(s, "GET", "/login/oauth/authorize?"+authorization(c.name, c.value).Encode(), "")
		location, err := w.Result().Location()
		if err != nil || location.Query().Get("error") != c.want || location.Query().Get("state") != "st&te=" {
			t.Errorf("%s=%s: got status %d and Location %v, want error=%s and the state", c.name, c.value, w.Code, location, c.want)
		}
	}
}

func TestConsentForm(t *testing.T) {
	t.Parallel()
	s := newHost(t)
	valid := []string{"decision", "authorize", "login", "Ada", "email", "ada@example.com"}
	if w := do(s, "POST", "/login/oauth/authorize", authorization(valid...).Encode(), "Sec-Fetch-Site", "cross-site"); w.Code != 403 {
		t.Errorf("form of another site: got status %d, want 403", w.Code)
	}
	if w := do(s, "POST", "/login/oauth/authorize", authorization(valid...).Encode()); w.Code != http.StatusFound {
		t.Errorf("valid form: got status %d, want 302", w.Code)
	}
	if w := do(s, "POST", "/login/oauth/authorize", authorization(append(valid, "redirect_uri", "https://evil.example/")...).Encode()); w.Code != 400 {
		t.Errorf("form with another redirect_uri: got status %d, want 400", w.Code)
	}
	for _, wrong := range [][]string{{"login", ""}, {"login", "a b"}, {"login", strings.Repeat("a", 40)}, {"email", "ada"}, {"email", "Ada <ada@example.com>"}} {
		w := do(s, "POST", "/login/oauth/authorize", authorization(append(valid[:6:6], wrong...)...).Encode())
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%v: got status %d, want 422 and an error", wrong, w.Code)
		}
	}
}

func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	s := newHost(t)
	for _, c := range []struct {
		form   url.Values
		status int
		code   string
	}{
		{url.Values{"client_id": {"other"}, "client_secret": {"secret"}}, 401, "invalid_client"},
		{url.Values{"client_id": {"app"}, "client_secret": {"secret"}}, 400, "unsupported_grant_type"},
		{url.Values{"client_id": {"app"}, "client_secret": {"secret"}, "code": {strings.Repeat("x", 64<<10)}}, 400, "invalid_request"},
	} {
		w := do(s, "POST", "/login/oauth/access_token", c.form.Encode())
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.code) {
			t.Errorf("got status %d and %s, want %d %s", w.Code, w.Body, c.status, c.code)
		}
	}
	for _, header := range []string{"", "Basic x", "Bearer x", "Bearer "} {
		if w := do(s, "GET", "/api/v1/user", "", "Authorization", header); w.Code != http.StatusUnauthorized {
			t.Errorf("Authorization %q: got status %d, want 401", header, w.Code)
		}
	}
}
