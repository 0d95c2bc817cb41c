package account

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

var errWrongPassword = fault.New(fault.CodeInvalidCredentials, "Invalid e-mail address or password.")

// Login checks a password and starts a session. Five calls to storage at most: one read, three counters at once, one
// transaction. An unknown e-mail costs the same hash, the same counters and the same message as a wrong password.
func (s *Service) Login(ctx context.Context, email, password string, client Client) (SignedIn, Standing, error) {
	now := s.now()
	email = NormalizeEmail(email)
	check, err := s.checkPassword(ctx, email, password, client, now)
	if err != nil {
		return SignedIn{}, Standing{}, err
	}
	user := User{ID: check.state.credential.UserID, Generation: check.state.credential.Generation}
	session := newSession(s.ids.New(id.Session), user, client, now)
	token, err := s.tokens.sign(ctx, session, now)
	if err != nil {
		return SignedIn{}, Standing{}, err
	}
	in := signIn{session: session, email: email, refunds: check.ticket.refunds()}
	if !check.state.freshIP {
		in.noteIP = httpapi.RateKey(client.IP)
	}
	if err := s.startSession(ctx, in, check, password, now); err != nil {
		return SignedIn{}, Standing{}, err
	}
	return SignedIn{UserID: user.ID, Token: httpapi.Renewal{Token: token, Expires: session.ExpiresAt}}, check.ticket.standing(true), nil
}

// startSession starts it, with a new hash if the old one's parameters are no longer today's.
func (s *Service) startSession(ctx context.Context, in signIn, check passwordCheck, password string, now time.Time) error {
	if !check.outdated {
		return s.store.startSession(ctx, in, now)
	}
	fresh, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return err
	}
	in.rehash = &rehash{old: check.state.credential.PasswordHash, fresh: fresh}
	err = s.store.startSession(ctx, in, now)
	if errors.Is(err, errStale) {
		// Another login renewed the hash first, or the password was changed: then the session belongs to a generation
		// that has ended, and never comes to life.
		in.rehash = nil
		return s.store.startSession(ctx, in, now)
	}
	return err
}

// passwordCheck is a password that was the right one.
type passwordCheck struct {
	state    loginState
	ticket   ticket
	outdated bool
}

// checkPassword is the guarded way to try a password: counted first, then hashed. Whoever is limited is refused even
// with the right one, or guessing could go on and only its answer be late.
func (s *Service) checkPassword(ctx context.Context, email, password string, client Client, now time.Time) (passwordCheck, error) {
	ip := httpapi.RateKey(client.IP)
	state, err := s.store.login(ctx, email, ip, s.limits.loginCounters(email, ip, false, now), now)
	if err != nil {
		return passwordCheck{}, err
	}
	counters := s.limits.loginCounters(email, ip, state.knownIP, now)
	if full, any := state.full(counters); any { // the cheap answer to whoever keeps trying: one read
		return passwordCheck{}, refusal(counters, full, now)
	}
	ticket, err := s.admit(ctx, counters, now)
	if err != nil {
		return passwordCheck{}, err
	}
	verdict, err := s.hasher.Verify(ctx, state.credential.PasswordHash, password)
	if err != nil {
		return passwordCheck{}, err
	}
	if !verdict.OK {
		return passwordCheck{}, ticket.fail(errWrongPassword)
	}
	return passwordCheck{state: state, ticket: ticket, outdated: verdict.Outdated}, nil
}

// full tells which counters had reached their limit when they were read.
func (l loginState) full(counters []counter) (full []bool, any bool) {
	full = make([]bool, len(counters))
	for i, c := range counters {
		full[i] = l.used[counterDBKey(c)] >= c.limit
		any = any || full[i]
	}
	return full, any
}
