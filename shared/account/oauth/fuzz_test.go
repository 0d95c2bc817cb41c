package oauth

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// answers is a provider that returns the same response to every request, without a network.
type answers struct {
	status      int
	contentType string
	token       []byte // of the token endpoint
	body        []byte // of the others
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body := a.body
	if strings.HasSuffix(r.URL.Path, "/token") {
		body = a.token
	}
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Content-Type": {a.contentType}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, nil
}

// FuzzIdentify runs sign-ins with arbitrary responses: the result is an identity, or an *Error that quotes neither the
// secret nor the token.
func FuzzIdentify(f *testing.F) {
	f.Add(200, "application/json", tokenPage.body, `{"id":1,"login":"a","email":"a@x.example"}`)
	f.Add(200, "application/x-www-form-urlencoded", "access_token=t&token_type=bearer", `[{"email":"a@x.example","verified":true}]`)
	f.Add(200, "text/plain", "error=bad_verification_code&error_description=x", `{}`)
	f.Add(400, "application/json", `{"error":"invalid_client\n","error_description":"`+testSecret+`"}`, ``)
	f.Add(200, "application/json", `{"access_token":"x\r\ny","expires_in":"7"}`, `{"sub":"s","values":[]}`)
	f.Add(200, "application/json", `{"access_token":null,"expires_in":1e400}`, `null`)
	f.Add(302, "", "", "")
	f.Fuzz(func(t *testing.T, status int, contentType, token, body string) {
		if status < 200 || status > 599 {
			return // the transport has no such answers
		}
		p := newProvider(t, Config{
			Provider: "custom", AuthorizeURL: "https://x.example/authorize", TokenURL: "https://x.example/token",
			UserURL: "https://x.example/user", EmailsURL: "https://x.example/emails",
		})
		p.client = func() *http.Client {
			return &http.Client{
				Transport:     transport{answers{status, contentType, []byte(token), []byte(body)}},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
		}
		who, err := identify(t.Context(), p)
		if err == nil {
			if who.Subject == "" || who.Provider != p.issuer {
				t.Fatalf("%+v", who)
			}
			return
		}
		var failed *Error
		if !errors.As(err, &failed) || !errors.Is(err, ErrRefused) && !errors.Is(err, ErrUnavailable) {
			t.Fatalf("%v", err)
		}
		if text := err.Error(); strings.Contains(text, testSecret) || strings.Contains(text, testCode) || strings.ContainsAny(text, "\r\n") || !utf8.ValidString(text) {
			t.Fatalf("%q", text)
		}
	})
}

// FuzzEmails checks that an address is returned once, and is verified only if all its entries are.
func FuzzEmails(f *testing.F) {
	for _, seed := range []string{
		`[{"email":"a@x.example","verified":true,"primary":true}]`, `{"values":[{"email":"a@x.example","is_confirmed":true}]}`,
		`[{"email":" a@x.example","verified":true},{"email":"a@x.example","verified":"no"}]`, `{"values":null}`, `[null]`, `[{"email":["a@x.example"]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var list emailList
		if json.Unmarshal(body, &list) != nil {
			return
		}
		all := list.emails()
		if len(all) > maxEmails {
			t.Fatalf("%d addresses", len(all))
		}
		var seen []string
		for _, e := range all {
			if !isAddress(e.Address) || slices.Contains(seen, e.Address) {
				t.Fatalf("%q", e.Address)
			}
			seen = append(seen, e.Address)
			for _, entry := range list {
				said := bool(entry.Verified || entry.EmailVerified || entry.IsConfirmed || entry.ConfirmedAt != "")
				if e.Verified && !said && strings.TrimSpace(string(entry.Email)) == e.Address {
					t.Fatalf("%q is verified by %s", e.Address, body)
				}
			}
		}
	})
}

// FuzzCallbackError reads arbitrary queries of the callback, because an attacker can write one into a link.
func FuzzCallbackError(f *testing.F) {
	for _, seed := range []string{"code=a&state=b", "error=access_denied&error_description=No", "error=server_error", "error=a%0Ab&error=c", "error=", "error"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		query, _ := url.ParseQuery(raw)
		err := CallbackError(query)
		if (err != nil) != query.Has("error") {
			t.Fatalf("%q: %v", raw, err)
		}
		if err != nil && (errors.Is(err, ErrDenied) == errors.Is(err, ErrUnavailable) || strings.ContainsAny(err.Error(), "\r\n\x00\x1b\"")) {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}

// FuzzConfig checks that no accepted configuration sends the client secret over the internet without TLS.
func FuzzConfig(f *testing.F) {
	f.Add("github", "", "", "", "", "")
	f.Add("gitea", "https://git.example.com/x/", "", "", "", "a,b c")
	f.Add("custom", "", "https://a.example/authorize", "http://127.0.0.1/token", "http://git.test/user?x=y", "")
	f.Add("GitLab", "http://git.example.com", "", "", "", "")
	f.Add("", "https://[::1]:80", "https://a:b@c", "https://a#b", "//a", "")
	f.Fuzz(func(t *testing.T, provider, base, authorize, token, user, scopes string) {
		p, err := New(Config{
			Provider: provider, BaseURL: base, ClientID: "app", ClientSecret: testSecret,
			AuthorizeURL: authorize, TokenURL: token, UserURL: user, Scopes: scopes,
		})
		if err != nil {
			if strings.Contains(err.Error(), testSecret) {
				t.Fatal(err)
			}
			return
		}
		for _, raw := range []string{p.urls.authorize, p.urls.token, p.urls.user} {
			u, err := url.Parse(raw)
			inClear := u == nil || u.Scheme == "http" && !isPrivate(u.Hostname())
			if err != nil || u.Host == "" || u.User != nil || inClear || u.Scheme != "https" && u.Scheme != "http" {
				t.Fatalf("%q: %v", raw, err)
			}
		}
		if p.issuer == "" {
			t.Fatal("no namespace of subjects")
		}
		to, err := url.Parse(p.AuthorizeURL("the-state", testVerifier, testCallback))
		if err != nil || to.Query().Get("state") != "the-state" || to.Query().Get("code_challenge_method") != "S256" {
			t.Fatalf("%v, %v", to, err)
		}
	})
}
