// Package password contains accounts with a password: the sign-up, the rules and hashes of passwords, the login, the
// change of a password, and the confirmation of an operation with the password. It must not contain other ways to sign
// in.
package password

import (
	"context"
	"errors"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// Deps are the dependencies of a Service, and of the rooms that build on this one.
type Deps struct {
	DB       *db.Client
	Accounts db.Table
	Users    user.Store
	Sessions *session.Service
	Limiter  *attempt.Limiter
	Hasher   *Hasher
	Tokens   *mailtoken.Store
	Mails    mailtoken.Mails
	Activity *activity.Log
	Cursors  *db.Cursors
	IDs      *id.Generator
	Clock    clock.Clock
}

// Service checks and changes passwords. It is safe for concurrent use.
type Service struct{ Deps }

// New returns a Service. It does no I/O.
func New(d Deps) *Service { return &Service{d} }

// Confirm returns an error unless the caller logged in within the last 10 minutes, or the body has the password of the
// caller's account. It prevents the holder of a stolen session from adding another way to sign in. After a recent
// login, the password is not checked. A password that is checked counts as a login attempt. Errors:
// AUTH_REAUTHENTICATION_REQUIRED, AUTH_RATE_LIMITED.
func (s *Service) Confirm(
	ctx context.Context, caller httpapi.Caller, body *Reauthentication, client httpapi.RequestInfo,
) error {
	if caller.IsFresh(s.Clock()) {
		return nil
	}
	if body == nil || body.Password == "" {
		return errReauthenticate
	}
	c, err := s.checkPassword(ctx, caller.Account().Email, body.Password, client)
	if errors.Is(err, errWrongPassword) {
		return c.Status().WithHeaders(errReauthenticate.WithCause(err))
	}
	if err != nil {
		return err
	}
	return s.DB.Tx(c.Refunds()...).Commit(ctx)
}
