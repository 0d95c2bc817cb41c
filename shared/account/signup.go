package account

import (
	"context"
	"errors"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

var errUserExists = fault.New(fault.CodeUserExists, "That e-mail address or username is already taken.")

// SignUp makes a user with a personal workspace. The rules for e-mail, username and password have been checked.
func (s *Service) SignUp(ctx context.Context, email, username, password string, client Client) (userID string, _ Standing, _ error) {
	now := s.now()
	ticket, err := s.admit(ctx, []counter{s.limits.signupCounter(httpapi.RateKey(client.IP), now)}, now)
	if err != nil {
		return "", Standing{}, err
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return "", Standing{}, err
	}
	user := User{ID: s.ids.New(id.User), Email: NormalizeEmail(email), Username: username, CreatedAt: now}
	err = s.store.createAccount(ctx, newAccount{
		user:        user,
		credential:  Credential{UserID: user.ID, PasswordHash: hash},
		workspaceID: s.ids.New(id.Workspace),
	}, now)
	if errors.Is(err, errEmailTaken) || errors.Is(err, errUsernameTaken) {
		return "", Standing{}, ticket.fail(errUserExists.WithCause(err))
	}
	if err != nil {
		return "", Standing{}, err
	}
	return user.ID, ticket.standing(true), nil
}
