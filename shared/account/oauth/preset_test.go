package oauth

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// presetCases contains responses from the documentation of the providers, reduced to the relevant fields.
var presetCases = map[string]struct {
	config    func(base string) Config
	tokenPath string
	inHeader  bool // the client authenticates in the header of the token request
	responses map[string]response
	issuer    func(host string) string
	want      Identity // without Provider
}{
	"github": {
		config:    func(base string) Config { return Config{Provider: "GitHub", BaseURL: base + "/"} },
		tokenPath: "/login/oauth/access_token",
		responses: map[string]response{
			"/api/v3/user": {body: `{"login":"octocat","id":9007199254740993,"node_id":"MDQ6VXNlcjE=","type":"User","name":"monalisa octocat","email":null,"site_admin":false,"two_factor_authentication":true}`},
			"/api/v3/user/emails": {body: `[{"email":"octocat@github.com","verified":true,"primary":true,"visibility":"private"},
				{"email":"old@example.com","verified":false,"primary":false,"visibility":null}]`},
		},
		issuer: func(host string) string { return "github:" + host },
		want: Identity{
			// An integer above 2⁵³, which a float64 cannot represent.
			Subject: "9007199254740993", Login: "octocat",
			Emails: []Email{
				{Address: "octocat@github.com", Verified: true, Primary: true},
				{Address: "old@example.com", Verified: false, Primary: false},
			},
		},
	},
	"gitlab, confirmed": {
		config:    func(base string) Config { return Config{Provider: "gitlab", BaseURL: base + "/code"} },
		tokenPath: "/code/oauth/token",
		responses: map[string]response{
			"/code/api/v4/user": {body: `{"id":1,"username":"john_smith","email":"john@example.com","name":"John Smith","state":"active","confirmed_at":"2012-05-23T09:05:22Z","identities":[{"provider":"github","extern_uid":"2435223452345"}],"public_email":"public@example.com","commit_email":"c@example.com"}`},
		},
		issuer: func(host string) string { return "gitlab:" + host + "/code" },
		want: Identity{
			Subject: "1", Login: "john_smith",
			Emails: []Email{{Address: "john@example.com", Verified: true, Primary: true}},
		},
	},
	"gitlab, not confirmed": {
		config:    func(base string) Config { return Config{Provider: "gitlab", BaseURL: base} },
		tokenPath: "/oauth/token",
		responses: map[string]response{
			"/api/v4/user": {body: `{"id":2,"username":"eve","email":"john@example.com","name":"Eve","confirmed_at":null}`},
		},
		issuer: func(host string) string { return "gitlab:" + host },
		want: Identity{
			Subject: "2", Login: "eve",
			Emails: []Email{{Address: "john@example.com", Verified: false, Primary: true}},
		},
	},
	"bitbucket": {
		config: func(base string) Config {
			return Config{
				Provider:  "bitbucket",
				TokenURL:  base + "/site/oauth2/access_token",
				UserURL:   base + "/2.0/user",
				EmailsURL: base + "/2.0/user/emails?pagelen=100",
			}
		},
		tokenPath: "/site/oauth2/access_token",
		inHeader:  true,
		responses: map[string]response{
			"/2.0/user": {body: `{"type":"user","display_name":"Tutorials account","nickname":"tutorials","uuid":"{c788b2da-b7a2-404c-9e26-d3f077557007}","account_id":"123:abc","is_staff":false}`},
			"/2.0/user/emails": {body: `{"pagelen":100,"page":1,"size":2,"values":[
				{"type":"email","email":"one@example.com","is_primary":false,"is_confirmed":false},
				{"type":"email","email":"two@example.com","is_primary":true,"is_confirmed":true}]}`},
		},
		issuer: func(host string) string { return "bitbucket:" + host },
		want: Identity{
			Subject: "{c788b2da-b7a2-404c-9e26-d3f077557007}", Login: "tutorials",
			Emails: []Email{
				{Address: "one@example.com", Verified: false, Primary: false},
				{Address: "two@example.com", Verified: true, Primary: true},
			},
		},
	},
	"gitea": {
		config:    func(base string) Config { return Config{Provider: "gitea", BaseURL: base} },
		tokenPath: "/login/oauth/access_token",
		responses: map[string]response{
			"/api/v1/user":        {body: `{"id":7,"login":"ada","login_name":"","source_id":0,"full_name":"Ada L.","email":"ada@example.com","username":"ada"}`},
			"/api/v1/user/emails": {body: `[{"email":"ada@example.com","verified":true,"primary":true,"user_id":7,"username":"ada"}]`},
		},
		issuer: func(host string) string { return "gitea:" + host },
		want: Identity{
			Subject: "7", Login: "ada",
			Emails: []Email{{Address: "ada@example.com", Verified: true, Primary: true}},
		},
	},
	"custom, OpenID Connect": {
		config: func(base string) Config {
			return Config{AuthorizeURL: base + "/a", TokenURL: base + "/t", UserURL: base + "/userinfo"}
		},
		tokenPath: "/t",
		inHeader:  true,
		responses: map[string]response{
			"/userinfo": {body: `{"sub":"auth0|5f7c8ec7","preferred_username":"j.doe","name":"Jane Doe","email":"janedoe@example.com","email_verified":"true"}`},
		},
		issuer: func(host string) string { return "custom:" + host },
		want: Identity{
			Subject: "auth0|5f7c8ec7", Login: "j.doe",
			Emails: []Email{{Address: "janedoe@example.com", Verified: true, Primary: true}},
		},
	},
}

