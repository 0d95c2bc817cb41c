package httpapi

import (
	"errors"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// AsError returns the error that a client sees when a handler returns err. Faults are returned unchanged. Errors of
// storage and of the key ring have codes of their own. Every other error becomes INTERNAL_ERROR, and its text appears
// only in the log.
func AsError(err error) *fault.Error {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return known
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
