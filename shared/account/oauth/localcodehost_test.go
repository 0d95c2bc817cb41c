package oauth_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"devplatform/infra/local/codehost"
	"devplatform/shared/account/oauth"
)

const callback = "http://127.0.0.1/api/auth/codehost/callback"

// flow is the client, the strict provider of the local platform, and a browser between them.
type flow struct {
	base     string
	provider *oauth.Provider
	browser  *http.Client
	late     atomic.Int64 // nanoseconds that the provider's clock is ahead
}

func newFlow(t *testing.T, configure func(base string) oauth.Config) *flow {
	t.Helper()
	f := &flow{}
	host, err := codehost.New(codehost.Options{
		Now:      func() time.Time { return time.Now().Add(time.Duration(f.late.Load())) },
		ClientID: "app", ClientSecret: "s/e:c r%et", RedirectPrefixes: []string{callback},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	f.base = server.URL + "/codehost"
	cfg := configure(f.base)
	cfg.ClientID = "app"
	if cfg.ClientSecret == "" {
		cfg.ClientSecret = "s/e:c r%et"
	}
	if f.provider, err = oauth.New(cfg); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	f.browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return f
}

func gitea(base string) oauth.Config { return oauth.Config{Provider: "gitea", BaseURL: base} }

func custom(base string) oauth.Config {
	return oauth.Config{
		AuthorizeURL: base + "/login/oauth/authorize", TokenURL: base + "/login/oauth/access_token",
		UserURL: base + "/api/v1/user", EmailsURL: base + "/api/v1/user/emails",
	}
}

// sign opens the authorization URL, submits the consent form, and returns the query of the callback.
func (f *flow) sign(t *testing.T, authorize, login string, verified bool, decision string) url.Values {
	t.Helper()
	res, err := f.browser.Get(authorize)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusFound {
		return location(t, res)
	}
	root, err := html.Parse(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", res.StatusCode, err)
	}
	form := url.Values{}
	for node := range root.Descendants() {
		attrs := make(map[string]string)
		for _, a := range node.Attr {
			attrs[a.Key] = a.Val
		}
		if node.Data == "input" && attrs["type"] == "hidden" {
			form.Set(attrs["name"], attrs["value"])
		}
	}
	form.Set("decision", decision)
	form.Set("login", login)
	form.Set("email", login+"@example.com")
	if verified {
		form.Set("verified", "true")
	}
	res, err = f.browser.PostForm(f.base+"/login/oauth/authorize", form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return location(t, res)
}

func location(t *testing.T, res *http.Response) url.Values {
	t.Helper()
	to, err := res.Location()
	if err != nil || !strings.HasPrefix(to.String(), callback+"?") {
		t.Fatalf("%d, to %v, %v", res.StatusCode, to, err)
	}
	return to.Query()
}

func TestSignInAtTheLocalCodeHost(t *testing.T) {
	t.Parallel()
	for name, configure := range map[string]func(string) oauth.Config{"gitea": gitea, "custom": custom} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, configure)
			host := strings.TrimPrefix(f.base, "http://")
			issuer := map[string]string{"gitea": "gitea:" + host, "custom": "custom:" + strings.TrimSuffix(host, "/codehost")}[name]
			for i, verified := range []bool{true, false} {
				verifier := oauth.NewVerifier()
				login := []string{"ada", "bob"}[i]
				back := f.sign(t, f.provider.AuthorizeURL("s+t&", verifier, callback), login, verified, "authorize")
				if back.Get("state") != "s+t&" || oauth.CallbackError(back) != nil {
					t.Fatalf("came back with %v", back)
				}
				got, err := f.provider.Identify(t.Context(), back.Get("code"), verifier, callback)
				if err != nil {
					t.Fatal(err)
				}
				want := oauth.Identity{
					Provider: issuer, Subject: []string{"1", "2"}[i], Login: login,
					Emails: []oauth.Email{{Address: login + "@example.com", Verified: verified, Primary: true}},
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestRejectionsOfTheLocalCodeHost(t *testing.T) {
	t.Parallel()
	other := oauth.NewVerifier()
	wrongSecret := func(base string) oauth.Config {
		cfg := custom(base)
		cfg.ClientSecret = "wrong"
		return cfg
	}
	cases := map[string]struct {
		configure func(string) oauth.Config
		identify  func(*testing.T, *flow, string, string) error
		code      string
	}{
		"wrong secret": {wrongSecret, redeem, "invalid_client"},
		"another verifier": {gitea, func(t *testing.T, f *flow, code, _ string) error {
			return redeem(t, f, code, other)
		}, "invalid_grant"},
		"an unknown code": {custom, func(t *testing.T, f *flow, _, verifier string) error {
			return redeem(t, f, "unknown", verifier)
		}, "invalid_grant"},
		"a replay": {gitea, func(t *testing.T, f *flow, code, verifier string) error {
			if err := redeem(t, f, code, verifier); err != nil {
				t.Fatal(err)
			}
			return redeem(t, f, code, verifier)
		}, "invalid_grant"},
		"a code too old": {gitea, func(t *testing.T, f *flow, code, verifier string) error {
			f.late.Store(int64(10 * time.Minute))
			return redeem(t, f, code, verifier)
		}, "invalid_grant"},
		"another redirect": {gitea, func(t *testing.T, f *flow, code, verifier string) error {
			_, err := f.provider.Identify(t.Context(), code, verifier, callback+"/other")
			return err
		}, "invalid_grant"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, c.configure)
			verifier := oauth.NewVerifier()
			back := f.sign(t, f.provider.AuthorizeURL("s", verifier, callback), "ada", true, "authorize")
			err := c.identify(t, f, back.Get("code"), verifier)
			e, ok := errors.AsType[*oauth.Error](err)
			if !ok || !errors.Is(err, oauth.ErrRefused) || e.Code != c.code || e.Step != "token" {
				t.Errorf("error %v, want %s", err, c.code)
			}
		})
	}
}

func redeem(t *testing.T, f *flow, code, verifier string) error {
	t.Helper()
	_, err := f.provider.Identify(t.Context(), code, verifier, callback)
	return err
}

func TestDenialsOfTheLocalCodeHost(t *testing.T) {
	t.Parallel()
	f := newFlow(t, gitea)
	back := f.sign(t, f.provider.AuthorizeURL("s", oauth.NewVerifier(), callback), "ada", true, "cancel")
	if err := oauth.CallbackError(back); !errors.Is(err, oauth.ErrDenied) || back.Get("state") != "s" {
		t.Errorf("cancel: %v, %v", back, err)
	}
	greedy := newFlow(t, func(base string) oauth.Config { cfg := gitea(base); cfg.Scopes = "all"; return cfg })
	back = greedy.sign(t, greedy.provider.AuthorizeURL("s", oauth.NewVerifier(), callback), "ada", true, "authorize")
	if err := oauth.CallbackError(back); !errors.Is(err, oauth.ErrDenied) || back.Get("error") != "invalid_scope" {
		t.Errorf("a scope that is not there: %v, %v", back, err)
	}
}

func TestMissingScopeIsRejectedByTheAPI(t *testing.T) {
	t.Parallel()
	f := newFlow(t, func(base string) oauth.Config { cfg := gitea(base); cfg.Scopes = "user:email"; return cfg })
	verifier := oauth.NewVerifier()
	back := f.sign(t, f.provider.AuthorizeURL("s", verifier, callback), "ada", true, "authorize")
	err := redeem(t, f, back.Get("code"), verifier)
	e, ok := errors.AsType[*oauth.Error](err)
	if !ok || !errors.Is(err, oauth.ErrRefused) || e.Step != "user" || e.Status != http.StatusForbidden {
		t.Errorf("error %v", err)
	}
}
