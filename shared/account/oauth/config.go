package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"devplatform/shared/config"
)

// Config is the configuration of the provider, from the environment. New validates it. The errors call the provider the
// code host, as the documents for operators do.
type Config struct {
	// Provider is github, gitlab, bitbucket, gitea, custom or none. Empty means custom if the explicit URLs are set,
	// otherwise none.
	Provider string `env:"OAUTH_PROVIDER"`
	// BaseURL is the root URL of a self-hosted github, gitlab or gitea.
	BaseURL  string `env:"OAUTH_BASE_URL"`
	ClientID string `env:"OAUTH_CLIENT_ID"`
	// ClientSecret is the secret of the client at the provider.
	ClientSecret string `env:"OAUTH_CLIENT_SECRET"`
	// The explicit URLs replace the URLs of the preset. A custom provider needs all except EmailsURL.
	AuthorizeURL string `env:"OAUTH_AUTHORIZE_URL"`
	TokenURL     string `env:"OAUTH_TOKEN_URL"`
	UserURL      string `env:"OAUTH_USER_URL"`
	EmailsURL    string `env:"OAUTH_EMAILS_URL"`
	// Scopes replace the scopes of the preset. They are separated by spaces or commas.
	Scopes string `env:"OAUTH_SCOPES"`
	// Secret, if set, returns the client secret when it is needed. It replaces ClientSecret.
	Secret func(context.Context) (string, error) `env:"-"`
}

// Enabled reports whether a provider is configured. Its configuration can still be invalid.
func (c Config) Enabled() bool { return c.kind() != kindNone }

// kind returns the key of presets, or kindNone.
func (c Config) kind() string {
	kind := strings.ToLower(strings.TrimSpace(c.Provider))
	if kind == "" && c.AuthorizeURL != "" && c.TokenURL != "" {
		return kindCustom
	}
	if kind == "" {
		return kindNone
	}
	return kind
}

// resolve returns the preset and the URLs, or an error that names every invalid variable.
func (c Config) resolve() (preset, endpoints, error) {
	kind := c.kind()
	if kind == kindNone {
		return preset{}, endpoints{}, ErrNotConfigured
	}
	p, ok := presets[kind]
	if !ok {
		return preset{}, endpoints{}, fmt.Errorf(
			"OAUTH_PROVIDER: %q is not one of github, gitlab, bitbucket, gitea, custom, none", c.Provider)
	}
	var problems []error
	base, err := c.base(p)
	if err != nil {
		problems = append(problems, err)
	}
	urls := p.endpoints(base)
	problems = append(problems, c.override(&urls, base == "" && p.requiresBase())...)
	if c.ClientID == "" {
		problems = append(problems, errors.New("OAUTH_CLIENT_ID is missing: set it to the ID that the code host issued"))
	}
	if c.ClientSecret == "" && c.Secret == nil {
		problems = append(problems, errors.New("OAUTH_CLIENT_SECRET is missing: set it to the code host's secret"))
	}
	return p, urls, errors.Join(problems...)
}

// base returns the root of the provider's URLs, without a trailing slash, "" if the preset has no root.
func (c Config) base(p preset) (string, error) {
	switch {
	case c.BaseURL == "" && p.requiresBase():
		return "", fmt.Errorf("OAUTH_BASE_URL is missing: %s is self-hosted", p.title)
	case c.BaseURL == "":
		return p.base, nil
	case !p.selfHosted:
		return p.base, fmt.Errorf("OAUTH_BASE_URL is not allowed with OAUTH_PROVIDER=%s", p.kind)
	}
	if err := checkURL(c.BaseURL, false); err != nil {
		return p.base, fmt.Errorf("OAUTH_BASE_URL: %w", err)
	}
	return strings.TrimRight(c.BaseURL, "/"), nil
}

// override replaces the preset's URLs with the explicit ones, and returns an error for each URL that is invalid or
// missing. If the base URL is missing, override does not also report the missing URLs that depend on it.
func (c Config) override(urls *endpoints, baseMissing bool) []error {
	var problems []error
	for _, v := range []struct {
		name, given string
		url         *string
		optional    bool
	}{
		{"OAUTH_AUTHORIZE_URL", c.AuthorizeURL, &urls.authorize, false},
		{"OAUTH_TOKEN_URL", c.TokenURL, &urls.token, false},
		{"OAUTH_USER_URL", c.UserURL, &urls.user, false},
		{"OAUTH_EMAILS_URL", c.EmailsURL, &urls.emails, true},
	} {
		switch {
		case v.given != "":
			*v.url = v.given
			if err := checkURL(v.given, true); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", v.name, err))
			}
		case *v.url == "" && !v.optional && !baseMissing:
			problems = append(problems, fmt.Errorf("%s is missing", v.name))
		}
	}
	return problems
}

// issuer returns the value of Identity.Provider: "github" for a public service, "gitlab:git.example.com/path" for the
// base URL of an installation, or "custom:git.example.com" for the host of an explicit UserURL.
func (c Config) issuer(p preset, urls endpoints) string {
	location := urls.user
	switch {
	case p.base != "" && urls.user == p.endpoints(p.base).user:
		return p.kind
	case c.BaseURL != "" && c.UserURL == "":
		location = strings.TrimRight(c.BaseURL, "/")
	}
	u, err := url.Parse(location)
	if err != nil {
		return p.kind
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	if c.UserURL != "" {
		return p.kind + ":" + host
	}
	return p.kind + ":" + host + u.Path
}

// scopes returns Scopes, or the scopes of the preset if there are none.
func (c Config) scopes(p preset) []string {
	given := strings.FieldsFunc(c.Scopes, func(r rune) bool { return r == ' ' || r == ',' })
	if len(given) > 0 {
		return given
	}
	return p.scopes
}

// checkURL returns an error if raw cannot be the URL of a provider. Plain HTTP would expose the client secret. It is
// allowed only for hosts on this machine and in private networks.
func checkURL(raw string, allowQuery bool) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("is not a URL") // the parser's error quotes the URL, which can contain a password
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return errors.New("must be an absolute http or https URL")
	case u.User != nil:
		return errors.New("must not contain a user or password")
	case u.Fragment != "":
		return errors.New("must not have a fragment")
	case !allowQuery && u.RawQuery != "":
		return errors.New("must not have a query")
	case u.Scheme == "http" && !config.IsPrivateHost(u.Hostname()):
		return errors.New("must be https, because http would expose the client secret")
	}
	return nil
}
