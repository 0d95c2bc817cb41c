// Package address contains the e-mail address of an account, and what its owner can do with a mail to the address:
// confirm the address, change it, undo a change, and reset a forgotten password. The package must not reveal who has an
// account: a request for an unknown address reads and writes the same items as a request for a known address. The items
// of an unknown address are stored below the ID of a user who does not exist.
//
// An address belongs to the account whose user ID is in the item of the address. A former address stays reserved for
// the account in the same item, until the link that undoes the change expires. Until then, no account can take the
// address, and no user can log in with it.
package address

import (
	"context"

	"devplatform/shared/account/codehost"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/password"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// Deps are the dependencies of a Service.
type Deps struct {
	password.Deps
	Identities *codehost.Service
}

// Service confirms and changes addresses, and resets passwords. It is safe for concurrent use.
type Service struct{ Deps }

// New returns a Service. It does no I/O.
func New(d Deps) *Service { return &Service{d} }

// state is a user, with the sets of tokens and the addresses that were read in the same call.
type state struct {
	user.User        // the zero User if there is no such user
	userID    string // also of a user who does not exist
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
	return state{User: u, userID: userID, items: items}, err
}

// set returns the tokens of a kind.
func (s *Service) set(st state, kind mail.Kind) (mailtoken.Set, error) {
	return s.Tokens.Decode(st.items, st.userID, kind)
}

// userOf counts an attempt to use a token or a code, and returns the ID of its user. A code needs a session. Errors:
// AUTH_RATE_LIMITED; AUTH_INVALID_TOKEN for a code without a session.
func (s *Service) userOf(ctx context.Context, claim mailtoken.Claim, client httpapi.RequestInfo) (string, error) {
	if err := s.Limiter.CountCode(ctx, client); err != nil {
		return "", err
	}
	if claim.Token != "" {
		return mailtoken.UserOf(claim.Token), nil
	}
	caller, err := s.Sessions.AuthenticateNow(ctx, httpapi.SessionToken(ctx))
	return caller.UserID, err
}

// matched is the token that a claim matches, with its user and its set.
type matched struct {
	state
	set   mailtoken.Set
	token mailtoken.Token
}

// match returns the token of a user that a claim matches. others are the kinds of further sets to read. Errors:
// AUTH_CODE_INVALID; db.ErrStale.
func (s *Service) match(
	ctx context.Context, userID string, kind mail.Kind, claim mailtoken.Claim, others ...mail.Kind,
) (c matched, err error) {
	if c.state, err = s.read(ctx, userID, append(others, kind)); err != nil {
		return c, err
	}
	if c.set, err = s.set(c.state, kind); err != nil {
		return c, err
	}
	if c.token, err = s.Tokens.Match(ctx, c.set, claim); err == nil && c.ID == "" {
		err = mailtoken.ErrInvalid
	}
	return c, err
}

// send stores a mail with a link, counts the mail that the client requests, and makes more writes, in one transaction.
// Errors: AUTH_RATE_LIMITED, db.ErrStale, config.ErrUnavailable; the errors of more.
func (s *Service) send(ctx context.Context, l mailtoken.Link, client httpapi.RequestInfo, more ...db.Write) error {
	sent, err := s.Mails.Send(ctx, l, client)
	if err != nil {
		return err
	}
	tx := s.DB.Tx(more...)
	tx.Add(sent...)
	tx.Add(s.Limiter.Mail(l.To, client)...)
	return tx.CommitOnce(ctx)
}
