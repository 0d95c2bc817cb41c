package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The JSON of the providers' documentation, reduced to the fields that could be confused.
var presetCases = map[string]struct {
	config   func(base string) Config
	token    string
	inHeader bool
	pages    map[string]page
	issuer   func(host string) string
	want     Identity
}{
	"github": {
		config: func(base string) Config { return Config{Provider: "GitHub", BaseURL: base + "/"} },
		token:  "/login/oauth/access_token",
		pages: map[string]page{
			"/api/v3/user": {body: `{"login":"octocat","id":9007199254740993,"node_id":"MDQ6VXNlcjE=","type":"User","name":"monalisa octocat","email":null,"site_admin":false,"two_factor_authentication":true}`},
			"/api/v3/user/emails": {body: `[{"email":"octocat@github.com","verified":true,"primary":true,"visibility":"private"},
				{"email":"old@example.com","verified":false,"primary":false,"visibility":null}]`},
		},
		issuer: func(host string) string { return "github:" + host },
		want: Identity{Subject: "9007199254740993", Login: "octocat", Name: "monalisa octocat", Emails: []Email{
			{"octocat@github.com", true, true}, {"old@example.com", false, false}}},
	},
	"gitlab, confirmed": {
		config: func(base string) Config { return Config{Provider: "gitlab", BaseURL: base + "/code"} },
		token:  "/code/oauth/token",
		pages: map[string]page{
			"/code/api/v4/user": {body: `{"id":1,"username":"john_smith","email":"john@example.com","name":"John Smith","state":"active","confirmed_at":"2012-05-23T09:05:22Z","identities":[{"provider":"github","extern_uid":"2435223452345"}],"public_email":"public@example.com","commit_email":"c@example.com"}`},
		},
		issuer: func(host string) string { return "gitlab:" + host + "/code" },
		want:   Identity{Subject: "1", Login: "john_smith", Name: "John Smith", Emails: []Email{{"john@example.com", true, true}}},
	},
	"gitlab, not confirmed": {
		config: func(base string) Config { return Config{Provider: "gitlab", BaseURL: base} },
		token:  "/oauth/token",
		pages: map[string]page{
			"/api/v4/user": {body: `{"id":2,"username":"eve","email":"john@example.com","name":"Eve","confirmed_at":null}`},
		},
		issuer: func(host string) string { return "gitlab:" + host },
		want:   Identity{Subject: "2", Login: "eve", Name: "Eve", Emails: []Email{{"john@example.com", false, true}}},
	},
	"bitbucket": {
		config: func(base string) Config {
			return Config{Provider: "bitbucket", TokenURL: base + "/site/oauth2/access_token", UserURL: base + "/2.0/user", EmailsURL: base + "/2.0/user/emails?pagelen=100"}
		},
		token: "/site/oauth2/access_token", inHeader: true,
		pages: map[string]page{
			"/2.0/user": {body: `{"type":"user","display_name":"Tutorials account","nickname":"tutorials","uuid":"{c788b2da-b7a2-404c-9e26-d3f077557007}","account_id":"123:abc","is_staff":false}`},
			"/2.0/user/emails": {body: `{"pagelen":100,"page":1,"size":2,"values":[
				{"type":"email","email":"one@example.com","is_primary":false,"is_confirmed":false},
				{"type":"email","email":"two@example.com","is_primary":true,"is_confirmed":true}]}`},
		},
		issuer: func(host string) string { return "bitbucket:" + host },
		want: Identity{Subject: "{c788b2da-b7a2-404c-9e26-d3f077557007}", Login: "tutorials", Name: "Tutorials account", Emails: []Email{
			{"one@example.com", false, false}, {"two@example.com", true, true}}},
	},
	"gitea": {
		config: func(base string) Config { return Config{Provider: "gitea", BaseURL: base} },
		token:  "/login/oauth/access_token",
		pages: map[string]page{
			"/api/v1/user":        {body: `{"id":7,"login":"ada","login_name":"","source_id":0,"full_name":"Ada L.","email":"ada@example.com","username":"ada"}`},
			"/api/v1/user/emails": {body: `[{"email":"ada@example.com","verified":true,"primary":true,"user_id":7,"username":"ada"}]`},
		},
		issuer: func(host string) string { return "gitea:" + host },
		want:   Identity{Subject: "7", Login: "ada", Name: "Ada L.", Emails: []Email{{"ada@example.com", true, true}}},
	},
	"custom, OpenID Connect": {
		config: func(base string) Config {
			return Config{AuthorizeURL: base + "/a", TokenURL: base + "/t", UserURL: base + "/userinfo"}
		},
		token: "/t", inHeader: true,
		pages: map[string]page{
			"/userinfo": {body: `{"sub":"auth0|5f7c8ec7","preferred_username":"j.doe","name":"Jane Doe","email":"janedoe@example.com","email_verified":"true"}`},
		},
		issuer: func(host string) string { return "custom:" + host },
		want:   Identity{Subject: "auth0|5f7c8ec7", Login: "j.doe", Name: "Jane Doe", Emails: []Email{{"janedoe@example.com", true, true}}},
	},
}

