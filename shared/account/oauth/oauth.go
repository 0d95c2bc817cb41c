// Package oauth is the client side of OAuth 2.0 sign-in with a code-hosting provider: where to send the browser, and who came back.
//
// Providers, their URLs, scopes and JSON live here, as do the time and size limits of talking to them. What an identity means for
// an account (joining, verified e-mail rules, state, cookies) may not enter: that is the accounts slice's. Nothing is built before
// the first sign-in, so that a cold start pays nothing for it.
package oauth

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	xoauth2 "golang.org/x/oauth2"
)

// identifyTimeout bounds one sign-in's whole conversation with the provider: token, user and e-mails together.
const identifyTimeout = 10 * time.Second

// Identity is who the provider says has signed in.
type Identity struct {
	Provider string  // Provider.Issuer: the namespace of Subject
	Subject  string  // the provider's stable id of the user, never a name that can be changed or reassigned; 1–255 bytes, printable
	Login    string  // the user's name at the provider; may be empty
	Name     string  // the display name; may be empty
	Emails   []Email // as the provider listed them; may be empty
}

// Email is one of the user's addresses at the provider, as written there.
type Email struct {
	Address  string
	Verified bool // the provider has checked that the user reads it
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
	issuer  string
	id      string
	secret  func(context.Context) (string, error)
	urls    endpoints
	scopes  []string
	timeout time.Duration
	client  func() *http.Client // made at the first call
}

// New checks cfg whole and returns the provider that it describes. An error names every variable that is wrong;
// ErrNotConfigured means that sign-in through a provider is switched off.
func New(cfg Config) (*Provider, error) {
	preset, urls, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	secret := cfg.Secret
	if secret == nil {
		secret = func(context.Context) (string, error) { return cfg.ClientSecret, nil }
	}
	return &Provider{
		preset:  preset,
		issuer:  cfg.issuer(preset, urls),
		id:      cfg.ClientID,
		secret:  secret,
		urls:    urls,
		scopes:  cfg.scopes(preset),
		timeout: identifyTimeout,
		client:  sync.OnceValue(newClient),
	}, nil
}

// Issuer names whose subjects these are: "github", "gitlab" or "bitbucket" for the public services, and the kind, a colon and the
// place for any other ("gitea:git.example.com"), so that user 1 of one installation is never user 1 of another.
func (p *Provider) Issuer() string { return p.issuer }

// NewVerifier makes a PKCE code verifier of 32 random bytes (RFC 7636 §4.1).
func NewVerifier() string { return xoauth2.GenerateVerifier() }

// AuthorizeURL is where the browser goes to sign in: code flow with PKCE. Only the verifier's S256 challenge is in it, so the
// caller keeps the verifier to itself until Identify.
func (p *Provider) AuthorizeURL(state, verifier, redirectURI string) string {
	return p.config("", redirectURI, xoauth2.AuthStyleInParams).AuthCodeURL(state, xoauth2.S256ChallengeOption(verifier))
}

// Identify redeems the callback's code and asks the provider who signed in. Verifier and redirectURI are those given to AuthorizeURL.
// It ends within 10 seconds. Errors are *Error: ErrRefused when the provider said no, ErrUnavailable when it could not be asked or
// made no sense. Whether the identity is good enough, verified e-mail or not, is the caller's to decide.
func (p *Provider) Identify(ctx context.Context, code, verifier, redirectURI string) (Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	token, err := p.exchange(ctx, code, verifier, redirectURI)
	if err != nil {
		return Identity{}, err
	}
	var who profile
	if err := p.get(ctx, stepUser, p.urls.user, token, &who); err != nil {
		return Identity{}, err
	}
	identity := who.identity(p.preset)
	identity.Provider = p.issuer
	if identity.Subject == "" {
		return Identity{}, &Error{Kind: ErrUnavailable, Step: stepUser, cause: errNoSubject}
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

// CallbackError reads the answer that the provider's redirect brings to the callback in place of a code (RFC 6749 §4.1.2.1).
// It is nil when the query holds no error; else an *Error: ErrUnavailable for the provider's own trouble, ErrDenied for every other.
func CallbackError(query url.Values) error {
	if !query.Has("error") {
		return nil
	}
	code := errorCode(query.Get("error"))
	kind := ErrDenied
	if transientCodes[code] {
		kind = ErrUnavailable
	}
	return &Error{Kind: kind, Step: stepAuthorize, Code: code}
}
