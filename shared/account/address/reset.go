package address

import (
	"context"
	"strings"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/password"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// find returns the ID of the user with an address, or the ID under which the items of an unknown address are stored.
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

// unknownName is the username in the mail for an unknown address. This mail is not sent. The name has an average
// length, so that the work is like the work for a known address.
var unknownName = strings.Repeat("u", user.MaxUsernameBytes/2)

// forgotPassword sends a mail with which the reader chooses a new password, if an account has the address. Errors:
// MAIL_NOT_CONFIGURED, AUTH_RATE_LIMITED.
func (s *Service) forgotPassword(ctx context.Context, in *forgotInput) (*httpapi.DoneOutput, error) {
	if !s.Mails.Outbox.Enabled() {
		return nil, mail.ErrNotConfigured
	}
	email, client := user.NormalizeEmail(in.Body.Email), httpapi.RequestInfoFrom(ctx)
	err := db.Retry(ctx, "send a reset of a password", func(ctx context.Context) error {
		userID, err := s.find(ctx, email)
		if err != nil {
			return err
		}
		st, err := s.read(ctx, userID, []mail.Kind{mail.Reset})
		if err != nil {
			return err
		}
		set, err := s.set(st, mail.Reset)
		if err != nil {
			return err
		}
		link := mailtoken.Link{Set: set, To: email, User: st.User}
		if st.Email != email { // unknown, or changed since the address was read
			link.User, link.Discard = user.User{ID: userID, Username: unknownName}, true
		}
		return s.send(ctx, link, client)
	})
	return httpapi.ReplyDone("If an account has this address, a mail is on its way.", err)
}

// resetPassword sets the password of an account, and confirms its address. All sessions, mail tokens and changes in
// progress end, except for the links that undo a change of the address. If the address had never been confirmed,
// another person may have created the account: then its identities are removed. Errors: AUTH_RATE_LIMITED,
// AUTH_CODE_INVALID, VALIDATION_FAILED.
func (s *Service) resetPassword(ctx context.Context, in *resetInput) (*httpapi.DoneOutput, error) {
	client, body := httpapi.RequestInfoFrom(ctx), in.Body
	if err := s.Limiter.CountCode(ctx, client); err != nil {
		return nil, err
	}
	hash, err := s.Hasher.Hash(ctx, body.Password) // before the claim is checked, so that the work is always the same
	if err != nil {
		return nil, err
	}
	err = db.Retry(ctx, "reset a password", func(ctx context.Context) error {
		userID := mailtoken.UserOf(body.Token)
		if body.Token == "" {
			var err error
			if userID, err = s.find(ctx, user.NormalizeEmail(body.Email)); err != nil {
				return err
			}
		}
		c, err := s.match(ctx, userID, mail.Reset, mailtoken.Claim{Token: body.Token, Code: body.Code})
		if err != nil {
			return err
		}
		if c.token.Email != c.Email {
			return mailtoken.ErrInvalid
		}
		if problem := password.Check(body.Password, c.Email, c.Username); problem != "" {
			return fault.Invalid(fault.Field("password", problem))
		}
		return s.reset(ctx, c, hash, client)
	})
	return httpapi.ReplyDone("Password changed, and all sessions have ended. You can log in now.", err)
}

// reset stores the hash of the new password, and ends what resetPassword names. Error: db.ErrStale.
func (s *Service) reset(ctx context.Context, c matched, hash string, client httpapi.RequestInfo) error {
	after := c.User
	after.Verified, after.PendingEmail = true, ""
	after.Generation++
	reported, err := s.Mails.Report(ctx, mail.PasswordReset, c.User, client, nil)
	if err != nil {
		return err
	}
	tx := s.DB.Tx(
		s.Users.Change(c.User, after),
		s.Users.Replace(c.Email, after.Credential(hash)),
		s.Tokens.End(c.set),
		s.Mails.Outbox.ClearState(c.Email),
		s.Activity.Add(c.ID, activity.PasswordReset, client, activity.Detail{}),
	)
	tx.Add(s.Tokens.EndAll(c.ID, mail.Confirm, mail.Change)...)
	tx.Add(s.Limiter.Forgive(c.Email, client)...)
	tx.Add(reported...)
	if !c.Verified {
		removed, err := s.Identities.Removal(ctx, c.ID, time.Time{})
		if err != nil {
			return err
		}
		tx.Add(removed...)
	}
	return tx.CommitOnce(ctx)
}
