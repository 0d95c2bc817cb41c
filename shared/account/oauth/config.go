package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Config says which provider signs people in. It is filled from the environment; New checks it.
type Config struct {
	// Provider is github, gitlab, bitbucket, gitea or custom. "none" switches sign-in through a provider off, and so does
	// leaving it empty, unless the explicit URLs are there: they mean custom.
	Provider string `env:"OAUTH_PROVIDER"`
	// BaseURL is the root of a self-hosted github, gitlab or gitea.
	BaseURL  string `env:"OAUTH_BASE_URL"`
	ClientID string `env:"OAUTH_CLIENT_ID"`
	// ClientSecret is the client's password at the provider.
	ClientSecret string `env:"OAUTH_CLIENT_SECRET"`
	// The explicit URLs: needed by custom (EmailsURL excepted), else each replaces the preset's own.
	AuthorizeURL string `env:"OAUTH_AUTHORIZE_URL"`
	TokenURL     string `env:"OAUTH_TOKEN_URL"`
	UserURL      string `env:"OAUTH_USER_URL"`
	EmailsURL    string `env:"OAUTH_EMAILS_URL"`
	// Scopes, separated by spaces or commas, replace the preset's own.
	Scopes string `env:"OAUTH_SCOPES"`
	// Secret, where set, yields the client secret when it is needed, in place of ClientSecret.
	Secret func(context.Context) (string, error) `env:"-"`
}

// Enabled reports whether a provider is configured at all. It says nothing about whether it is configured well: New does.
func (c Config) Enabled() bool { return c.kind() != kindNone }

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

// resolve finds the preset and the URLs, or every reason why it cannot.
func (c Config) resolve() (preset, endpoints, error) {
	kind := c.kind()
	if kind == kindNone {
		return preset{}, endpoints{}, ErrNotConfigured
	}
	preset, ok := presets[kind]
	if !ok {
		return preset, endpoints{}, fmt.Errorf("OAUTH_PROVIDER: %q is not one of github, gitlab, bitbucket, gitea, custom, none", c.Provider)
	}
	var problems []error
	base, err := c.base(preset)
	if err != nil {
		problems = append(problems, err)
	}
	urls := preset.endpoints(base)
	problems = append(problems, c.override(&urls, base == "" && preset.baseNeeded)...)
	if c.ClientID == "" {
		problems = append(problems, errors.New("OAUTH_CLIENT_ID is missing"))
	}
	if c.ClientSecret == "" && c.Secret == nil {
		problems = append(problems, errors.New("OAUTH_CLIENT_SECRET is missing"))
	}
	return preset, urls, errors.Join(problems...)
}

// base is the root of the provider's URLs, without a slash at its end; empty where the preset has none.
func (c Config) base(p preset) (string, error) {
	switch {
	case c.BaseURL == "" && p.base == "" && p.baseNeeded:
		return "", fmt.Errorf("OAUTH_BASE_URL is missing: %s is self-hosted, say where", p.title)
	case c.BaseURL == "":
		return p.base, nil
	case !p.selfHosted:
		return p.base, fmt.Errorf("OAUTH_BASE_URL does not go with OAUTH_PROVIDER=%s", p.kind)
	}
	if err := checkURL(c.BaseURL, false); err != nil {
		return p.base, fmt.Errorf("OAUTH_BASE_URL: %w", err)
	}
	return strings.TrimRight(c.BaseURL, "/"), nil
}

// override puts the explicit URLs in place of the preset's and reports what is wrong with them. A missing base is reported once
// by its own name, not again by the URLs that it would have given.
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

// issuer is what Provider.Issuer documents.
func (c Config) issuer(p preset, urls endpoints) string {
	place := urls.user
	switch {
	case p.base != "" && urls.user == p.endpoints(p.base).user:
		return p.kind
	case c.BaseURL != "" && c.UserURL == "":
		place = strings.TrimRight(c.BaseURL, "/")
	}
	u, err := url.Parse(place)
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

func (c Config) scopes(p preset) []string {
	given := strings.FieldsFunc(c.Scopes, func(r rune) bool { return r == ' ' || r == ',' })
	if len(given) > 0 {
		return given
	}
	return p.scopes
}

// checkURL refuses what no provider's URL can be. Plain http carries the client secret and is only taken where it stays on the
// machine or in a private network.
func checkURL(raw string, query bool) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("is not a URL") // the parser's own words would repeat what may hold a password
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return errors.New("must be an absolute http or https URL")
	case u.User != nil:
		return errors.New("must not hold a user or password")
	case u.Fragment != "":
		return errors.New("must not have a fragment")
	case !query && u.RawQuery != "":
		return errors.New("must not have a query")
	case u.Scheme == "http" && !private(u.Hostname()):
		return errors.New("must be https: the client secret would cross the internet in clear")
	}
	return nil
}

// private reports whether host cannot be a public one: an address of the machine or of a private network, or a name that public
// DNS does not give out.
func private(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".test", ".home.arpa"} {
		if strings.HasSuffix(strings.ToLower(host), suffix) {
			return true
		}
	}
	return false
}
