package account

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// recentLogin is the longest time since the login in which a session may link or remove identities without the
// password.
const recentLogin = 10 * time.Minute

var errReauthenticate = fault.New(fault.CodeReauthRequired,
	"Send the password of the account, or log in again and repeat the request within 10 minutes.")

// reauthenticate returns an error unless the caller logged in within the last 10 minutes, or password is the password
// of the caller's account. Otherwise, a stolen session would be enough to add another way to sign in. After a recent
// login, the password is not checked. A password that is checked counts as a login attempt. Errors:
// AUTH_REAUTHENTICATION_REQUIRED, AUTH_RATE_LIMITED.
func (s *Service) reauthenticate(ctx context.Context, caller httpapi.Caller, password string, client Client) error {
	if s.now().Sub(caller.Account().LoggedInAt) <= recentLogin {
		return nil
	}
	if password == "" {
		return errReauthenticate
	}
	check, err := s.checkPassword(ctx, caller.Account().Email, password, client)
	if errors.Is(err, errWrongPassword) {
		return check.attempt.Status().WithHeaders(errReauthenticate.WithCause(err))
	}
	if err != nil {
		return err
	}
	return s.store.refund(ctx, check.attempt)
}
