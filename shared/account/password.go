package account

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

var (
	errPasswordChanged = fault.New(fault.CodeConflict, "The password was changed at the same time. Please try again.")
	errWrongCurrent    = fault.New(fault.CodeInvalidCredentials,
		"The current password is wrong, or the account has no password because it signs in with a code host.")
)

// ChangePassword replaces the caller's password and ends all other sessions. next must be valid (see CheckPassword).
// The attempt counts as a login, so that a stolen session does not allow more guesses. An account without a password
// cannot get one.
//
// The transaction of the change starts a new generation, which ends the other sessions. DynamoDB's TTL deletes their
// items later. Errors: AUTH_RATE_LIMITED, AUTH_INVALID_CREDENTIALS, CONFLICT.
func (s *Service) ChangePassword(
	ctx context.Context, caller httpapi.Caller, current, next string, client Client,
) (limit.Status, error) {
	check, err := s.checkPassword(ctx, caller.Email, current, client)
	if errors.Is(err, errWrongPassword) {
		return limit.Status{}, check.attempt.Status().WithHeaders(errWrongCurrent)
	}
	if err != nil {
		return limit.Status{}, err
	}
	hash, err := s.hasher.Hash(ctx, next)
	if err != nil {
		return limit.Status{}, err
	}
	err = s.store.changePassword(ctx, passwordChange{
		user:      User{ID: caller.UserID, Email: caller.Email, Generation: check.credential.Generation},
		sessionID: caller.SessionID,
		oldHash:   check.credential.PasswordHash,
		newHash:   hash,
		refunds:   check.attempt.Refunds(),
	})
	if errors.Is(err, db.ErrStale) {
		return limit.Status{}, check.attempt.Status().WithHeaders(errPasswordChanged.WithCause(err))
	}
	return check.attempt.RefundedStatus(), err
}
