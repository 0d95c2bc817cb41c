package account

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"slices"
	"strings"

	"devplatform/shared/account/oauth"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

// CallbackPath is the path to which the code host redirects the browser after a sign-in.
const CallbackPath = "/api/auth/codehost/callback"

var (
	errNotConfigured = fault.New(fault.CodeOAuthNotConfigured,
		"Sign-in with a code host is not configured. Please log in with your password.")
	errBadState = fault.New(fault.CodeOAuthStateInvalid,
		"This sign-in has expired, was already used, or began in another browser. Please start again.")
	errCodeHost     = fault.New(fault.CodeOAuthFailed, "The sign-in at the code host failed. Please start again.")
	errCodeHostDown = fault.New(fault.CodeServiceUnavailable,
		"The code host is not available. Please wait, and start the sign-in again.").
		WithHeader("Retry-After", "10")
	errBadRedirect = fault.Invalid(fault.Field("redirect",
		"must be a path on this site, such as /projects, or a URL of an allowed origin"))
)

// CodeHostRequest is a request to sign in with the code host, or to link an identity at the code host.
type CodeHostRequest struct {
	Redirect    string       // the path or URL to which the browser returns after the sign-in
	Binding     string       // the browser's binding cookie, if another sign-in is in progress; may be empty
	Link        *LinkRequest // nil for a sign-in
	CallbackURL string
	Client      Client
}

// LinkRequest is a request to link an identity to the account of the caller.
type LinkRequest struct {
	Caller   httpapi.Caller
	Password string // empty if the caller logged in recently
}

// Authorization is a sign-in that has started.
type Authorization struct {
	URL     string // the URL of the code host's authorization page
	Binding string // the value of the cookie that binds the sign-in to the browser
}

// StartCodeHost starts a sign-in with the code host, or a link.
// Errors: AUTH_OAUTH_NOT_CONFIGURED, VALIDATION_FAILED, AUTH_RATE_LIMITED; for a link also the errors of
// reauthenticate.
func (s *Service) StartCodeHost(ctx context.Context, r CodeHostRequest) (Authorization, limit.Status, error) {
	if s.provider == nil {
		return Authorization{}, limit.Status{}, errNotConfigured
	}
	redirect, ok := cleanRedirect(r.Redirect, append(slices.Clip(s.edge.TrustedOrigins()), originOf(r.CallbackURL)))
	if !ok {
		return Authorization{}, limit.Status{}, errBadRedirect
	}
	if r.Link != nil {
		if err := s.reauthenticate(ctx, r.Link.Caller, r.Link.Password, r.Client); err != nil {
			return Authorization{}, limit.Status{}, err
		}
	}
	attempt, err := s.count(ctx, s.counter(s.rules.oauthIP, r.Client.network()))
	if err != nil {
		return Authorization{}, limit.Status{}, err
	}
	binding := r.Binding
	if !isWellFormedBinding(binding) {
		binding = rand.Text()
	}
	state, verifier := rand.Text(), oauth.NewVerifier()
	record := stateRecord{
		Verifier: verifier, Browser: hashParts(binding), Redirect: redirect,
		ExpiresAt: s.now().Add(stateLife).Unix(),
	}
	if r.Link != nil {
		caller := r.Link.Caller
		record.LinkTo, record.Session, record.Generation = caller.UserID, caller.SessionID, caller.Account().Generation
	}
	if err := s.store.saveState(ctx, state, record); err != nil {
		return Authorization{}, limit.Status{}, err
	}
	authorizeURL := s.provider.AuthorizeURL(state, verifier, r.CallbackURL)
	return Authorization{URL: authorizeURL, Binding: binding}, attempt.Status(), nil
}

// isWellFormedBinding reports whether s could be a binding: a text that rand.Text returns has 26 characters of base32.
func isWellFormedBinding(s string) bool {
	return len(s) == 26 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// CodeHostCallback is the request that the browser sends when the code host redirects it to CallbackPath.
type CodeHostCallback struct {
	State, Code string
	Query       url.Values // contains the error that the code host reported, if any
	Binding     string     // the binding cookie
	Session     string     // the session token; used only to link an identity
	CallbackURL string
	Client      Client
}

// FinishCodeHost finishes a sign-in. It returns a new session and the path or URL to which the browser is redirected.
// It checks and deletes the state before it reads the rest of the callback. If the code host reports an error, such as
// access_denied because the user canceled, there is no session, and the query of the redirect contains the error.
// Errors: AUTH_OAUTH_NOT_CONFIGURED, AUTH_OAUTH_STATE_INVALID, and the errors of identify, linkIdentity and
// signInIdentity.
func (s *Service) FinishCodeHost(ctx context.Context, c CodeHostCallback) (in SignedIn, redirect string, _ error) {
	if s.provider == nil {
		return SignedIn{}, "", errNotConfigured
	}
	state, err := s.store.takeState(ctx, c.State, c.Binding)
	if errors.Is(err, errState) {
		return SignedIn{}, "", errBadState.WithCause(err)
	}
	if err != nil {
		return SignedIn{}, "", err
	}
	if denied, ok := errors.AsType[*oauth.Error](oauth.CallbackError(c.Query)); ok {
		s.logger.InfoContext(ctx, "the code host reported an error", "cause", denied.Error())
		return SignedIn{}, withError(state.Redirect, denied.Code), nil
	}
	identity, err := s.identify(ctx, c, state.Verifier)
	if err != nil {
		return SignedIn{}, "", err
	}
	if state.LinkTo != "" {
		in, err = s.linkIdentity(ctx, c, state, identity)
	} else {
		in, err = s.signInIdentity(ctx, identity, c.Client)
	}
	return in, state.Redirect, err
}

// identify returns the identity of the user who signed in at the code host. Errors: SERVICE_UNAVAILABLE if a request to
// the code host failed; AUTH_OAUTH_FAILED if the code host rejected it.
func (s *Service) identify(ctx context.Context, c CodeHostCallback, verifier string) (oauth.Identity, error) {
	if c.Code == "" {
		return oauth.Identity{}, errCodeHost.WithCause(errors.New("the callback has no code"))
	}
	identity, err := s.provider.Identify(ctx, c.Code, verifier, c.CallbackURL)
	if errors.Is(err, oauth.ErrUnavailable) {
		return oauth.Identity{}, errCodeHostDown.WithCause(err)
	}
	if err != nil {
		return oauth.Identity{}, errCodeHost.WithCause(err)
	}
	return identity, nil
}
