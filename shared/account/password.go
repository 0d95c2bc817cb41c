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
	errPasswordChanged      = fault.New(fault.CodeConflict, "The password was changed at the same time. Please try again.")
	errWrongCurrentPassword = fault.New(fault.CodeInvalidCredentials,
		"The current password is wrong, or the account has no password because it signs in with a code host.")
)

// ChangePassword replaces the caller's password and ends all other sessions. next must be valid (see CheckPassword).
// The attempt counts as a login attempt, so that a stolen session does not allow more guesses of the password than the
// login does. ChangePassword returns the status of the limits. Errors: AUTH_RATE_LIMITED; AUTH_INVALID_CREDENTIALS if
// current is wrong or the account has no password; CONFLICT.
//
// The transaction increments the generation of the user and of the caller's session. The other sessions keep the old
// generation and are therefore no longer accepted. DynamoDB's TTL deletes their items later.
func (s *Service) ChangePassword(
	ctx context.Context, caller httpapi.Caller, current, next string, client Client,
) (limit.Status, error) {
	check, err := s.checkPassword(ctx, caller.Account().Email, current, client)
	if errors.Is(err, errWrongPassword) {
		return limit.Status{}, check.attempt.Status().WithHeaders(errWrongCurrentPassword)
	}
	if err != nil {
		return limit.Status{}, err
	}
	hash, err := s.hasher.Hash(ctx, next)
	if err != nil {
		return limit.Status{}, err
	}
	err = s.store.changePassword(ctx, passwordChange{
		user:      User{ID: caller.UserID, Email: caller.Account().Email, Generation: check.credential.Generation},
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
