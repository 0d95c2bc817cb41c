package codehost

import (
	"context"
	"net/http"
	"slices"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/password"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// Register adds the endpoints, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "startCodehost", Method: http.MethodGet, Path: "/api/auth/codehost", Tag: tag, Status: http.StatusFound,
		Summary: "Sign in with the code host",
		Description: "Starts an authorization code flow with PKCE, and redirects the browser to the code host. " +
			"When the user has signed in there, the code host redirects the browser to GET /api/auth/codehost/callback. " +
			"A browser must open this path as a page: a request of a script, an image or a frame is rejected.",
		Errors: []*fault.Error{errBadRedirect, errNotNavigation, errNotConfigured, attempt.TooMany(attempt.ExampleStatus)},
	}, s.startCodehost)
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
			errNotConfigured, errBadState, errCodeHost, errNoEmail, errUnverified, errLinked,
			fault.ErrConflict, httpapi.ErrNoSession, httpapi.ErrSuspended, errCodeHostDown,
		},
	}, s.codehostCallback)
	httpapi.Private(r, httpapi.Operation{
		ID: "linkCodehost", Method: http.MethodPost, Path: "/api/auth/codehost/link", Tag: tag, SessionFirst: true,
		Summary: "Link the code host to the caller's account",
		Description: "Starts the same flow as a sign-in. When the flow ends, the user's identity at the code " +
			"host is linked to the account of the caller, and a new session replaces the current one. The flow fails if " +
			"this session has ended, or the password was changed, before it ends. " + password.ReauthenticationRule,
		Errors: []*fault.Error{
			errBadRedirect, errNotConfigured, password.ExampleDenied, attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.linkCodehost)
	httpapi.Private(r, httpapi.Operation{
		ID: "listIdentities", Method: http.MethodGet, Path: "/api/auth/identities", Tag: tag,
		Summary:     "List the caller's identities at code hosts",
		Description: "Returns the users of code hosts who can sign in to the account, in the order in which they were linked.",
	}, s.listIdentities)
	httpapi.Private(r, httpapi.Operation{
		ID: "unlinkIdentity", Method: http.MethodDelete, Path: "/api/auth/identities/{id}", Tag: tag, SessionFirst: true,
		Summary: "Remove an identity from the caller's account",
		Description: "The identity can no longer sign in to the account. Sessions that it started do not end. If the " +
			"account has no password, its last identity cannot be removed. " + password.ReauthenticationRule,
		Errors: []*fault.Error{
			password.ExampleDenied, errNotFound, errLastIdentity, fault.ErrConflict,
			attempt.TooMany(attempt.ExampleStatus),
		},
	}, s.unlinkIdentity)
}

// Binding is the binding cookie of a request.
type Binding struct {
	Host  string `cookie:"__Host-oauth" hidden:"true"`
	Plain string `cookie:"oauth" hidden:"true"`
}

// FlowInput is the part of an input that starts a sign-in or a link. It is exported because httpapi ignores unexported
// embedded structs.
type FlowInput struct {
	Binding
	Redirect string `query:"redirect" doc:"The path on this site, or the URL of an allowed origin, to which the browser is redirected when the flow ends; / if absent" example:"/projects"`
}

type startInput struct {
	FlowInput
	FetchDest string `header:"Sec-Fetch-Dest" hidden:"true"`
	FetchMode string `header:"Sec-Fetch-Mode" hidden:"true"`
	Purpose   string `header:"Sec-Purpose" hidden:"true"`
}

// isNavigation reports whether the browser sends the request because the user opens a page. It returns false if the
// browser loads an image or a frame of another page, or prefetches the page. A client that is not a browser does not
// send these headers.
func (in *startInput) isNavigation() bool {
	return (in.FetchDest == "" || in.FetchDest == "document") &&
		(in.FetchMode == "" || in.FetchMode == "navigate") && in.Purpose == ""
}

type linkInput struct {
	FlowInput
	Body *password.Reauthentication
}

// Validate implements httpapi's validation.
func (in *linkInput) Validate(v *httpapi.Validation) { in.Body.Validate(v) }

type startOutput struct {
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

type identitiesInput struct{ httpapi.PageInput }

type identitiesOutput struct {
	Body struct {
		Identities []Identity `json:"identities" nullable:"false" doc:"The identities, in the order in which they were linked"`
		NextCursor string     `json:"nextCursor,omitempty" doc:"The cursor of the next page. Absent on the last page" example:"eyJrIjoiazEifQ"`
	}
}

type unlinkInput struct {
	ID   string `path:"id" doc:"The ID of the identity" example:"idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body *password.Reauthentication
}

// Validate implements httpapi's validation.
func (in *unlinkInput) Validate(v *httpapi.Validation) { in.Body.Validate(v) }

func (s *Service) listIdentities(
	ctx context.Context, caller httpapi.Caller, in *identitiesInput,
) (out *identitiesOutput, err error) {
	out = &identitiesOutput{}
	scope := httpapi.ListScope(caller, "identities")
	after, err := s.Cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	identities, err := identitiesOf(ctx, s.Accounts, caller.UserID)
	if err != nil {
		return nil, err
	}
	identities = slices.DeleteFunc(identities, func(i Identity) bool { return i.ID <= after })
	out.Body.Identities, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.Cursors, scope, identities, in.Limit,
		func(i Identity) string { return i.ID })
	return out, err
}
