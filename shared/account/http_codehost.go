package account

import (
	"context"
	"net/http"
	"net/url"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// The binding cookie binds a sign-in to the browser in which it started. Like the session cookie, it has two names. If
// cookies for plain HTTP are enabled, a client that uses plain HTTP receives the value under both names.
const (
	bindingCookie      = "__Host-oauth"
	plainBindingCookie = "oauth"
)

// errNotNavigation is returned before the request is counted. Otherwise, images on a page of another site could use up
// the limit of a visitor's network.
var errNotNavigation = fault.New(fault.CodeCSRFRejected,
	"A sign-in cannot start in a script, an image or a frame. Open this URL as a page.")

// Binding is the binding cookie of a request.
type Binding struct {
	Host  string `cookie:"__Host-oauth" hidden:"true"`
	Plain string `cookie:"oauth" hidden:"true"`
}

// allowsPlainCookie reports whether the client of the request may use the cookie without Secure.
func (s *Service) allowsPlainCookie(ctx context.Context) bool {
	return s.edge.CookiePlainHTTP && !httpapi.RequestInfoFrom(ctx).HTTPS
}

func (s *Service) bindingOf(ctx context.Context, b Binding) string {
	if b.Host == "" && s.allowsPlainCookie(ctx) {
		return b.Plain
	}
	return b.Host
}

func (s *Service) bindingCookies(ctx context.Context, value string) []string {
	cookie := http.Cookie{ //nolint:gosec // the cookie without Secure is only for plain HTTP on a developer's machine
		Name: bindingCookie, Value: value, Path: "/", MaxAge: int(stateLife.Seconds()),
		HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	}
	values := []string{cookie.String()}
	if s.allowsPlainCookie(ctx) {
		cookie.Name, cookie.Secure = plainBindingCookie, false
		values = append(values, cookie.String())
	}
	return values
}

func callbackURL(ctx context.Context) string {
	return httpapi.RequestInfoFrom(ctx).BaseURL + CallbackPath
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
	Body *reauthentication
}

// Validate implements httpapi's validation.
func (in *linkInput) Validate(v *httpapi.Validation) { in.Body.validate(v) }

type startCodeHostOutput struct {
	RateLimit
	Location  string   `header:"Location" doc:"The URL of the authorization page of the code host"`
	SetCookie []string `header:"Set-Cookie" doc:"A cookie that binds the sign-in to this browser"`
}

type linkOutput struct {
	RateLimit
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

func (s *Service) registerCodeHost(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "startCodehost", Method: http.MethodGet, Path: "/api/auth/codehost", Tag: tag, Status: http.StatusFound,
		Summary: "Sign in with the code host",
		Description: "Starts an authorization code flow with PKCE, and redirects the browser to the code host. " +
			"When the user has signed in there, the code host redirects the browser to GET /api/auth/codehost/callback. " +
			"A browser must open this path as a page: a request of a script, an image or a frame is rejected.",
		Errors: []*fault.Error{errBadRedirect, errNotNavigation, errNotConfigured, tooMany(exampleStatus)},
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
			errNotConfigured, errBadState, errCodeHost, errNoEmail, errUnverified, errLinked, fault.ErrConflict,
			errSessionEnded, errCodeHostDown,
		},
	}, s.handleCallback)
	httpapi.Private(r, httpapi.Operation{
		ID: "linkCodehost", Method: http.MethodPost, Path: "/api/auth/codehost/link", Tag: tag, SessionFirst: true,
		Summary: "Link the code host to the caller's account",
		Description: "Starts the same flow as a sign-in. When the flow ends, the user's identity at the code " +
			"host is linked to the account of the caller, and a new session replaces the current one. The flow fails if " +
			"this session has ended, or the password was changed, before it ends. " + reauthenticationRule,
		Errors: []*fault.Error{
			errBadRedirect, errNotConfigured, exampleStatus.WithHeaders(errReauthenticate), tooMany(exampleStatus),
		},
	}, s.handleLinkCodeHost)
}

func (s *Service) handleStartCodeHost(ctx context.Context, in *startCodeHostInput) (*startCodeHostOutput, error) {
	if !in.isNavigation() {
		return nil, errNotNavigation
	}
	started, status, err := s.StartCodeHost(ctx, s.codeHostRequest(ctx, in.CodeHostInput))
	if err != nil {
		return nil, err
	}
	return &startCodeHostOutput{
		RateLimit: rateLimitOf(status),
		Location:  started.URL,
		SetCookie: s.bindingCookies(ctx, started.Binding),
	}, nil
}

func (s *Service) handleLinkCodeHost(
	ctx context.Context, caller httpapi.Caller, in *linkInput,
) (*linkOutput, error) {
	request := s.codeHostRequest(ctx, in.CodeHostInput)
	request.Link = &LinkRequest{Caller: caller, Password: in.Body.password()}
	started, status, err := s.StartCodeHost(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &linkOutput{RateLimit: rateLimitOf(status), SetCookie: s.bindingCookies(ctx, started.Binding)}
	out.Body.URL = started.URL
	return out, nil
}

func (s *Service) codeHostRequest(ctx context.Context, in CodeHostInput) CodeHostRequest {
	return CodeHostRequest{
		Redirect: in.Redirect, Binding: s.bindingOf(ctx, in.Binding),
		CallbackURL: callbackURL(ctx), Client: clientOf(ctx),
	}
}

func (s *Service) handleCallback(ctx context.Context, in *callbackInput) (*callbackOutput, error) {
	query := url.Values{}
	if in.Error != "" {
		query.Set("error", in.Error)
	}
	signedIn, redirect, err := s.FinishCodeHost(ctx, CodeHostCallback{
		State: in.State, Code: in.Code, Query: query, Binding: s.bindingOf(ctx, in.Binding),
		Session: httpapi.SessionToken(ctx), CallbackURL: callbackURL(ctx), Client: clientOf(ctx),
	})
	if err != nil {
		return nil, err
	}
	out := &callbackOutput{Location: redirect}
	if signedIn.Token.Token != "" {
		out.SetCookie = httpapi.SessionCookies(ctx, signedIn.Token.Token, signedIn.Token.Expires)
	}
	return out, nil
}
