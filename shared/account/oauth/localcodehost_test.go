package oauth_test

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"devplatform/infra/local/codehost"
	"devplatform/shared/account/oauth"
)

const (
	callback     = "http://127.0.0.1/api/auth/codehost/callback"
	clientSecret = "s/e:c r%et" // with characters that must be escaped
)

// fixture is the code host of the local platform, a provider that uses it, and the HTTP client of a user.
type fixture struct {
	base       string // root URL of the code host
	provider   *oauth.Provider
	client     *http.Client
	clockAhead atomic.Int64 // nanoseconds that the clock of the code host is ahead
}

func newFixture(t *testing.T, configure func(base string) oauth.Config) *fixture {
	t.Helper()
	f := &fixture{}
	server := httptest.NewServer(codehost.New(codehost.Options{
		Now:      func() time.Time { return time.Now().Add(time.Duration(f.clockAhead.Load())) },
		ClientID: "app", ClientSecret: clientSecret, RedirectPrefixes: []string{callback},
		Logger: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(server.Close)
	f.base = server.URL + "/codehost"
	cfg := configure(f.base)
	cfg.ClientID = "app"
	if cfg.ClientSecret == "" {
		cfg.ClientSecret = clientSecret
	}
	var err error
	if f.provider, err = oauth.New(cfg); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	f.client = &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return f
}

// gitea returns the configuration of the code host as a Gitea server.
func gitea(base string) oauth.Config { return oauth.Config{Provider: "gitea", BaseURL: base} }

// custom returns the configuration of the code host as a custom provider.
func custom(base string) oauth.Config {
	return oauth.Config{
		AuthorizeURL: base + "/login/oauth/authorize", TokenURL: base + "/login/oauth/access_token",
		UserURL: base + "/api/v1/user", EmailsURL: base + "/api/v1/user/emails",
	}
}

// consent is the user's input on the consent page.
type consent struct {
	login    string // the address is login@example.com
	verified bool   // the address is verified
	decision string // "authorize" or "cancel"
}

var adaConsents = consent{login: "ada", verified: true, decision: "authorize"}

// authorize opens the authorization page, submits the consent form, and returns the query of the callback.
func (f *fixture) authorize(t *testing.T, state, verifier string, c consent) url.Values {
	t.Helper()
	page, err := f.client.Get(f.provider.AuthorizeURL(state, verifier, callback))
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	if page.StatusCode == http.StatusFound { // a redirect with an error, without a consent page
		return callbackQuery(t, page)
	}
	form := hiddenFields(t, page)
	form.Set("decision", c.decision)
	form.Set("login", c.login)
	form.Set("email", c.login+"@example.com")
	if c.verified {
		form.Set("verified", "true")
	}
	submitted, err := f.client.PostForm(f.base+"/login/oauth/authorize", form)
	if err != nil {
		t.Fatal(err)
	}
	defer submitted.Body.Close()
	return callbackQuery(t, submitted)
}

// hiddenFields returns the hidden fields of the form on a page.
func hiddenFields(t *testing.T, page *http.Response) url.Values {
	t.Helper()
	root, err := html.Parse(page.Body)
	if err != nil || page.StatusCode != http.StatusOK {
		t.Fatalf("consent page: got status %d and the error %v, want 200", page.StatusCode, err)
	}
	fields := url.Values{}
	for node := range root.Descendants() {
		attributes := make(map[string]string)
		for _, attribute := range node.Attr {
			attributes[attribute.Key] = attribute.Val
		}
		if node.Data == "input" && attributes["type"] == "hidden" {
			fields.Set(attributes["name"], attributes["value"])
		}
	}
	return fields
}

// callbackQuery returns the query of the callback to which a response redirects.
func callbackQuery(t *testing.T, response *http.Response) url.Values {
	t.Helper()
	location, err := response.Location()
	if err != nil || !strings.HasPrefix(location.String(), callback+"?") {
		t.Fatalf("got status %d and the location %v (%v), want a redirect to %s",
			response.StatusCode, location, err, callback)
	}
	return location.Query()
}

func TestSignInAtTheLocalCodeHost(t *testing.T) {
	t.Parallel()
	for name, configure := range map[string]func(string) oauth.Config{"gitea": gitea, "custom": custom} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, configure)
			namespace := name + ":" + strings.TrimPrefix(f.base, "http://")
			if name == "custom" { // the namespace of a custom provider has no path
				namespace = strings.TrimSuffix(namespace, "/codehost")
			}
			for _, c := range []struct {
				subject, login string // the subject depends only on the login
				verified       bool
			}{
				{"4260250382", "ada", true},
				{"2176202713", "bob", false},
			} {
				const state = "s+t&" // with characters that must be escaped
				verifier := oauth.NewVerifier()
				input := consent{login: c.login, verified: c.verified, decision: "authorize"}
				query := f.authorize(t, state, verifier, input)
				if query.Get("state") != state || query.Has("error") {
					t.Fatalf("got the callback query %v, want the state %q and no error", query, state)
				}
				got, err := f.provider.Identify(t.Context(), query.Get("code"), verifier, callback)
				if err != nil {
					t.Fatal(err)
				}
				email := oauth.Email{Address: c.login + "@example.com", Verified: c.verified, Primary: true}
				want := oauth.Identity{
					Provider: namespace, Subject: c.subject, Login: c.login, Emails: []oauth.Email{email},
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("identity of %s (-want +got):\n%s", c.login, diff)
				}
			}
		})
	}
}

