package codehost

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func fuzzHost(f *testing.F) *Server {
	s, err := New(Options{
		Dir: f.TempDir(), ClientID: "app", ClientSecret: "the-secret-of-the-client", RedirectPrefixes: []string{"https://app.example/auth/callback"},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// FuzzAuthorize sends links and forms: every redirect leads below the registered callback URL, and a link never gets a
// code.
func FuzzAuthorize(f *testing.F) {
	const whole = "client_id=app&redirect_uri=https%3A%2F%2Fapp.example%2Fauth%2Fcallback&response_type=code&state=s&scope=read:user&" +
		"code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
	for _, seed := range []string{whole, whole + "&state=2", whole + "&scope=all", strings.Replace(whole, "callback", "callback%2F..", 1), whole + "&decision=authorize&login=ada&email=a@x.example", "", "%zz", ";"} {
		f.Add("GET", seed, "")
		f.Add("POST", "", seed)
	}
	s := fuzzHost(f)
	f.Fuzz(func(t *testing.T, method, query, form string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", strings.NewReader(form))
		r.Method, r.URL = method, &url.URL{Path: s.base + pathAuthorize, RawQuery: query}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Fatalf("%s ?%s %s: %d %s", method, query, form, w.Code, w.Body)
		}
		to := w.Header().Get("Location")
		if to == "" {
			return
		}
		u, err := url.Parse(to)
		if err != nil || u.Scheme != "https" || !strings.EqualFold(u.Host, "app.example") || r.Method != http.MethodPost && u.Query().Has("code") {
			t.Fatalf("%s ?%s %s: to %q", method, query, form, to)
		}
	})
}

// FuzzToken sends forms without a code that was issued: none gets a token.
func FuzzToken(f *testing.F) {
	const form = "grant_type=authorization_code&code=c&redirect_uri=https%3A%2F%2Fapp.example%2Fauth%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	f.Add("", form+"&client_id=app&client_secret=the-secret-of-the-client")
	f.Add("Basic YXBwOnRoZS1zZWNyZXQtb2YtdGhlLWNsaWVudA==", form)
	f.Add("Basic YXBwOiV6eg==", form+"&client_secret=x")
	f.Add("Bearer x", "grant_type=password&grant_type=x")
	f.Add("", "%zz=;&a")
	s := fuzzHost(f)
	f.Fuzz(func(t *testing.T, authorization, form string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.base+pathToken, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest && w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "access_token") {
			t.Fatalf("%q, %q: %d %s", authorization, form, w.Code, w.Body)
		}
	})
}

// FuzzIdentities decodes files of identities: only valid ones are accepted.
func FuzzIdentities(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"nextId":2,"identities":[{"id":1,"login":"ada","email":"a@x.example","verified":true}]}`, `{"version":1,"identities":null}`,
		`{"version":1,"identities":[{"id":1,"login":"a","email":"a@x.example"},{"id":2,"login":"A","email":"b@x.example"}]}`, `{"version":1} {}`, `{"version":1}]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		state, err := decodeIdentities(data)
		if err != nil {
			return
		}
		logins := map[string]bool{}
		for i, user := range state.Identities {
			login := strings.ToLower(user.Login)
			if user.ID != int64(i+1) || logins[login] || checkIdentity(user.Login, user.Email) != nil {
				t.Fatalf("%s holds %+v", data, user)
			}
			logins[login] = true
		}
	})
}
