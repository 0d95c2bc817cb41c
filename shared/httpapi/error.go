package httpapi

import (
	"errors"
	"slices"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// AsError returns the error that a client sees when a handler returns err. Faults are returned unchanged. Errors of
// storage and of the key ring have codes of their own. Every other error becomes INTERNAL_ERROR, and its text appears
// only in the log.
func AsError(err error) *fault.Error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	switch {
	case errors.Is(err, db.ErrUnavailable), errors.Is(err, config.ErrUnavailable):
		return fault.ErrUnavailable.WithCause(err)
	case errors.Is(err, db.ErrCursor):
		return ErrCursor.WithCause(err)
	case errors.Is(err, db.ErrConflict):
		return fault.ErrConflict.WithCause(err)
	default:
		return fault.ErrInternal.WithCause(err)
	}
}

// failure returns the error that the client of the request sees. A conflict that outlasted all retries becomes
// SERVICE_UNAVAILABLE if the operation does not document CONFLICT, as a login does not: its clients have no resource to
// read again, and can only repeat the request.
func (x *exchange) failure(err error) *fault.Error {
	isConflict := func(e *fault.Error) bool { return e.Code == fault.CodeConflict }
	failure := AsError(err)
	if x.endpoint != nil && isConflict(failure) && errors.Is(err, db.ErrConflict) &&
		!slices.ContainsFunc(x.endpoint.Errors, isConflict) {
		return fault.ErrUnavailable.WithCause(err)
	}
	return failure
}