func TestIdentifyWithEveryPreset(t *testing.T) {
	t.Parallel()
	for name, c := range presetCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			responses := map[string]response{c.tokenPath: tokenResponse}
			maps.Copy(responses, c.responses)
			f := newFakeProvider(t, responses)
			p := newProvider(t, c.config(f.URL))
			got, err := identify(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.Provider = c.issuer(strings.TrimPrefix(f.URL, "http://"))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
			f.checkExchange(t, c.tokenPath, c.inHeader)
			for path := range c.responses {
				received := f.received[path]
				if len(received) != 1 || received[0].Header.Get("Authorization") != "Bearer "+testToken {
					t.Errorf("%s: got %d requests, want one with the token", path, len(received))
				}
			}
		})
	}
}

func TestPublicServices(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		urls  endpoints
		scope string
	}{
		"github": {
			urls: endpoints{
				authorize: "https://github.com/login/oauth/authorize",
				token:     "https://github.com/login/oauth/access_token",
				user:      "https://api.github.com/user",
				emails:    "https://api.github.com/user/emails?per_page=100",
			},
			scope: "read:user user:email",
		},
		"gitlab": {
			urls: endpoints{
				authorize: "https://gitlab.com/oauth/authorize",
				token:     "https://gitlab.com/oauth/token",
				user:      "https://gitlab.com/api/v4/user",
			},
			scope: "read_user",
		},
		"bitbucket": {
			urls: endpoints{
				authorize: "https://bitbucket.org/site/oauth2/authorize",
				token:     "https://bitbucket.org/site/oauth2/access_token",
				user:      "https://api.bitbucket.org/2.0/user",
				emails:    "https://api.bitbucket.org/2.0/user/emails?pagelen=100",
			},
			scope: "account email",
		},
	}
	// The verifier and its challenge are the example of RFC 7636, appendix B.
	const (
		verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
		challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	)
	for kind, c := range cases {
		p := newProvider(t, Config{Provider: kind})
		if p.issuer != kind {
			t.Errorf("%s: got the issuer %q, want %q", kind, p.issuer, kind)
		}
		if p.urls != c.urls {
			t.Errorf("%s: got the URLs %+v, want %+v", kind, p.urls, c.urls)
		}
		u, err := url.Parse(p.AuthorizeURL("the state", verifier, testCallback))
		if err != nil {
			t.Fatal(err)
		}
		want := url.Values{
			"client_id":             {"app"},
			"response_type":         {"code"},
			"redirect_uri":          {testCallback},
			"state":                 {"the state"},
			"scope":                 {c.scope},
			"code_challenge":        {challenge},
			"code_challenge_method": {"S256"},
		}
		if diff := cmp.Diff(want, u.Query()); diff != "" {
			t.Errorf("%s: query of the authorization URL (-want +got):\n%s", kind, diff)
		}
		if !strings.HasPrefix(u.String(), c.urls.authorize+"?") {
			t.Errorf("%s: got the authorization URL %s, want %s with a query", kind, u, c.urls.authorize)
		}
	}
}

func TestSelfHostedIssuersDiffer(t *testing.T) {
	t.Parallel()
	cases := map[string]Config{ // by issuer
		"gitea:git.example.com":     {Provider: "gitea", BaseURL: "https://GIT.example.com:443/"},
		"gitea:git.example.com/sub": {Provider: "gitea", BaseURL: "https://git.example.com/sub"},
		"gitea:git.example.com:444": {Provider: "gitea", BaseURL: "https://git.example.com:444"},
		"github:ghe.example.com":    {Provider: "github", BaseURL: "https://ghe.example.com"},
		"github":                    {Provider: "github", BaseURL: "https://github.com"},
		"github:api.example.com":    {Provider: "github", UserURL: "https://api.example.com/user"},
		"custom:id.example.com": {
			AuthorizeURL: "https://x.example/a", TokenURL: "https://x.example/t", UserURL: "https://id.example.com/v2/me",
		},
	}
	for want, cfg := range cases {
		if got := newProvider(t, cfg).issuer; got != want {
			t.Errorf("%+v: got the issuer %q, want %q", cfg, got, want)
		}
	}
}

// If a custom provider rejects the client credentials in the header, a second request sends them in the body.
func TestCustomTriesTheOtherClientAuthentication(t *testing.T) {
	t.Parallel()
	f := newFakeProvider(t, map[string]response{
		"/token": {status: http.StatusUnauthorized, body: `{"error":"invalid_client"}`},
	})
	_, err := identify(t.Context(), f.provider(t))
	checkError(t, err, ErrRefused, stepToken, "invalid_client", http.StatusUnauthorized)
	received := f.received["/token"]
	if len(received) != 2 || received[1].PostForm.Get("client_secret") != testSecret {
		t.Errorf("got %d token requests, want 2, the second one with the secret in its body", len(received))
	}
}

func TestScopesOfTheConfigTakePrecedence(t *testing.T) {
	t.Parallel()
	p := newProvider(t, Config{Provider: "github", Scopes: "openid, user:email  x"})
	if diff := cmp.Diff([]string{"openid", "user:email", "x"}, p.scopes); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
}
