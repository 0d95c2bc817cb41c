package attempt

import (
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// errTooMany is the error of an attempt beyond a limit.
var errTooMany = fault.New(fault.CodeAuthRateLimited, "Too many attempts. Please wait and try again.")

// TooMany returns the error of an attempt beyond a limit, with the headers of the limit.
func TooMany(status limit.Status) *fault.Error {
	return status.WithHeaders(status.WithRetryAfter(errTooMany))
}

// ExampleStatus is the status of a limit in the examples of the OpenAPI document.
var ExampleStatus = limit.Status{Limit: 10, Reset: 14 * time.Minute}
