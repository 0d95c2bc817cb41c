// Package password contains passwords: their rules, their hashes, the login, the change of a password, and the
// confirmation of an operation with the password. It must not contain other ways to sign in.
package password

import (
	"context"
	"errors"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/notice"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/mail"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Accounts db.Table
	Sessions *session.Service
	Limiter  *attempt.Limiter
	Hasher   *Hasher
	Tokens   *mailtoken.Store
	Mails    notice.Mails
	Activity *activity.Log
	IDs      *id.Generator
	Clock    clock.Clock
}

// Service checks and changes passwords. It is safe for concurrent use.
type Service struct {
	Deps
	store store
}

// New returns a Service. It does no I/O.
func New(d Deps) *Service {
	return &Service{Deps: d, store: store{accounts: d.Accounts}}
}

// Login checks a password and starts a session. For an unknown e-mail address, it does the same work, counts the
// attempt in the same way, and returns the same error as for a wrong password. Errors: AUTH_RATE_LIMITED,
// AUTH_INVALID_CREDENTIALS; AUTH_SUSPENDED if the password is correct.
func (s *Service) Login(
	ctx context.Context, email, password string, client httpapi.RequestInfo,
) (started session.Started, _ limit.Status, _ error) {
	c, err := s.check(ctx, user.NormalizeEmail(email), password, client)
	if err != nil {
		return started, limit.Status{}, err
	}
	if c.credential.Suspended {
		if err := s.DB.Tx(c.attempt.Refunds()...).Commit(ctx); err != nil {
			return started, limit.Status{}, err
		}
		return started, limit.Status{}, c.attempt.RefundedStatus().WithHeaders(httpapi.ErrSuspended)
	}
	u := user.User{ID: c.credential.UserID, Generation: c.credential.Generation}
	if started, err = s.Sessions.New(ctx, s.IDs.New(id.Session), u, client); err != nil {
		return started, limit.Status{}, err
	}
	writes := append([]db.Write{s.Sessions.Create(started.Session)}, c.attempt.Success()...)
	writes = append(writes, s.Activity.Add(u.ID, activity.Login, client, activity.Detail{SessionID: started.ID}))
	optional, err := s.optionalWrites(ctx, c, password, client)
	if err != nil {
		return started, limit.Status{}, err
	}
	tx := s.DB.Tx(writes...)
	tx.Add(optional...)
	err = tx.Commit(ctx)
	if errors.Is(err, db.ErrStale) && len(optional) > 0 {
		// Another login made these writes first, or the password was changed. If it was changed, this session belongs to
		// the old generation, and is never accepted.
		err = s.DB.Tx(writes...).Commit(ctx)
	}
	return started, c.attempt.RefundedStatus(), err
}

// optionalWrites returns the writes of a login that are not necessary for it: the mail about an unknown network, or a
// new hash of the same password. Error of the writes: db.ErrStale if a concurrent login has made them.
func (s *Service) optionalWrites(
	ctx context.Context, c checkResult, password string, client httpapi.RequestInfo,
) ([]db.Write, error) {
	if !c.attempt.IsKnown() {
		writes, err := s.Mails.NewNetwork(ctx, c.email, c.credential, client, s.Clock())
		if err != nil || len(writes) > 0 {
			return writes, err
		}
	}
	if !c.outdated {
		return nil, nil
	}
	hash, err := s.Hasher.Hash(ctx, password)
	return []db.Write{s.store.rehash(c, hash)}, err
}

// checkResult is the result of check.
type checkResult struct {
	email      string
	credential user.Credential // zero if there is no such account
	attempt    *attempt.Login
	outdated   bool // the hash has other parameters than new hashes
}

