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

// ChangePassword replaces the caller's password and ends all other sessions. The new password has been validated. The
// attempt counts as a login: a stolen session must not allow more guesses. It does not add a password to an account
// that has none.
//
// The same transaction ends the other sessions, because it starts a new generation. TTL removes their items.
// Errors: AUTH_RATE_LIMITED, AUTH_INVALID_CREDENTIALS, CONFLICT.
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
