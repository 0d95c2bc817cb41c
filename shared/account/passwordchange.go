package account

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

var (
	errPasswordMoved = fault.New(fault.CodeConflict, "The password was changed at the same time. Please try again.")
	errWrongCurrent  = fault.New(fault.CodeInvalidCredentials, "The current password is wrong, or this account has none and signs in with a code host.")
	errNoSession     = fault.New(fault.CodeSessionNotFound, "There is no such session.")
)

// ChangePassword replaces the caller's password and ends every other session. The rules for the new one have been
// checked. It is counted as a login: a stolen session must not be a way to guess on. An account that signs in with a
// code host only has no current password to give and can't get one here.
//
// The other sessions end with the same write, by their generation; their records are left for DynamoDB's TTL.
func (s *Service) ChangePassword(ctx context.Context, caller httpapi.Caller, current, fresh string, client Client) (Standing, error) {
	now := s.now()
	check, err := s.checkPassword(ctx, caller.Email, current, client, now)
	if errors.Is(err, errWrongPassword) {
		return Standing{}, wrongCurrent(err)
	}
	if err != nil {
		return Standing{}, err
	}
	hash, err := s.hasher.Hash(ctx, fresh)
	if err != nil {
		return Standing{}, err
	}
	credential := check.state.credential
	err = s.store.changePassword(ctx, passwordChange{
		user:      User{ID: caller.UserID, Email: caller.Email, Generation: credential.Generation},
		sessionID: caller.SessionID,
		old:       credential.PasswordHash,
		fresh:     hash,
		refunds:   check.ticket.refunds(),
	})
	if errors.Is(err, errStale) {
		return Standing{}, check.ticket.fail(errPasswordMoved.WithCause(err))
	}
	if err != nil {
		return Standing{}, err
	}
	return check.ticket.standing(true), nil
}

// wrongCurrent words a wrong password for somebody who is signed in already.
func wrongCurrent(err error) error {
	var answer *fault.Error
	if !errors.As(err, &answer) {
		return err
	}
	worded := *answer
	worded.Message = errWrongCurrent.Message
	return &worded
}

// EndSession ends one of the caller's sessions. Error: SESSION_NOT_FOUND.
func (s *Service) EndSession(ctx context.Context, caller httpapi.Caller, sessionID string) error {
	user, err := s.store.user(ctx, caller.UserID)
	if err == nil {
		err = s.store.endLiveSession(ctx, user, sessionID, s.now())
	}
	if errors.Is(err, db.ErrNotFound) {
		return errNoSession.WithCause(err)
	}
	return err
}

// ListSessions lists the caller's live sessions, newest first.
func (s *Service) ListSessions(ctx context.Context, caller httpapi.Caller) ([]Session, error) {
	user, err := s.store.user(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	return s.store.sessions(ctx, user, s.now())
}

// Logout ends the session of a token, if it is one.
func (s *Service) Logout(ctx context.Context, token string) error {
	claims, err := s.tokens.read(ctx, token)
	if errors.Is(err, errToken) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.store.endSession(ctx, claims.Subject, claims.SessionID)
}
