package codehost

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/session"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
)

// stateLife is the time within which a flow must end.
const stateLife = 10 * time.Minute

// flow is the record of an unfinished sign-in or link. The attribute names are part of the data format.
type flow struct {
	UserID     string `dynamodbav:"linkTo,omitempty"`     // of the user who links an identity; empty for a sign-in
	SessionID  string `dynamodbav:"session,omitempty"`    // the only session that may finish the link
	Generation int    `dynamodbav:"generation,omitempty"` // of that session: a change of the password ends the link
	Verifier   string `dynamodbav:"verifier"`             // of PKCE
	Browser    string `dynamodbav:"browser"`              // hash of the binding cookie
	Redirect   string `dynamodbav:"redirect"`             // as cleanRedirect returns it
	ExpiresAt  int64  `dynamodbav:"expiresAt"`            // in seconds since 1970
}

// The binding cookie binds a flow to the browser in which the flow started. Like the session cookie, it has two names.
// If cookies for plain HTTP are enabled, a client that uses plain HTTP receives the value under both names.
const (
	bindingCookie      = "__Host-oauth"
	plainBindingCookie = "oauth"
)

// allowsPlainCookie reports whether the client may use the cookie without Secure.
func (s *Service) allowsPlainCookie(client httpapi.RequestInfo) bool {
	return s.Edge.CookiePlainHTTP && !client.HTTPS
}

// bindingOf returns the value of the binding cookie, "" if there is none.
func (s *Service) bindingOf(client httpapi.RequestInfo, b Binding) string {
	if b.Host == "" && s.allowsPlainCookie(client) {
		return b.Plain
	}
	return b.Host
}

func (s *Service) bindingCookies(client httpapi.RequestInfo, value string) []string {
	cookie := http.Cookie{ //nolint:gosec // the cookie without Secure is only for plain HTTP on a developer's machine
		Name: bindingCookie, Value: value, Path: "/", MaxAge: int(stateLife.Seconds()),
		HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	}
	values := []string{cookie.String()}
	if s.allowsPlainCookie(client) {
		cookie.Name, cookie.Secure = plainBindingCookie, false
		values = append(values, cookie.String())
	}
	return values
}

func (s *Service) startCodehost(ctx context.Context, in *startInput) (*startOutput, error) {
	if !in.isNavigation() {
		return nil, errNotNavigation
	}
	return s.start(ctx, in.FlowInput, func(*flow) error { return nil })
}

func (s *Service) linkCodehost(
	ctx context.Context, caller httpapi.Caller, in *linkInput,
) (*linkOutput, error) {
	started, err := s.start(ctx, in.FlowInput, func(f *flow) error {
		f.UserID, f.SessionID, f.Generation = caller.UserID, caller.SessionID, caller.Account().Generation
		return s.Passwords.Confirm(ctx, caller, in.Body, httpapi.RequestInfoFrom(ctx))
	})
	if err != nil {
		return nil, err
	}
	out := &linkOutput{RateLimit: started.RateLimit, SetCookie: started.SetCookie}
	out.Body.URL = started.Location
	return out, nil
}

