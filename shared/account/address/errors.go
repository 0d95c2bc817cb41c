package address

import "devplatform/shared/fault"

var (
	errTaken = fault.New(fault.CodeUserExists,
		"Another account has taken the address in the meantime. Choose another address.")
	errSameAddress = fault.Invalid(fault.Field("email", "is already the address of the account"))
)
