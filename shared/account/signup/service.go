// Package signup creates accounts with a password. It must not contain accounts that a code host identifies.
package signup

import (
	"context"
	"errors"

	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/notice"
	"devplatform/shared/account/password"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/mail"
)

var errUserExists = fault.New(fault.CodeUserExists,
	"The e-mail address or the username is already taken. Please log in, or choose another one.")

// Service signs users up. It is safe for concurrent use.
type Service struct {
	DB      *db.Client
	Users   user.Store
	Limiter *attempt.Limiter
	Hasher  *password.Hasher
	Mails   notice.Mails
	IDs     *id.Generator
	Clock   clock.Clock
}

// Signup creates a user with a personal workspace, and sends the mail that confirms the address. The arguments must be
// valid (see the Check functions of the packages user and password). Errors: AUTH_RATE_LIMITED, AUTH_USER_EXISTS.
func (s *Service) Signup(
	ctx context.Context, email, username, password string, client httpapi.RequestInfo,
) (userID string, _ limit.Status, _ error) {
	attempt, err := s.Limiter.CountSignup(ctx, client)
	if err != nil {
		return "", limit.Status{}, err
	}
	hash, err := s.Hasher.Hash(ctx, password)
	if err != nil {
		return "", limit.Status{}, err
	}
	u := user.User{
		ID: s.IDs.New(id.User), Email: user.NormalizeEmail(email), Username: username, CreatedAt: clock.Stamp(s.Clock()),
	}
	credential := u.Credential(hash)
	tx := s.DB.Tx(s.Users.Create(u, credential, s.IDs.New(id.Workspace))...)
	tx.Add(s.Limiter.Know(u.Email, u.ID, client))
	if s.Mails.Outbox.Enabled() {
		set := mailtoken.Set{UserID: u.ID, Kind: mail.Confirm}
		sent, err := s.Mails.Send(ctx, notice.Link{Set: set, To: u.Email, User: u}, client)
		if err != nil {
			return "", limit.Status{}, err
		}
		tx.Add(sent...)
	}
	err = tx.Commit(ctx)
	if errors.Is(err, user.ErrTaken) {
		return "", limit.Status{}, attempt.Status().WithHeaders(errUserExists.WithCause(err))
	}
	return u.ID, attempt.Status(), err
}