func TestPresetsReadTheirProvider(t *testing.T) {
	t.Parallel()
	for name, c := range presetCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := map[string]page{c.token: tokenPage}
			for path, p := range c.pages {
				pages[path] = p
			}
			f := newFake(t, pages)
			p := newProvider(t, c.config(f.URL))
			got, err := identify(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.Provider = c.issuer(strings.TrimPrefix(f.URL, "http://"))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			f.checkExchange(t, c.token, c.inHeader)
			for path := range c.pages {
				if len(f.asked[path]) != 1 || f.asked[path][0].Header.Get("Authorization") != "Bearer "+testToken {
					t.Errorf("%s was not asked once with the token", path)
				}
			}
		})
	}
}

func TestPublicServices(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ issuer, authorize, scope, token, user, emails string }{
		"github": {"github", "https://github.com/login/oauth/authorize", "read:user user:email",
			"https://github.com/login/oauth/access_token", "https://api.github.com/user", "https://api.github.com/user/emails?per_page=100"},
		"gitlab": {"gitlab", "https://gitlab.com/oauth/authorize", "read_user", "https://gitlab.com/oauth/token", "https://gitlab.com/api/v4/user", ""},
		"bitbucket": {"bitbucket", "https://bitbucket.org/site/oauth2/authorize", "account email",
			"https://bitbucket.org/site/oauth2/access_token", "https://api.bitbucket.org/2.0/user", "https://api.bitbucket.org/2.0/user/emails?pagelen=100"},
	}
	for kind, c := range cases {
		p := newProvider(t, Config{Provider: kind})
		if p.issuer != c.issuer {
			t.Errorf("%s: issuer %q", kind, p.issuer)
		}
		if p.urls.token != c.token || p.urls.user != c.user || p.urls.emails != c.emails {
			t.Errorf("%s: %+v", kind, p.urls)
		}
		u, err := url.Parse(p.AuthorizeURL("the state", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", testCallback))
		if err != nil {
			t.Fatal(err)
		}
		want := url.Values{
			"client_id": {"app"}, "response_type": {"code"}, "redirect_uri": {testCallback}, "state": {"the state"}, "scope": {c.scope},
			// RFC 7636, appendix B
			"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"},
		}
		if diff := cmp.Diff(want, u.Query()); diff != "" || !strings.HasPrefix(u.String(), c.authorize+"?") {
			t.Errorf("%s: %s\n%s", kind, u, diff)
		}
	}
}

func TestSelfHostedIssuersDiffer(t *testing.T) {
	t.Parallel()
	cases := map[string]Config{
		"gitea:git.example.com":     {Provider: "gitea", BaseURL: "https://GIT.example.com:443/"},
		"gitea:git.example.com/sub": {Provider: "gitea", BaseURL: "https://git.example.com/sub"},
		"gitea:git.example.com:444": {Provider: "gitea", BaseURL: "https://git.example.com:444"},
		"github:ghe.example.com":    {Provider: "github", BaseURL: "https://ghe.example.com"},
		"github":                    {Provider: "github", BaseURL: "https://github.com"},
		"github:api.example.com":    {Provider: "github", UserURL: "https://api.example.com/user"},
		"custom:id.example.com":     {AuthorizeURL: "https://x.example/a", TokenURL: "https://x.example/t", UserURL: "https://id.example.com/v2/me"},
	}
	for want, cfg := range cases {
		if got := newProvider(t, cfg).issuer; got != want {
			t.Errorf("%+v: %q", cfg, got)
		}
	}
}

func TestCustomTriesTheOtherClientAuthentication(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string]page{
		"/token": {status: http.StatusUnauthorized, body: `{"error":"invalid_client"}`},
	})
	_, err := identify(t.Context(), f.custom(t))
	checkError(t, err, ErrRefused, stepToken, "invalid_client", http.StatusUnauthorized)
	if n := len(f.asked["/token"]); n != 2 || f.asked["/token"][1].PostForm.Get("client_secret") != testSecret {
		t.Errorf("%d token requests", n)
	}
}

func TestCustomSendsARejectedCodeOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string]page{"/token": {status: http.StatusBadRequest, body: `{"error":"invalid_grant"}`}})
	_, err := identify(t.Context(), f.custom(t))
	checkError(t, err, ErrRefused, stepToken, "invalid_grant", http.StatusBadRequest)
	if n := len(f.asked["/token"]); n != 1 {
		t.Errorf("%d token requests", n)
	}
}

func TestScopesOfTheConfigTakePrecedence(t *testing.T) {
	t.Parallel()
	p := newProvider(t, Config{Provider: "github", Scopes: "openid, user:email  x"})
	if diff := cmp.Diff([]string{"openid", "user:email", "x"}, p.scopes); diff != "" {
		t.Error(diff)
	}
}
