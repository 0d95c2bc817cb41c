// Package codehost contains the sign-in with a code host, and the users of code hosts who can sign in to an account,
// who are called identities. It sends the browser to the code host, checks that the same browser comes back, and
// decides which account an identity belongs to. It must not talk to code hosts: package oauth does that.
package codehost

import (
	"log/slog"

	"devplatform/shared/account/oauth"
	"devplatform/shared/account/password"
	"devplatform/shared/config"
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