// start starts a sign-in with the code host, or a link. prepare sets the user of a link, or rejects the request.
// Errors: AUTH_OAUTH_NOT_CONFIGURED, VALIDATION_FAILED, AUTH_RATE_LIMITED; the errors of prepare.
func (s *Service) start(
	ctx context.Context, in FlowInput, prepare func(*flow) error,
) (*startOutput, error) {
	if s.Provider == nil {
		return nil, errNotConfigured
	}
	client := httpapi.RequestInfoFrom(ctx)
	redirect, ok := cleanRedirect(in.Redirect, append(slices.Clip(s.Edge.TrustedOrigins()), originOf(client.BaseURL)))
	if !ok {
		return nil, errBadRedirect
	}
	f := flow{Verifier: oauth.NewVerifier(), Redirect: redirect, ExpiresAt: s.Clock().Add(stateLife).Unix()}
	if err := prepare(&f); err != nil {
		return nil, err
	}
	counted, err := s.Limiter.CountOAuth(ctx, client)
	if err != nil {
		return nil, err
	}
	binding := s.bindingOf(client, in.Binding) // another flow may be in progress in this browser
	if !isWellFormedBinding(binding) {
		binding = rand.Text()
	}
	state := rand.Text()
	f.Browser = attempt.Hash(binding)
	if _, err := s.DB.Do(ctx, s.Accounts.Create(db.OAuthStateKey(attempt.Hash(state)), f)); err != nil {
		return nil, fmt.Errorf("storing a sign-in: %w", err)
	}
	return &startOutput{
		RateLimit: attempt.Headers(counted.Status()), SetCookie: s.bindingCookies(client, binding),
		Location: s.Provider.AuthorizeURL(state, f.Verifier, client.BaseURL+CallbackPath),
	}, nil
}

// isWellFormedBinding reports whether s could be a result of rand.Text, which has 26 characters of base32.
func isWellFormedBinding(s string) bool {
	return len(s) == 26 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// codehostCallback finishes a flow. It checks and deletes the state before it reads the rest of the callback. If the
// code host reports an error, such as access_denied because the user canceled, there is no session, and the query of
// the redirect contains the error. Errors: AUTH_OAUTH_NOT_CONFIGURED; AUTH_OAUTH_STATE_INVALID; SERVICE_UNAVAILABLE if
// a request to the code host failed; AUTH_OAUTH_FAILED if the code host rejected it; the errors of link and signIn.
func (s *Service) codehostCallback(ctx context.Context, in *callbackInput) (*callbackOutput, error) {
	if s.Provider == nil {
		return nil, errNotConfigured
	}
	client := httpapi.RequestInfoFrom(ctx)
	f, err := s.take(ctx, in.State, s.bindingOf(client, in.Binding))
	if err != nil {
		return nil, err
	}
	if denied := oauth.CallbackError(in.Error); denied != nil {
		s.Logger.InfoContext(ctx, "the code host reported an error", "cause", denied.Error())
		return &callbackOutput{Location: withError(f.Redirect, denied.Code)}, nil
	}
	if in.Code == "" {
		return nil, errCodeHost.WithCause(errors.New("the callback has no code"))
	}
	remote, err := s.Provider.Identify(ctx, in.Code, f.Verifier, client.BaseURL+CallbackPath)
	switch {
	case errors.Is(err, oauth.ErrUnavailable):
		return nil, errCodeHostDown.WithCause(err)
	case err != nil:
		return nil, errCodeHost.WithCause(err)
	}
	var started session.Started
	if f.UserID == "" {
		started, err = s.signIn(ctx, remote, client)
	} else {
		started, err = s.link(ctx, f, remote, client)
	}
	if err != nil {
		return nil, err
	}
	return &callbackOutput{Location: f.Redirect, SetCookie: started.Cookies(ctx)}, nil
}

// take deletes a state and returns its flow, so that each state is used once. A request from another browser does not
// delete the state. The delete is a transaction, so that a retry after a lost response does not count as a second use.
// Error: AUTH_OAUTH_STATE_INVALID.
func (s *Service) take(ctx context.Context, state, binding string) (f flow, err error) {
	key := db.OAuthStateKey(attempt.Hash(state))
	item, err := s.Accounts.Get(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		return f, errBadState.WithCause(err)
	}
	if err != nil {
		return f, fmt.Errorf("reading a sign-in: %w", err)
	}
	if f, err = db.Decode[flow](item); err != nil {
		return f, err
	}
	if binding == "" || f.Browser != attempt.Hash(binding) {
		return f, errBadState.WithCause(errors.New("the sign-in began in another browser"))
	}
	return f, s.DB.Tx(s.Accounts.Delete(key).If(s.Accounts.Exists()).Else(errBadState)).Commit(ctx)
}
