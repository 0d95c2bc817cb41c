// Package recovery resets forgotten passwords. It must not reveal who has an account: a request for an unknown address
// reads and writes the same items as a request for a known one. They are stored below the ID of a user who does not
// exist.
package recovery

import (
	"context"
	"strings"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/identity"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/notice"
	"devplatform/shared/account/password"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB         *db.Client
	Accounts   db.Table
	Users      user.Store
	Identities *identity.Service
	Limiter    *attempt.Limiter
	Hasher     *password.Hasher
	Tokens     *mailtoken.Store
	Mails      notice.Mails
	Activity   *activity.Log
}

// Service resets passwords. It is safe for concurrent use.
type Service struct{ Deps }

// New returns a Service. It does no I/O.
func New(d Deps) *Service { return &Service{d} }

// account is the stored data of an account, or of an unknown address.
type account struct {
	user.User
	isKnown bool
	resets  mailtoken.Set
}

// find returns the ID of the user with an address, or the ID under which requests for an unknown address are stored.
func (s *Service) find(ctx context.Context, email string) (userID string, _ error) {
	items, err := s.Accounts.BatchGet(ctx, db.EmailKey(email))
	if err != nil {
		return "", err
	}
	credential, err := db.Decode[user.Credential](items[db.EmailKey(email)])
	if credential.UserID == "" || credential.Reserved {
		return mailtoken.UnknownUser(email), err
	}
	return credential.UserID, err
}

// read reads a user and the tokens that reset the user's password.
func (s *Service) read(ctx context.Context, userID string) (a account, err error) {
	ref := s.Accounts.Ref(db.UserKey(userID))
	items, err := s.DB.BatchGet(ctx, ref, s.Tokens.Ref(userID, mail.Reset))
	if err != nil {
		return a, err
	}
	if a.User, err = db.Decode[user.User](items[ref]); err != nil {
		return a, err
	}
	a.isKnown = a.ID != ""
	a.resets, err = s.Tokens.Decode(items, userID, mail.Reset)
	return a, err
}

// unknownName is the username in the mail for an unknown address. This mail is not sent. The name has an average
// length, so that the work is like the work for a known address.
var unknownName = strings.Repeat("u", user.MaxUsernameBytes/2)

// Forgot sends a mail with which the reader chooses a new password, if an account has the address. Errors:
// MAIL_NOT_CONFIGURED, AUTH_RATE_LIMITED.
func (s *Service) Forgot(ctx context.Context, email string, client httpapi.RequestInfo) error {
	if !s.Mails.Outbox.Enabled() {
		return mail.ErrNotConfigured
	}
	email = user.NormalizeEmail(email)
	return db.Retry(ctx, "send a reset of a password", func(ctx context.Context) error {
		userID, err := s.find(ctx, email)
		if err != nil {
			return err
		}
		a, err := s.read(ctx, userID)
		if err != nil {
			return err
		}
		if a.Email != email { // unknown, or changed since the address was read
			a.User = user.User{ID: userID, Username: unknownName}
		}
		link := notice.Link{Set: a.resets, To: email, User: a.User, Discard: a.Email != email}
		writes, err := s.Mails.Send(ctx, link, client)
		if err != nil {
			return err
		}
		return s.DB.Tx(append(writes, s.Limiter.Mail(email, client)...)...).CommitOnce(ctx)
	})
}

// Claim is the token of a mail, or an address with the code of a mail to it.
type Claim struct {
	mailtoken.Claim
	Email string
}

// Reset sets the password of an account, and confirms its address. All sessions, mail tokens and changes in progress
// end, except for the links that undo a change of the address. If the address had never been confirmed, another person
// may have created the account: then its identities are removed. Errors: AUTH_RATE_LIMITED, AUTH_CODE_INVALID,
// VALIDATION_FAILED.
func (s *Service) Reset(ctx context.Context, claim Claim, newPassword string, client httpapi.RequestInfo) error {
	if err := s.Limiter.CountCode(ctx, client); err != nil {
		return err
	}
	hash, err := s.Hasher.Hash(ctx, newPassword) // before the claim is checked, so that the work is always the same
	if err != nil {
		return err
	}
	return db.Retry(ctx, "reset a password", func(ctx context.Context) error {
		userID, email := mailtoken.UserOf(claim.Token), user.NormalizeEmail(claim.Email)
		if claim.Token == "" {
			var err error
			if userID, err = s.find(ctx, email); err != nil {
				return err
			}
		}
		a, err := s.read(ctx, userID)
		if err != nil {
			return err
		}
		token, err := s.Tokens.Match(ctx, a.resets, claim.Claim)
		if err != nil {
			return err
		}
		if !a.isKnown || token.Email != a.Email {
			return mailtoken.ErrInvalid
		}
		if problem := password.Check(newPassword, a.Email, a.Username); problem != "" {
			return fault.Invalid(fault.Field("password", problem))
		}
		return s.reset(ctx, a, hash, client)
	})
}

func (s *Service) reset(ctx context.Context, a account, hash string, client httpapi.RequestInfo) error {
	after := a.User
	after.Verified, after.PendingEmail = true, ""
	after.Generation++
	reported, err := s.Mails.Report(ctx, mail.PasswordReset, a.User, client, nil)
	if err != nil {
		return err
	}
	tx := s.DB.Tx(
		s.Users.Change(a.User, after),
		s.Users.Replace(a.Email, after.Credential(hash)),
		s.Tokens.End(a.resets),
		s.Mails.Outbox.ClearState(a.Email),
		s.Activity.Add(a.ID, activity.PasswordReset, client, activity.Detail{}),
	)
	tx.Add(s.Tokens.EndAll(a.ID, mail.Confirm, mail.Change)...)
	tx.Add(s.Limiter.Forgive(a.Email, client)...)
	tx.Add(reported...)
	if !a.Verified {
		removed, err := s.Identities.Removal(ctx, a.ID, time.Time{})
		if err != nil {
			return err
		}
		tx.Add(removed...)
	}
	return tx.CommitOnce(ctx)
}
