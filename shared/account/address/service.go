// Package address contains the e-mail address of an account: its confirmation, its change, and the way back after a
// change. It must not contain passwords.
//
// An address belongs to the account whose ID is in the item of the address. A former address stays reserved for the
// account in the same item, until the link that undoes the change expires. So it cannot be taken, and cannot sign in.
package address

import (
	"context"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/identity"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/notice"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB         *db.Client
	Accounts   db.Table
	Users      user.Store
	Sessions   *session.Service
	Identities *identity.Service
	Limiter    *attempt.Limiter
	Tokens     *mailtoken.Store
	Mails      notice.Mails
	Activity   *activity.Log
	Clock      clock.Clock
}

// Service confirms and changes addresses. It is safe for concurrent use.
type Service struct{ Deps }

// New returns a Service. It does no I/O.
func New(d Deps) *Service { return &Service{d} }

// state is a user, with the sets of tokens and the addresses that were read in the same call.
type state struct {
	user.User // the zero User if there is no such user
	items     map[db.Ref]db.Item
}

// read reads a user, sets of tokens, and the items of addresses, in one call.
func (s *Service) read(ctx context.Context, userID string, kinds []mail.Kind, emails ...string) (state, error) {
	refs := []db.Ref{s.Accounts.Ref(db.UserKey(userID))}
	for _, kind := range kinds {
		refs = append(refs, s.Tokens.Ref(userID, kind))
	}
	for _, email := range emails {
		refs = append(refs, s.Accounts.Ref(db.EmailKey(email)))
	}
	items, err := s.DB.BatchGet(ctx, refs...)
	if err != nil {
		return state{}, err
	}
	u, err := db.Decode[user.User](items[refs[0]])
	return state{User: u, items: items}, err
}

// set returns the tokens of a kind.
func (s *Service) set(st state, kind mail.Kind) (mailtoken.Set, error) {
	return s.Tokens.Decode(st.items, st.ID, kind)
}

// userOf returns the ID of the user whose token or code a request has. A code needs a session. Error:
// AUTH_INVALID_TOKEN.
func (s *Service) userOf(ctx context.Context, claim mailtoken.Claim) (string, error) {
	if claim.Token != "" {
		return mailtoken.UserOf(claim.Token), nil
	}
	caller, err := s.Sessions.AuthenticateNow(ctx, httpapi.SessionToken(ctx))
	return caller.UserID, err
}

// match is the token that a claim matches, with its user and its set.
type match struct {
	state
	set   mailtoken.Set
	token mailtoken.Token
}

// match returns the token of a user that a claim matches. others are the kinds of further sets to read. Errors:
// AUTH_CODE_INVALID; db.ErrStale.
func (s *Service) match(
	ctx context.Context, userID string, kind mail.Kind, claim mailtoken.Claim, others ...mail.Kind,
) (c match, err error) {
	if c.state, err = s.read(ctx, userID, append(others, kind)); err != nil {
		return c, err
	}
	if c.set, err = s.Tokens.Decode(c.items, userID, kind); err != nil {
		return c, err
	}
	if c.token, err = s.Tokens.Match(ctx, c.set, claim); err == nil && c.ID == "" {
		err = mailtoken.ErrInvalid
	}
	return c, err
}
