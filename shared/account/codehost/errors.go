package codehost

import (
	"errors"

	"devplatform/shared/fault"
)

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

// errNotNavigation is returned before the request is counted. Otherwise, images on a page of another site could use up
// the limit of a visitor's network.
var errNotNavigation = fault.New(fault.CodeCSRFRejected,
	"A sign-in cannot start in a script, an image or a frame. Open this URL as a page.")

// errState reports a state that does not exist, has expired, was already used, or belongs to another browser.
var errState = errors.New("codehost: invalid state of a sign-in")
