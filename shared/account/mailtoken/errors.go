package mailtoken

import "devplatform/shared/fault"

// ErrInvalid is the only error for a token or a code that cannot be used. It does not reveal the reason.
var ErrInvalid = fault.New(fault.CodeCodeInvalid,
	"The link or the code is wrong, has expired, was already used, or was replaced by a newer one. Request a new mail.")
