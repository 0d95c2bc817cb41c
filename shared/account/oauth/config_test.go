package oauth

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
	"github.com/google/go-cmp/cmp"
)

func TestConfigFromTheEnvironment(t *testing.T) {
	t.Parallel()
	var got Config
	err := env.ParseWithOptions(&got, env.Options{Environment: map[string]string{
		"OAUTH_PROVIDER": "a", "OAUTH_BASE_URL": "b", "OAUTH_CLIENT_ID": "c", "OAUTH_CLIENT_SECRET": "d", "OAUTH_AUTHORIZE_URL": "e",
		"OAUTH_TOKEN_URL": "f", "OAUTH_USER_URL": "g", "OAUTH_EMAILS_URL": "h", "OAUTH_SCOPES": "i j",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{"a", "b", "c", "d", "e", "f", "g", "h", "i j", nil}
	if got.Secret != nil {
		t.Error("a secret function out of the environment")
	}
	got.Secret, want.Secret = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNotConfigured(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", "none", " None "} {
		cfg := Config{Provider: kind, ClientID: "x"}
		if _, err := New(cfg); !errors.Is(err, ErrNotConfigured) || cfg.Enabled() {
			t.Errorf("%q: %v", kind, err)
		}
	}
	off := Config{Provider: "none", AuthorizeURL: "https://x.example/a", TokenURL: "https://x.example/t", UserURL: "https://x.example/u"}
	if _, err := New(off); !errors.Is(err, ErrNotConfigured) {
		t.Errorf("none with URLs: %v", err)
	}
}

func TestConfigErrorsNameTheVariables(t *testing.T) {
	t.Parallel()
	with := func(cfg Config) Config { cfg.ClientID, cfg.ClientSecret = "id", "secret"; return cfg }
	cases := map[string]struct {
		cfg  Config
		want []string // exactly these are named
	}{
		"unknown kind":              {with(Config{Provider: "sourceforge"}), []string{"OAUTH_PROVIDER"}},
		"no credentials":            {Config{Provider: "github"}, []string{"OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET"}},
		"gitea without a base URL":  {with(Config{Provider: "gitea"}), []string{"OAUTH_BASE_URL"}},
		"bitbucket with a base URL": {with(Config{Provider: "bitbucket", BaseURL: "https://x.example"}), []string{"OAUTH_BASE_URL"}},
		"no URL":                    {with(Config{Provider: "gitlab", BaseURL: "git.example.com"}), []string{"OAUTH_BASE_URL"}},
		"a path":                    {with(Config{Provider: "gitlab", BaseURL: "/git"}), []string{"OAUTH_BASE_URL"}},
		"ftp":                       {with(Config{Provider: "gitlab", BaseURL: "ftp://x.example"}), []string{"OAUTH_BASE_URL"}},
		"a password":                {with(Config{Provider: "gitlab", BaseURL: "https://u:hunter2@x.example"}), []string{"OAUTH_BASE_URL"}},
		"a query":                   {with(Config{Provider: "gitlab", BaseURL: "https://x.example?hunter2"}), []string{"OAUTH_BASE_URL"}},
		"unparsable":                {with(Config{Provider: "gitlab", BaseURL: "https://u:hunter2@x.example:port"}), []string{"OAUTH_BASE_URL"}},
		"http in public":            {with(Config{Provider: "gitlab", BaseURL: "http://git.example.com"}), []string{"OAUTH_BASE_URL"}},
		"http, public IP":           {with(Config{Provider: "gitlab", BaseURL: "http://8.8.8.8"}), []string{"OAUTH_BASE_URL"}},
		"custom, empty":             {with(Config{Provider: "custom"}), []string{"OAUTH_AUTHORIZE_URL", "OAUTH_TOKEN_URL", "OAUTH_USER_URL"}},
		"custom with base":          {with(Config{Provider: "custom", BaseURL: "https://x.example", AuthorizeURL: "https://x.example", TokenURL: "https://x.example", UserURL: "https://x.example"}), []string{"OAUTH_BASE_URL"}},
		"a bad override":            {with(Config{Provider: "github", EmailsURL: "emails", TokenURL: "https://x.example/#f"}), []string{"OAUTH_TOKEN_URL", "OAUTH_EMAILS_URL"}},
		"everything at once":        {Config{Provider: "custom", UserURL: "x"}, []string{"OAUTH_AUTHORIZE_URL", "OAUTH_TOKEN_URL", "OAUTH_USER_URL", "OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(c.cfg)
			if err == nil || !c.cfg.Enabled() {
				t.Fatalf("error %v", err)
			}
			var named []string
			for _, line := range strings.Split(err.Error(), "\n") {
				name, _, _ := strings.Cut(line, " ")
				named = append(named, strings.TrimSuffix(name, ":"))
			}
			if diff := cmp.Diff(c.want, named); diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error contains a password: %v", err)
			}
		})
	}
}

func TestPlainHTTPIsPrivateOnly(t *testing.T) {
	t.Parallel()
	for _, base := range []string{
		"http://localhost:3000", "http://127.0.0.1:3000/git", "http://[::1]:3000", "http://gitea:3000", "http://10.1.2.3",
		"http://git.internal", "http://git.local:80", "https://git.example.com",
	} {
		if _, err := New(Config{Provider: "gitea", BaseURL: base, ClientID: "a", ClientSecret: "b"}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestSecretFunctionReplacesTheSecret(t *testing.T) {
	t.Parallel()
	f := newFake(t, map[string]page{"/login/oauth/access_token": tokenPage, "/api/v1/user": {body: `{"id":1}`}, "/api/v1/user/emails": {body: `[]`}})
	p, err := New(Config{Provider: "gitea", BaseURL: f.URL, ClientID: "app", Secret: func(context.Context) (string, error) { return testSecret, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := identify(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	f.checkExchange(t, "/login/oauth/access_token", false)
}
