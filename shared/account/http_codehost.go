package account

import (
	"context"
	"net/http"
	"net/url"

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

func (s *Service) registerCodeHost(r *httpapi.Routes) {
	httpapi.Public(r, httpapi.Operation{
		ID: "startCodehost", Method: http.MethodGet, Path: "/api/auth/codehost", Tag: tag, Status: http.StatusFound,
		Summary:     "Sign in with the code host",
		Description: "Sends the browser to the code host: authorization code flow with PKCE.",
		Errors:      []*fault.Error{errBadRedirect, errNotConfigured, shownStanding.refusal()},
	}, s.handleDepart)
	httpapi.Public(r, httpapi.Operation{
		ID: "codehostCallback", Method: http.MethodGet, Path: CallbackPath, Tag: tag, Status: http.StatusFound,
		Summary:     "Where the code host sends the browser back to",
		Description: "Ends in a new session. The account is the one that holds the identity; else one whose own e-mail address was verified and is a verified one at the code host; else a new one.",
		Errors:      []*fault.Error{errNotConfigured, errBadState, errCodeHost, errNoEmail, errUnverified, errLinked, errMoving, errEnded},
	}, s.handleCallback)
	httpapi.Private(r, httpapi.Operation{
		ID: "linkCodehost", Method: http.MethodPost, Path: "/api/auth/codehost/link", Tag: tag,
		Summary:     "Link the code host to the caller's account",
		Description: "The same flow; it ends by joining the identity to the caller, who must still be signed in in the same browser.",
		Errors:      []*fault.Error{errBadRedirect, errNotConfigured, shownStanding.refusal()},
	}, s.handleLink)
}

func (s *Service) handleDepart(ctx context.Context, in *departInput) (*departOutput, error) {
	departure, standing, err := s.Depart(ctx, in.Redirect, s.bindingOf(ctx, in.Binding), "", clientOf(ctx).IP)
	if err != nil {
		return nil, err
	}
	return &departOutput{
		RateLimit: standing.headers(),
		Location:  departure.URL,
		SetCookie: s.bindingCookies(ctx, departure.Browser),
	}, nil
}

func (s *Service) handleLink(ctx context.Context, caller httpapi.Caller, in *departInput) (*linkOutput, error) {
	departure, standing, err := s.Depart(ctx, in.Redirect, s.bindingOf(ctx, in.Binding), caller.UserID, clientOf(ctx).IP)
	if err != nil {
		return nil, err
	}
	out := &linkOutput{RateLimit: standing.headers(), SetCookie: s.bindingCookies(ctx, departure.Browser)}
	out.Body.URL = departure.URL
	return out, nil
}

func (s *Service) handleCallback(ctx context.Context, in *callbackInput) (*callbackOutput, error) {
	query := url.Values{}
	if in.Error != "" {
		query.Set("error", in.Error)
	}
	arrival, err := s.Arrive(ctx, Return{
		State: in.State, Code: in.Code, Query: query,
		Browser: s.bindingOf(ctx, in.Binding), Token: httpapi.SessionToken(ctx), Client: clientOf(ctx),
	})
	if err != nil {
		return nil, err
	}
	return &callbackOutput{
		Location:  arrival.Redirect,
		SetCookie: httpapi.SessionCookies(ctx, arrival.Token.Token, arrival.Token.Expires),
	}, nil
}
