package user

import (
	"errors"

	"devplatform/shared/fault"
)

// ErrTaken reports that an account already has the e-mail address, the username or the identity.
var ErrTaken = errors.New("user: already taken")

var errNotFound = fault.New(fault.CodeUserNotFound, "The user does not exist. Check the username.")
