package account

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

const (
	// knownIPLife is how long a network stays known to an account after a login from it.
	knownIPLife = 365 * 24 * time.Hour
	// A login stores a known network again when knownIPRefresh or less of its life remains.
	knownIPRefresh = knownIPLife - 24*time.Hour
)

var errWrongPassword = fault.New(fault.CodeInvalidCredentials, "Invalid e-mail address or password.")

// Login checks a password and starts a session. For an unknown e-mail address, it does the same work, counts the
// attempt in the same way, and returns the same error as for a wrong password. Errors: AUTH_RATE_LIMITED,
// AUTH_INVALID_CREDENTIALS.
func (s *Service) Login(ctx context.Context, email, password string, client Client) (SignedIn, limit.Status, error) {
	check, err := s.checkPassword(ctx, NormalizeEmail(email), password, client)
	if err != nil {
		return SignedIn{}, limit.Status{}, err
	}
	in, err := s.newSignIn(ctx, check.user(), client)
	if err != nil {
		return SignedIn{}, limit.Status{}, err
	}
	in.refunds = check.attempt.Refunds()
	if check.knownUntil.Sub(in.session.CreatedAt) <= knownIPRefresh {
		in.knownIP = client.network()
	}
	if check.outdated {
		in.oldHash = check.credential.PasswordHash
		if in.newHash, err = s.hasher.Hash(ctx, password); err != nil {
			return SignedIn{}, limit.Status{}, err
		}
	}
	err = s.store.startSession(ctx, in)
	if errors.Is(err, db.ErrStale) {
		// Another login stored a new hash first, or the password was changed. If it was changed, this session belongs to
		// the old generation, and is never accepted.
		in.newHash = ""
		err = s.store.startSession(ctx, in)
	}
	return in.signedIn(), check.attempt.RefundedStatus(), err
}

// passwordCheck is the result of a password check.
type passwordCheck struct {
	loginState
	attempt  limit.Attempt
	outdated bool // the parameters of the hash are not the current ones
}

// checkPassword counts an attempt and then checks the password. While a limit is reached, it rejects the correct
// password too, because otherwise an attacker could continue to guess. This rejection costs one read. Errors:
// AUTH_RATE_LIMITED, AUTH_INVALID_CREDENTIALS.
func (s *Service) checkPassword(ctx context.Context, email, password string, client Client) (passwordCheck, error) {
	counters := s.loginCounters(email, client.network())
	state, err := s.store.loginState(ctx, email, client.network(), counters)
	if err != nil {
		return passwordCheck{}, err
	}
	if !state.knownUntil.IsZero() {
		counters = counters[:2] // without the counter for unknown networks
	}
	attempt, err := s.count(ctx, counters...)
	if err != nil {
		return passwordCheck{}, err
	}
	verdict, err := s.hasher.Verify(ctx, state.credential.PasswordHash, password)
	if err == nil && !verdict.OK {
		err = attempt.Status().WithHeaders(errWrongPassword)
	}
	return passwordCheck{loginState: state, attempt: attempt, outdated: verdict.Outdated}, err
}
