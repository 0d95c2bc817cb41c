package codehost

import (
	"context"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/identity"
	"devplatform/shared/account/password"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoints of the flow, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "startCodehost", Method: http.MethodGet, Path: "/api/auth/codehost", Tag: tag, Status: http.StatusFound,
		Summary: "Sign in with the code host",
		Description: "Starts an authorization code flow with PKCE, and redirects the browser to the code host. " +
			"When the user has signed in there, the code host redirects the browser to GET /api/auth/codehost/callback. " +
			"A browser must open this path as a page: a request of a script, an image or a frame is rejected.",
		Errors: []*fault.Error{errBadRedirect, errNotNavigation, errNotConfigured, attempt.TooMany(attempt.ExampleStatus)},
	}, s.handleStartCodeHost)
	httpapi.Public(r, httpapi.Operation{
		ID: "codehostCallback", Method: http.MethodGet, Path: CallbackPath, Tag: tag, Status: http.StatusFound,
		Summary: "Finish the sign-in with the code host",
		Description: "The code host redirects the browser to this endpoint, which starts a new session. If an account " +
			"is already linked to the identity, the session belongs to that account. Otherwise, if an account has " +
			"the same e-mail address, and the address is verified both for the account and at the code host, the " +
			"identity is linked to that account. Otherwise, a new account is created. If the user cancels at the code " +
			"host, or the code host reports another error, the browser returns to the app without a new session, and " +
			"the query parameter error has the code of the error, such as access_denied (RFC 6749 §4.1.2.1). The state " +
			"of a failed sign-in cannot be used again.",
		Errors: []*fault.Error{
			errNotConfigured, errBadState, errCodeHost, identity.ErrNoEmail, identity.ErrUnverified, identity.ErrLinked,
			fault.ErrConflict, httpapi.ErrNoSession, httpapi.ErrSuspended, errCodeHostDown,
		},
	}, s.handleCallback)
	httpapi.Private(r, httpapi.Operation{
		ID: "linkCodehost", Method: http.MethodPost, Path: "/api/auth/codehost/link", Tag: tag, SessionFirst: true,
		Summary: "Link the code host to the caller's account",
		Description: "Starts the same flow as a sign-in. When the flow ends, the user's identity at the code " +
			"host is linked to the account of the caller, and a new session replaces the current one. The flow fails if " +
			"this session has ended, or the password was changed, before it ends. " + password.ReauthenticationRule,
		Errors: []*fault.Error{
			errBadRedirect, errNotConfigured, password.ExampleDenied, attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.handleLinkCodeHost)
}

// The binding cookie binds a sign-in to the browser in which it started. Like the session cookie, it has two names. If
// cookies for plain HTTP are enabled, a client that uses plain HTTP receives the value under both names.
const (
	bindingCookie      = "__Host-oauth"
	plainBindingCookie = "oauth"
)

// Binding is the binding cookie of a request.
type Binding struct {
	Host  string `cookie:"__Host-oauth" hidden:"true"`
	Plain string `cookie:"oauth" hidden:"true"`
}

// CodeHostInput is the input that starts a sign-in or a link. It is exported because httpapi ignores unexported
// embedded structs.
type CodeHostInput struct {
	Binding
	Redirect string `query:"redirect" doc:"The path on this site, or the URL of an allowed origin, to which the browser is redirected when the flow ends; / if absent" example:"/projects"`
}

type startCodeHostInput struct {
	CodeHostInput
	FetchDest string `header:"Sec-Fetch-Dest" hidden:"true"`
	FetchMode string `header:"Sec-Fetch-Mode" hidden:"true"`
	Purpose   string `header:"Sec-Purpose" hidden:"true"`
}

// isNavigation reports whether the browser sends the request because the user opens a page, and not to load an image or
// a frame of another page, or to prefetch the page. A client that is not a browser does not send these headers.
func (in *startCodeHostInput) isNavigation() bool {
	return (in.FetchDest == "" || in.FetchDest == "document") &&
		(in.FetchMode == "" || in.FetchMode == "navigate") && in.Purpose == ""
}

type linkInput struct {
	CodeHostInput
	Body *password.Reauthentication
}

// Validate implements httpapi's validation.
func (in *linkInput) Validate(v *httpapi.Validation) { in.Body.Validate(v) }

type startCodeHostOutput struct {
	attempt.RateLimit
	Location  string   `header:"Location" doc:"The URL of the authorization page of the code host"`
	SetCookie []string `header:"Set-Cookie" doc:"A cookie that binds the sign-in to this browser"`
}

type linkOutput struct {
	attempt.RateLimit
	SetCookie []string `header:"Set-Cookie" doc:"A cookie that binds the flow to this browser"`
	Body      struct {
		URL string `json:"url" doc:"The URL of the authorization page of the code host. The client must redirect the browser to it." example:"https://codehost.example/login/oauth/authorize?client_id=…"`
	}
}

type callbackInput struct {
	Binding
	State string `query:"state" doc:"The state of the authorization request" example:"GQ2DSNZXGEZDGNBVGY3TQOJQGE"`
	Code  string `query:"code" doc:"The authorization code that the code host issued" example:"4f1b6c"`
	Error string `query:"error" doc:"The error that the code host reported instead of a code" example:"access_denied"`
}

type callbackOutput struct {
	Location  string   `header:"Location" doc:"The path or URL that was given when the sign-in started. If the code host reported an error, its code is the query parameter error, such as error=access_denied"`
	SetCookie []string `header:"Set-Cookie" doc:"The session cookie; absent if the code host reported an error"`
}

// allowsPlainCookie reports whether the client may use the cookie without Secure.
func (s *Service) allowsPlainCookie(client httpapi.RequestInfo) bool {
	return s.Edge.CookiePlainHTTP && !client.HTTPS
}

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

func (s *Service) handleStartCodeHost(ctx context.Context, in *startCodeHostInput) (*startCodeHostOutput, error) {
	if !in.isNavigation() {
		return nil, errNotNavigation
	}
	client := httpapi.RequestInfoFrom(ctx)
	f, err := s.Start(ctx, client, in.Redirect, s.bindingOf(client, in.Binding), nil)
	if err != nil {
		return nil, err
	}
	return &startCodeHostOutput{
		RateLimit: f.RateLimit, Location: f.URL, SetCookie: s.bindingCookies(client, f.Binding),
	}, nil
}

func (s *Service) handleLinkCodeHost(
	ctx context.Context, caller httpapi.Caller, in *linkInput,
) (*linkOutput, error) {
	client := httpapi.RequestInfoFrom(ctx)
	link := &Link{Caller: caller, Password: in.Body.GetPassword()}
	f, err := s.Start(ctx, client, in.Redirect, s.bindingOf(client, in.Binding), link)
	if err != nil {
		return nil, err
	}
	out := &linkOutput{RateLimit: f.RateLimit, SetCookie: s.bindingCookies(client, f.Binding)}
	out.Body.URL = f.URL
	return out, nil
}

func (s *Service) handleCallback(ctx context.Context, in *callbackInput) (*callbackOutput, error) {
	client := httpapi.RequestInfoFrom(ctx)
	started, redirect, err := s.Finish(ctx, client, Callback{
		State: in.State, Code: in.Code, Error: in.Error, Binding: s.bindingOf(client, in.Binding),
		Session: httpapi.SessionToken(ctx),
	})
	if err != nil {
		return nil, err
	}
	out := &callbackOutput{Location: redirect}
	if started.Token != "" {
		out.SetCookie = started.Cookies(ctx)
	}
	return out, nil
}
