// Package oauth is the client side of an OAuth 2.0 sign-in with a code-hosting provider. It builds the URL of the
// provider's authorization page, and reads the identity of the user who signed in there.
//
// It contains the providers, their URLs, scopes and JSON, and the limits on the time and size of their responses. It
// must not decide which account an identity belongs to: package codehost does that.
package oauth

import (
	"context"
	"net/http"
	"sync"
	"time"

	xoauth2 "golang.org/x/oauth2"
)

// identifyTimeout is the time limit of all requests of one sign-in together: token, user and e-mail addresses.
const identifyTimeout = 5 * time.Second

// Identity is the user who signed in at the provider.
type Identity struct {
	// Provider is the namespace of Subject: "github", "gitlab" or "bitbucket" for the public services, otherwise the
	// kind, a colon and the location ("gitea:git.example.com"). Two installations never share a namespace.
	Provider string
	Subject  string  // the provider's stable ID of the user: 1–255 bytes, printable
	Login    string  // the username at the provider; may be empty
	Emails   []Email // in the provider's order; may be empty
}

// Email is an e-mail address of the user, as the provider spells it.
type Email struct {
	Address  string
	Verified bool // the provider has verified that the address belongs to the user
	Primary  bool
}

// VerifiedEmails returns the addresses that the provider has verified, the primary one first.
func (i Identity) VerifiedEmails() []string {
	var first, rest []string
	for _, e := range i.Emails {
		switch {
		case !e.Verified:
		case e.Primary:
			first = append(first, e.Address)
		default:
			rest = append(rest, e.Address)
		}
	}
	return append(first, rest...)
}

// Provider is one configured code host. It is safe for concurrent use.
type Provider struct {
	preset  preset
	issuer  string // the value of Identity.Provider
	id      string
	secret  func(context.Context) (string, error)
	urls    endpoints
	scopes  []string
	timeout time.Duration
	client  func() *http.Client // built at the first sign-in, so that it does not slow down a cold start
}

// New returns the provider that cfg describes. Errors: ErrNotConfigured; an error that names every invalid variable.
func New(cfg Config) (*Provider, error) {
	p, urls, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	secret := cfg.Secret
	if secret == nil {
		secret = func(context.Context) (string, error) { return cfg.ClientSecret, nil }
	}
	return &Provider{
		preset: p, issuer: cfg.issuer(p, urls), id: cfg.ClientID, secret: secret, urls: urls,
		scopes: cfg.scopes(p), timeout: identifyTimeout, client: sync.OnceValue(newClient),
	}, nil
}

// NewVerifier returns a PKCE code verifier of 32 random bytes (RFC 7636 §4.1).
func NewVerifier() string { return xoauth2.GenerateVerifier() }

// AuthorizeURL returns the URL of the page where the user signs in at the provider, for an authorization code flow with
// PKCE. The URL contains the S256 challenge of the verifier. The caller keeps the verifier secret and passes it to
// Identify.
func (p *Provider) AuthorizeURL(state, verifier, redirectURI string) string {
	config := p.config("", redirectURI, xoauth2.AuthStyleInParams)
	return config.AuthCodeURL(state, xoauth2.S256ChallengeOption(verifier))
}

// Identify exchanges the code of the callback and reads the user who signed in. verifier and redirectURI must be the
// values that were passed to AuthorizeURL. Identify takes at most 5 seconds. Its errors are *Error: ErrRefused if the
// provider rejected a request, ErrUnavailable if the provider is unavailable or its response is invalid.
func (p *Provider) Identify(ctx context.Context, code, verifier, redirectURI string) (Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	token, err := p.exchange(ctx, code, verifier, redirectURI)
	if err != nil {
		return Identity{}, err
	}
	var user profile
	if err := p.get(ctx, stepUser, p.urls.user, token, &user); err != nil {
		return Identity{}, err
	}
	identity := user.identity(p.preset)
	identity.Provider = p.issuer
	if identity.Subject == "" {
		return Identity{}, unavailable(stepUser, 0, errNoSubject)
	}
	if p.urls.emails == "" {
		return identity, nil
	}
	var list emailList
	if err := p.get(ctx, stepEmails, p.urls.emails, token, &list); err != nil {
		return Identity{}, err
	}
	identity.Emails = list.emails()
	return identity, nil
}

// CallbackError returns the error whose code the callback contains instead of an authorization code (RFC 6749
// §4.1.2.1), or nil if code is empty. Its kind is ErrUnavailable if the provider failed, otherwise ErrDenied.
func CallbackError(code string) *Error {
	if code == "" {
		return nil
	}
	e := &Error{Kind: ErrDenied, Step: stepAuthorize, Code: errorCode(code)}
	if transientCodes[e.Code] {
		e.Kind = ErrUnavailable
	}
	return e
}
