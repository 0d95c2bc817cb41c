package password

import "devplatform/shared/fault"

var (
	errUserExists = fault.New(fault.CodeUserExists,
		"The e-mail address or the username is already taken. Please log in, or choose another one.")
	errWrongPassword  = fault.New(fault.CodeInvalidCredentials, "Invalid e-mail address or password.")
	errReauthenticate = fault.New(fault.CodeReauthRequired,
		"Send the password of the account, or log in again and repeat the request within 10 minutes.")
	errPasswordChanged      = fault.New(fault.CodeConflict, "The password was changed at the same time. Please try again.")
	errWrongCurrentPassword = fault.New(fault.CodeInvalidCredentials,
		"The current password is wrong, or the account has no password because it signs in with a code host.")
)
