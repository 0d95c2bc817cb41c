package account

import (
	"context"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// The cookie that binds a sign-in to the browser in which it began, and its twin for plain http, under the rule of the
// session's own (API.md §2).
const (
	bindingCookie     = "__Host-oauth"
	bindingTwinCookie = "oauth"
)

// Binding is the cookie as a request brings it.
type Binding struct {
	Host string `cookie:"__Host-oauth" hidden:"true"`
	Twin string `cookie:"oauth" hidden:"true"`
}

func (s *Service) hasTwin(ctx context.Context) bool {
	return s.plainHTTP && !httpapi.RequestInfoFrom(ctx).HTTPS
}

func (s *Service) bindingOf(ctx context.Context, b Binding) string {
	if b.Host == "" && s.hasTwin(ctx) {
		return b.Twin
	}
	return b.Host
}

func (s *Service) bindingCookies(ctx context.Context, value string) []string {
	cookie := http.Cookie{ //nolint:gosec // the twin without Secure exists on a laptop's plain http only
		Name: bindingCookie, Value: value, Path: "/", MaxAge: int(stateLife.Seconds()),
		HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	}
	values := []string{cookie.String()}
	if s.hasTwin(ctx) {
		cookie.Name, cookie.Secure = bindingTwinCookie, false
		values = append(values, cookie.String())
	}
	return values
}

func callbackURL(ctx context.Context) string {
	return httpapi.RequestInfoFrom(ctx).BaseURL + CallbackPath
}

type departInput struct {
	Binding
	Redirect string `query:"redirect" doc:"Where to come back to: a path of this site" example:"/projects"`
}

type departOutput struct {
	RateLimit
	Location  string   `header:"Location" doc:"The code host's page"`
	SetCookie []string `header:"Set-Cookie" doc:"Binds the sign-in to this browser"`
}

type linkOutput struct {
	RateLimit
	SetCookie []string `header:"Set-Cookie" doc:"Binds the sign-in to this browser"`
	Body      struct {
		URL string `json:"url" doc:"Where to send the browser" example:"https://codehost.example/login/oauth/authorize?client_id=…"`
	}
}

type callbackInput struct {
	Binding
	State string `query:"state" doc:"As the code host was given it" example:"GQ2DSNZXGEZDGNBVGY3TQOJQGE"`
	Code  string `query:"code" doc:"The code host's authorization code" example:"4f1b6c"`
	Error string `query:"error" doc:"The code host's reason to refuse, in place of a code" example:"access_denied"`
}

type callbackOutput struct {
	Location  string   `header:"Location" doc:"The path that the sign-in was started with"`
	SetCookie []string `header:"Set-Cookie" doc:"The session"`
}

func (s *Service) registerCodeHost(h huma.API) {
	httpapi.Register(h, httpapi.Operation{
		ID: "startCodehost", Method: http.MethodGet, Path: "/api/auth/codehost", Tag: tag, Status: http.StatusFound,
		Summary:     "Sign in with the code host",
		Description: "Sends the browser to the code host: authorization code flow with PKCE.",
		Errors:      []*fault.Error{errBadRedirect, errNotConfigured, tooMany(shownStanding)},
	}, s.handleDepart)
	httpapi.Register(h, httpapi.Operation{
		ID: "codehostCallback", Method: http.MethodGet, Path: CallbackPath, Tag: tag, Status: http.StatusFound,
		Summary:     "Where the code host sends the browser back to",
		Description: "Ends in a new session. The account is the one that holds the identity; else one whose own e-mail address was verified and is a verified one at the code host; else a new one.",
		Errors:      []*fault.Error{errNotConfigured, errBadState, errCodeHost, errNoEmail, errUnverified, errLinked, fault.ErrConflict, errSessionEnded},
	}, s.handleCallback)
	httpapi.Register(h, httpapi.Operation{
		ID: "linkCodehost", Method: http.MethodPost, Path: "/api/auth/codehost/link", Tag: tag, Session: true,
		Summary:     "Link the code host to the caller's account",
		Description: "The same flow; it ends by joining the identity to the caller, who must still be signed in in the same browser.",
		Errors:      []*fault.Error{errBadRedirect, errNotConfigured, tooMany(shownStanding)},
	}, s.handleLink)
}

func (s *Service) handleDepart(ctx context.Context, in *departInput) (*departOutput, error) {
	started, status, err := s.StartCodeHost(ctx, CodeHostRequest{
		Redirect: in.Redirect, Binding: s.bindingOf(ctx, in.Binding), CallbackURL: callbackURL(ctx), Client: clientOf(ctx),
	})
	if err != nil {
		return nil, err
	}
	return &departOutput{
		RateLimit: rateLimitOf(status),
		Location:  started.URL,
		SetCookie: s.bindingCookies(ctx, started.Binding),
	}, nil
}

func (s *Service) handleLink(ctx context.Context, in *departInput) (*linkOutput, error) {
	caller := httpapi.CallerFrom(ctx)
	started, status, err := s.StartCodeHost(ctx, CodeHostRequest{
		Redirect: in.Redirect, Binding: s.bindingOf(ctx, in.Binding), LinkTo: caller.UserID,
		CallbackURL: callbackURL(ctx), Client: clientOf(ctx),
	})
	if err != nil {
		return nil, err
	}
	out := &linkOutput{RateLimit: rateLimitOf(status), SetCookie: s.bindingCookies(ctx, started.Binding)}
	out.Body.URL = started.URL
	return out, nil
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
	return &callbackOutput{
		Location:  redirect,
		SetCookie: httpapi.SessionCookies(ctx, signedIn.Token.Token, signedIn.Token.Expires),
	}, nil
}
