// Package codehost contains the sign-in with a code host, and the users of code hosts who can sign in to an account,
// who are called identities. It sends the browser to the code host, checks that the same browser comes back, and
// decides which account an identity belongs to. It must not talk to code hosts: package oauth does that.
package codehost

import (
	"log/slog"
	"net/http"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/password"
	"devplatform/shared/config"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// CallbackPath is the path to which the code host redirects the browser after a sign-in.
const CallbackPath = "/api/auth/codehost/callback"

// Deps are the dependencies of a Service.
type Deps struct {
	password.Deps
	Passwords *password.Service
	Provider  *oauth.Provider // nil if no code host is configured
	Logger    *slog.Logger
	Edge      config.Edge
}

// Service signs in with identities, and links, lists and removes them. It is safe for concurrent use.
type Service struct{ Deps }

// New returns a Service. It does no I/O.
func New(d Deps) *Service { return &Service{d} }

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
	// errNotNavigation is returned before the request is counted. Otherwise, images on a page of another site could use up
	// the limit of a visitor's network.
	errNotNavigation = fault.New(fault.CodeCSRFRejected,
		"A sign-in cannot start in a script, an image or a frame. Open this URL as a page.")
	errNoEmail = fault.New(fault.CodeOAuthFailed,
		"The code host did not report a verified e-mail address. Please verify an address there, and start again.")
	errUnverified = fault.New(fault.CodeUserExists,
		"An account with this e-mail address exists. Please log in with its password, and then link the code host.")
	errLinked = fault.New(fault.CodeConflict,
		"Another account is linked to this user of the code host. Sign in with the code host to use that account.")
	errNotFound = fault.New(fault.CodeIdentityNotFound,
		"The identity does not exist. List your identities to see the linked ones.")
	errLastIdentity = fault.New(fault.CodeConflict,
		"This identity is the only way to sign in to the account. Link another one before you remove it.")
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
