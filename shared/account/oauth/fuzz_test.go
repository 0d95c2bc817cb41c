package oauth

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"devplatform/shared/config"
)

// fakeTransport returns the same response to every request, without a network.
type fakeTransport struct {
	status      int
	contentType string
	token       string // the body of responses of the token endpoint
	body        string // the body of all other responses
}

func (f fakeTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	body := f.body
	if strings.HasSuffix(r.URL.Path, "/token") {
		body = f.token
	}
	return &http.Response{
		StatusCode: f.status,
		Header:     http.Header{"Content-Type": {f.contentType}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}, nil
}

// FuzzIdentify signs in with arbitrary responses. It checks that the result is an identity, or an *Error that contains
// neither the client secret nor the code.
func FuzzIdentify(f *testing.F) {
	f.Add(200, "application/json", tokenResponse.body, `{"id":1,"login":"a","email":"a@x.example"}`)
	f.Add(200, "application/x-www-form-urlencoded", "access_token=t&token_type=bearer",
		`[{"email":"a@x.example","verified":true}]`)
	f.Add(200, "text/plain", "error=bad_verification_code&error_description=x", `{}`)
	f.Add(400, "application/json", `{"error":"invalid_client\n","error_description":"`+testSecret+`"}`, ``)
	f.Add(200, "application/json", `{"access_token":"x\r\ny","expires_in":"7"}`, `{"sub":"s","values":[]}`)
	f.Add(200, "application/json", `{"access_token":null,"expires_in":1e400}`, `null`)
	f.Add(302, "", "", "")
	f.Fuzz(func(t *testing.T, status int, contentType, token, body string) {
		if status < 200 || status > 599 {
			return // net/http never returns such a final status
		}
		p := newProvider(t, Config{
			Provider: "custom", AuthorizeURL: "https://x.example/authorize", TokenURL: "https://x.example/token",
			UserURL: "https://x.example/user", EmailsURL: "https://x.example/emails",
		})
		p.client = func() *http.Client {
			return &http.Client{
				Transport:     transport{fakeTransport{status: status, contentType: contentType, token: token, body: body}},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
		}
		identity, err := identify(t.Context(), p)
		if err == nil {
			if identity.Subject == "" || identity.Provider != p.issuer {
				t.Fatalf("got the identity %+v, want one with a subject and the provider %s", identity, p.issuer)
			}
			return
		}
		var failed *Error
		if !errors.As(err, &failed) || !errors.Is(err, ErrRefused) && !errors.Is(err, ErrUnavailable) {
			t.Fatalf("got the error %v, want %v or %v", err, ErrRefused, ErrUnavailable)
		}
		text := err.Error()
		if strings.Contains(text, testSecret) || strings.Contains(text, testCode) {
			t.Fatalf("the error contains a secret: %q", text)
		}
		if strings.ContainsAny(text, "\r\n") || !utf8.ValidString(text) {
			t.Fatalf("the error is not safe to log: %q", text)
		}
	})
}

// FuzzEmails checks that an address is returned once, and is verified only if all its entries are.
func FuzzEmails(f *testing.F) {
	for _, seed := range []string{
		`[{"email":"a@x.example","verified":true,"primary":true}]`,
		`{"values":[{"email":"a@x.example","is_confirmed":true}]}`,
		`[{"email":" a@x.example","verified":true},{"email":"a@x.example","verified":"no"}]`,
		`{"values":null}`, `[null]`, `[{"email":["a@x.example"]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var list emailList
		if json.Unmarshal(body, &list) != nil {
			return
		}
		emails := list.emails()
		if len(emails) > maxEmails {
			t.Fatalf("got %d addresses, want at most %d", len(emails), maxEmails)
		}
		var seen []string
		for _, e := range emails {
			if !isAddress(e.Address) || slices.Contains(seen, e.Address) {
				t.Fatalf("the address %q is malformed or is listed twice", e.Address)
			}
			seen = append(seen, e.Address)
			for _, entry := range list {
				verified := bool(entry.Verified || entry.EmailVerified || entry.IsConfirmed || entry.ConfirmedAt != "")
				if e.Verified && !verified && strings.TrimSpace(string(entry.Email)) == e.Address {
					t.Fatalf("%q is verified, although an entry is not: %s", e.Address, body)
				}
			}
		}
	})
}

// FuzzCallbackError checks that the error of an arbitrary callback is safe to log. An attacker can choose the code,
// because it can be part of a link.
func FuzzCallbackError(f *testing.F) {
	for _, seed := range []string{"", "access_denied", "server_error", "a\nb", "\x00\x1b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		err := CallbackError(code)
		if (err == nil) != (code == "") {
			t.Fatalf("code %q: got the error %v", code, err)
		}
		if err == nil {
			return
		}
		if errors.Is(err, ErrDenied) == errors.Is(err, ErrUnavailable) {
			t.Fatalf("code %q: got the error %v, want either %v or %v", code, err, ErrDenied, ErrUnavailable)
		}
		if strings.ContainsAny(err.Error(), "\r\n\x00\x1b\"") {
			t.Fatalf("code %q: the error is not safe to log: %q", code, err)
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
				t.Fatalf("the error contains the client secret: %v", err)
			}
			return
		}
		for _, raw := range []string{p.urls.authorize, p.urls.token, p.urls.user} {
			u, err := url.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			encrypted := u.Scheme == "https"
			private := u.Scheme == "http" && config.IsPrivateHost(u.Hostname())
			if u.Host == "" || u.User != nil || !encrypted && !private {
				t.Fatalf("New accepts the URL %q", raw)
			}
		}
		if p.issuer == "" {
			t.Fatal("the provider has no issuer")
		}
		u, err := url.Parse(p.AuthorizeURL("the-state", testVerifier, testCallback))
		if err != nil {
			t.Fatal(err)
		}
		if query := u.Query(); query.Get("state") != "the-state" || query.Get("code_challenge_method") != "S256" {
			t.Fatalf("got the authorization URL %s, want the state and an S256 challenge", u)
		}
	})
}
