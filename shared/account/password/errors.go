package password

import (
	"devplatform/shared/account/attempt"
	"devplatform/shared/fault"
)

var (
	errWrongPassword        = fault.New(fault.CodeInvalidCredentials, "Invalid e-mail address or password.")
	errPasswordChanged      = fault.New(fault.CodeConflict, "The password was changed at the same time. Please try again.")
	errWrongCurrentPassword = fault.New(fault.CodeInvalidCredentials,
		"The current password is wrong, or the account has no password because it signs in with a code host.")
	errReauthenticate = fault.New(fault.CodeReauthRequired,
		"Send the password of the account, or log in again and repeat the request within 10 minutes.")
)

// ExampleDenied is the error of Service.Confirm in the OpenAPI document.
var ExampleDenied = attempt.ExampleStatus.WithHeaders(errReauthenticate)