func TestRejectionsOfTheLocalCodeHost(t *testing.T) {
	t.Parallel()
	wrongSecret := func(base string) oauth.Config {
		cfg := custom(base)
		cfg.ClientSecret = "wrong"
		return cfg
	}
	for name, c := range map[string]struct {
		configure func(base string) oauth.Config
		prepare   func(f *fixture, exchange func()) // before the code is exchanged
		code      string                            // the error code of the code host
		change    string                            // the value that the exchange replaces
	}{
		"wrong secret":         {configure: wrongSecret, code: "invalid_client"},
		"another verifier":     {configure: gitea, change: "verifier"},
		"unknown code":         {configure: custom, change: "code"},
		"another redirect URI": {configure: gitea, change: "redirect"},
		"used code":            {configure: gitea, prepare: func(_ *fixture, exchange func()) { exchange() }},
		"expired code": {configure: gitea, prepare: func(f *fixture, _ func()) {
			f.clockAhead.Store(int64(10 * time.Minute))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, c.configure)
			in := map[string]string{"verifier": oauth.NewVerifier(), "redirect": callback}
			in["code"] = f.authorize(t, "s", in["verifier"], adaConsents).Get("code")
			exchange := func() error {
				_, err := f.provider.Identify(t.Context(), in["code"], in["verifier"], in["redirect"])
				return err
			}
			if c.prepare != nil {
				c.prepare(f, func() {
					if err := exchange(); err != nil {
						t.Fatal(err)
					}
				})
			}
			if c.change != "" {
				in[c.change] += "-other"
			}
			err := exchange()
			e, ok := errors.AsType[*oauth.Error](err)
			if want := cmp.Or(c.code, "invalid_grant"); !ok || !errors.Is(err, oauth.ErrRefused) || e.Code != want {
				t.Errorf("got the error %v, want %v with the code %s", err, oauth.ErrRefused, want)
			}
		})
	}
}

func TestDenialsOfTheLocalCodeHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gitea)
	cancel := consent{login: "ada", verified: true, decision: "cancel"}
	query := f.authorize(t, "s", oauth.NewVerifier(), cancel)
	if err := oauth.CallbackError(query.Get("error")); !errors.Is(err, oauth.ErrDenied) || query.Get("state") != "s" {
		t.Errorf("cancelled: got %v in the callback %v, want %v and the state s", err, query, oauth.ErrDenied)
	}
}