// check counts an attempt and then checks the password. While a limit is reached, it rejects the correct password too,
// because otherwise an attacker could continue to guess. This rejection costs one read. Errors: AUTH_RATE_LIMITED,
// AUTH_INVALID_CREDENTIALS.
func (s *Service) check(
	ctx context.Context, email, password string, client httpapi.RequestInfo,
) (c checkResult, err error) {
	c = checkResult{email: email, attempt: s.Limiter.Login(email, client)}
	items, err := s.Accounts.BatchGet(ctx, append(c.attempt.Keys(), db.EmailKey(email))...)
	if err != nil {
		return c, err
	}
	if c.credential, err = db.Decode[user.Credential](items[db.EmailKey(email)]); err != nil {
		return c, err
	}
	if err = c.attempt.Count(ctx, c.credential.UserID, items); err != nil {
		return c, err
	}
	verdict, err := s.Hasher.Verify(ctx, c.credential.PasswordHash, password)
	if err == nil && !verdict.OK {
		userID := c.credential.UserID
		if userID == "" || c.credential.Reserved {
			userID = mailtoken.UnknownUser(email)
		}
		if err = s.Activity.AddFailure(ctx, userID, client); err == nil {
			err = c.attempt.Status().WithHeaders(errWrongPassword)
		}
	}
	c.outdated = verdict.Outdated
	return c, err
}

// ChangePassword replaces the caller's password and ends all other sessions. It cancels a change of the address that is
// not confirmed yet, because a stolen session could have requested it. next must be valid (see Check). The attempt
// counts as a login attempt, so that a stolen session does not allow more guesses of the password than the login does.
// ChangePassword returns the status of the limits. Errors: AUTH_RATE_LIMITED; AUTH_INVALID_CREDENTIALS if current is
// wrong or the account has no password; CONFLICT.
//
// The transaction increments the generation of the user and of the caller's session. The other sessions keep the old
// generation and are therefore no longer accepted. DynamoDB's TTL deletes their items later.
func (s *Service) ChangePassword(
	ctx context.Context, caller httpapi.Caller, current, next string, client httpapi.RequestInfo,
) (limit.Status, error) {
	c, err := s.check(ctx, caller.Account().Email, current, client)
	if errors.Is(err, errWrongPassword) {
		return limit.Status{}, c.attempt.Status().WithHeaders(errWrongCurrentPassword)
	}
	if err != nil {
		return limit.Status{}, err
	}
	hash, err := s.Hasher.Hash(ctx, next)
	if err != nil {
		return limit.Status{}, err
	}
	u := user.User{ID: caller.UserID, Email: c.email, Username: caller.Account().Username}
	reported, err := s.Mails.Report(ctx, mail.PasswordChanged, u, client, nil)
	if err != nil {
		return limit.Status{}, err
	}
	tx := s.DB.Tx(s.store.change(caller, c, hash)...)
	tx.Add(s.Tokens.EndAll(caller.UserID, mail.Change)...)
	tx.Add(c.attempt.Refunds()...)
	tx.Add(reported...)
	tx.Add(s.Activity.Add(caller.UserID, activity.PasswordChanged, client, activity.Detail{}))
	err = tx.Commit(ctx)
	if errors.Is(err, db.ErrStale) {
		return limit.Status{}, c.attempt.Status().WithHeaders(errPasswordChanged.WithCause(err))
	}
	return c.attempt.RefundedStatus(), err
}

// Confirm returns an error unless the caller logged in within the last 10 minutes, or password is the password of the
// caller's account. Otherwise, a stolen session would be enough to add another way to sign in. After a recent login,
// the password is not checked. A password that is checked counts as a login attempt. Errors:
// AUTH_REAUTHENTICATION_REQUIRED, AUTH_RATE_LIMITED.
func (s *Service) Confirm(
	ctx context.Context, caller httpapi.Caller, password string, client httpapi.RequestInfo,
) error {
	if caller.IsFresh(s.Clock()) {
		return nil
	}
	if password == "" {
		return errReauthenticate
	}
	c, err := s.check(ctx, caller.Account().Email, password, client)
	if errors.Is(err, errWrongPassword) {
		return c.attempt.Status().WithHeaders(errReauthenticate.WithCause(err))
	}
	if err != nil {
		return err
	}
	return s.DB.Tx(c.attempt.Refunds()...).Commit(ctx)
}
