package codehost

import "devplatform/shared/fault"

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
	// errNotNavigation is returned before the request is counted, so that images on a page of another site cannot use up
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
