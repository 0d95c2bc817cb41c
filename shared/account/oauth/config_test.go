package oauth

import (
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
		"OAUTH_PROVIDER": "a", "OAUTH_BASE_URL": "b", "OAUTH_CLIENT_ID": "c", "OAUTH_CLIENT_SECRET": "d",
		"OAUTH_AUTHORIZE_URL": "e", "OAUTH_TOKEN_URL": "f", "OAUTH_USER_URL": "g", "OAUTH_EMAILS_URL": "h",
		"OAUTH_SCOPES": "i j",
	}})
	if err != nil || got.Secret != nil { // cmp.Diff cannot compare functions
		t.Fatalf("got %+v and the error %v, want no Secret", got, err)
	}
	want := Config{
		Provider: "a", BaseURL: "b", ClientID: "c", ClientSecret: "d", AuthorizeURL: "e", TokenURL: "f", UserURL: "g",
		EmailsURL: "h", Scopes: "i j",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestNotConfigured(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", "none", " None "} {
		cfg := Config{Provider: kind, ClientID: "x"}
		if _, err := New(cfg); !errors.Is(err, ErrNotConfigured) || cfg.Enabled() {
			t.Errorf("provider %q: got the error %v, want %v", kind, err, ErrNotConfigured)
		}
	}
	withURLs := Config{Provider: "none", AuthorizeURL: "https://x.example/a", TokenURL: "https://x.example/t"}
	if _, err := New(withURLs); !errors.Is(err, ErrNotConfigured) {
		t.Errorf("provider none with URLs: got the error %v, want %v", err, ErrNotConfigured)
	}
}

func TestConfigErrorsNameTheVariables(t *testing.T) {
	t.Parallel()
	withClient := func(cfg Config) Config {
		cfg.ClientID, cfg.ClientSecret = "id", "secret"
		return cfg
	}
	gitlab := func(baseURL string) Config {
		return withClient(Config{Provider: "gitlab", BaseURL: baseURL})
	}
	cases := map[string]struct {
		cfg  Config
		want []string // the variables that the error names
	}{
		"unknown provider":         {withClient(Config{Provider: "sourceforge"}), []string{"OAUTH_PROVIDER"}},
		"no client":                {Config{Provider: "github"}, []string{"OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET"}},
		"gitea without a base URL": {withClient(Config{Provider: "gitea"}), []string{"OAUTH_BASE_URL"}},
		"bitbucket with a base URL": {
			withClient(Config{Provider: "bitbucket", BaseURL: "https://x.example"}),
			[]string{"OAUTH_BASE_URL"},
		},
		"base URL without a scheme":     {gitlab("git.example.com"), []string{"OAUTH_BASE_URL"}},
		"base URL is a path":            {gitlab("/git"), []string{"OAUTH_BASE_URL"}},
		"base URL with ftp":             {gitlab("ftp://x.example"), []string{"OAUTH_BASE_URL"}},
		"base URL with a password":      {gitlab("https://u:hunter2@x.example"), []string{"OAUTH_BASE_URL"}},
		"base URL with a query":         {gitlab("https://x.example?hunter2"), []string{"OAUTH_BASE_URL"}},
		"base URL with an invalid port": {gitlab("https://u:hunter2@x.example:port"), []string{"OAUTH_BASE_URL"}},
		"http to a public host":         {gitlab("http://git.example.com"), []string{"OAUTH_BASE_URL"}},
		"http to a public IP address":   {gitlab("http://8.8.8.8"), []string{"OAUTH_BASE_URL"}},
		"custom without URLs": {
			withClient(Config{Provider: "custom"}),
			[]string{"OAUTH_AUTHORIZE_URL", "OAUTH_TOKEN_URL", "OAUTH_USER_URL"},
		},
		"custom with a base URL": {
			withClient(Config{
				Provider: "custom", BaseURL: "https://x.example",
				AuthorizeURL: "https://x.example", TokenURL: "https://x.example", UserURL: "https://x.example",
			}),
			[]string{"OAUTH_BASE_URL"},
		},
		"two invalid explicit URLs": {
			withClient(Config{Provider: "github", EmailsURL: "emails", TokenURL: "https://x.example/#f"}),
			[]string{"OAUTH_TOKEN_URL", "OAUTH_EMAILS_URL"},
		},
		"custom with one invalid URL and no client": {
			Config{Provider: "custom", UserURL: "x"},
			[]string{
				"OAUTH_AUTHORIZE_URL", "OAUTH_TOKEN_URL", "OAUTH_USER_URL", "OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(c.cfg)
			if err == nil || !c.cfg.Enabled() {
				t.Fatalf("got the error %v and enabled = %v, want an error and true", err, c.cfg.Enabled())
			}
			var got []string
			for _, line := range strings.Split(err.Error(), "\n") {
				variable, _, _ := strings.Cut(line, " ")
				got = append(got, strings.TrimSuffix(variable, ":"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("variables in the error %q (-want +got):\n%s", err, diff)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error contains a part of the URL that can be secret: %v", err)
			}
		})
	}
}

func TestPlainHTTPIsAllowedInPrivateNetworks(t *testing.T) {
	t.Parallel()
	for _, base := range []string{
		"http://localhost:3000", "http://127.0.0.1:3000/git", "http://[::1]:3000", "http://gitea:3000", "http://10.1.2.3",
		"http://git.internal", "http://git.local:80", "https://git.example.com",
	} {
		if _, err := New(Config{Provider: "gitea", BaseURL: base, ClientID: "a", ClientSecret: "b"}); err != nil {
			t.Errorf("base URL %s: %v", base, err)
		}
	}
}
