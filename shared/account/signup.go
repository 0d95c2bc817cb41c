package account

import (
	"context"
	"errors"

	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/limit"
)

var errUserExists = fault.New(fault.CodeUserExists, "The e-mail address or the username is already taken. Please log in, or choose another one.")

// Signup creates a user with a personal workspace. The arguments must be valid (see CheckEmail, CheckUsername and
// CheckPassword).
// Errors: AUTH_RATE_LIMITED, AUTH_USER_EXISTS.
func (s *Service) Signup(
	ctx context.Context, email, username, password string, client Client,
) (userID string, _ limit.Status, _ error) {
	attempt, err := s.count(ctx, s.counter(s.rules.signupIP, client.network()))
	if err != nil {
		return "", limit.Status{}, err
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return "", limit.Status{}, err
	}
	user := User{ID: s.ids.New(id.User), Email: NormalizeEmail(email), Username: username, CreatedAt: s.now()}
	err = s.store.createAccount(ctx, newAccount{
		user:        user,
		credential:  Credential{UserID: user.ID, PasswordHash: hash},
		workspaceID: s.ids.New(id.Workspace),
	})
	if errors.Is(err, errTaken) {
		return "", limit.Status{}, attempt.Status().WithHeaders(errUserExists.WithCause(err))
	}
	return user.ID, attempt.Status(), err
}
