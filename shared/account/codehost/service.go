// Package codehost contains the flow of a sign-in with a code host: it sends the browser to the code host, and checks
// that the same browser comes back. It must not decide which account an identity belongs to: package identity does
// that.
package codehost

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/identity"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/password"
	"devplatform/shared/account/session"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// CallbackPath is the path to which the code host redirects the browser after a sign-in.
const CallbackPath = "/api/auth/codehost/callback"

// Deps are the dependencies of a Service.
type Deps struct {
	DB         *db.Client
	Accounts   db.Table
	Provider   *oauth.Provider // nil if no code host is configured
	Identities *identity.Service
	Passwords  *password.Service
	Limiter    *attempt.Limiter
	Clock      clock.Clock
	Logger     *slog.Logger
	Edge       config.Edge
}

// Service runs the flow. It is safe for concurrent use.
type Service struct {
	Deps
	store store
}

// New returns a Service. It does no I/O.
func New(d Deps) *Service {
	return &Service{Deps: d, store: store{client: d.DB, accounts: d.Accounts}}
}

// Flow is a flow that has started.
type Flow struct {
	attempt.RateLimit
	URL     string // the URL of the code host's authorization page
	Binding string // the value of the cookie that binds the flow to the browser
}

// Link asks Start to link an identity to the caller's account.
type Link struct {
	Caller   httpapi.Caller
	Password string // empty if the caller logged in recently
}

// Start starts a sign-in with the code host, or a link if link is not nil. redirect is the path or URL to which the
// browser returns. binding is the browser's binding cookie, if another flow is in progress. Errors:
// AUTH_OAUTH_NOT_CONFIGURED, VALIDATION_FAILED, AUTH_RATE_LIMITED; for a link also the errors of
// password.Service.Confirm.
func (s *Service) Start(
	ctx context.Context, client httpapi.RequestInfo, redirect, binding string, link *Link,
) (Flow, error) {
	if s.Provider == nil {
		return Flow{}, errNotConfigured
	}
	redirect, ok := cleanRedirect(redirect, append(slices.Clip(s.Edge.TrustedOrigins()), originOf(client.BaseURL)))
	if !ok {
		return Flow{}, errBadRedirect
	}
	var pending identity.Pending
	if link != nil {
		if err := s.Passwords.Confirm(ctx, link.Caller, link.Password, client); err != nil {
			return Flow{}, err
		}
		caller := link.Caller
		pending = identity.Pending{
			UserID: caller.UserID, SessionID: caller.SessionID, Generation: caller.Account().Generation,
		}
	}
	counted, err := s.Limiter.CountOAuth(ctx, client)
	if err != nil {
		return Flow{}, err
	}
	if !isWellFormedBinding(binding) {
		binding = rand.Text()
	}
	state, verifier := rand.Text(), oauth.NewVerifier()
	err = s.store.save(ctx, state, flowRecord{
		Verifier: verifier, Browser: attempt.Hash(binding), Redirect: redirect,
		ExpiresAt: s.Clock().Add(stateLife).Unix(), Pending: pending,
	})
	return Flow{
		RateLimit: attempt.Headers(counted.Status()), Binding: binding,
		URL: s.Provider.AuthorizeURL(state, verifier, client.BaseURL+CallbackPath),
	}, err
}

// isWellFormedBinding reports whether s could be a binding: a text that rand.Text returns has 26 characters of base32.
func isWellFormedBinding(s string) bool {
	return len(s) == 26 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Callback is the request that the browser sends when the code host redirects it to CallbackPath.
type Callback struct {
	State, Code string
	Error       string // the code of the error that the code host reported, if any
	Binding     string // the binding cookie
	Session     string // the session token; used only to link an identity
}

// Finish finishes a flow. It returns a new session and the path or URL to which the browser is redirected. It checks
// and deletes the state before it reads the rest of the callback. If the code host reports an error, such as
// access_denied because the user canceled, there is no session, and the query of the redirect contains the error.
// Errors: AUTH_OAUTH_NOT_CONFIGURED; AUTH_OAUTH_STATE_INVALID; SERVICE_UNAVAILABLE if a request to the code host
// failed; AUTH_OAUTH_FAILED if the code host rejected it; the errors of identity.Service.Link and SignIn.
func (s *Service) Finish(
	ctx context.Context, client httpapi.RequestInfo, c Callback,
) (in session.Started, redirect string, _ error) {
	if s.Provider == nil {
		return in, "", errNotConfigured
	}
	start, err := s.store.take(ctx, c.State, c.Binding)
	if errors.Is(err, errState) {
		return in, "", errBadState.WithCause(err)
	}
	if err != nil {
		return in, "", err
	}
	if denied := oauth.CallbackError(c.Error); denied != nil {
		s.Logger.InfoContext(ctx, "the code host reported an error", "cause", denied.Error())
		return in, withError(start.Redirect, denied.Code), nil
	}
	if c.Code == "" {
		return in, "", errCodeHost.WithCause(errors.New("the callback has no code"))
	}
	at, err := s.Provider.Identify(ctx, c.Code, start.Verifier, client.BaseURL+CallbackPath)
	if errors.Is(err, oauth.ErrUnavailable) {
		return in, "", errCodeHostDown.WithCause(err)
	}
	if err != nil {
		return in, "", errCodeHost.WithCause(err)
	}
	if start.UserID == "" {
		in, err = s.Identities.SignIn(ctx, at, client)
		return in, start.Redirect, err
	}
	in, err = s.Identities.Link(ctx, c.Session, start.Pending, at, client)
	if errors.Is(err, identity.ErrOtherSession) {
		err = errBadState.WithCause(err)
	}
	return in, start.Redirect, err
}
