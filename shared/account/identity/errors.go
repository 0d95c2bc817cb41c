package identity

import (
	"errors"

	"devplatform/shared/fault"
)

// ErrOtherSession reports a link that another session has started, or that started before a change of the password.
var ErrOtherSession = errors.New("identity: the link belongs to another session")

// Errors of a sign-in or a link.
var (
	ErrNoEmail = fault.New(fault.CodeOAuthFailed,
		"The code host did not report a verified e-mail address. Please verify an address there, and start again.")
	ErrUnverified = fault.New(fault.CodeUserExists,
		"An account with this e-mail address exists. Please log in with its password, and then link the code host.")
	ErrLinked = fault.New(fault.CodeConflict,
		"Another account is linked to this user of the code host. Sign in with the code host to use that account.")
)

var (
	errNotFound = fault.New(fault.CodeIdentityNotFound,
		"The identity does not exist. List your identities to see the linked ones.")
	errLastIdentity = fault.New(fault.CodeConflict,
		"This identity is the only way to sign in to the account. Link another one before you remove it.")
)
