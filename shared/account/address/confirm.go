package address

import (
	"context"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// confirmEmail confirms the address of an account. If the body has reject, confirmEmail removes the address from the
// account instead, because the reader of the mail did not create the account. A repeated confirmation succeeds.
// Errors: AUTH_RATE_LIMITED, AUTH_CODE_INVALID; AUTH_INVALID_TOKEN for a code without a session.
func (s *Service) confirmEmail(ctx context.Context, in *claimInput) (*httpapi.DoneOutput, error) {
	message, client := "Address confirmed.", httpapi.RequestInfoFrom(ctx)
	if in.Body.Reject {
		message = "The account can no longer use this address."
	}
	userID, err := s.userOf(ctx, in.claim(), client)
	if err != nil {
		return nil, err
	}
	return httpapi.ReplyDone(message, db.Retry(ctx, "confirm an address", func(ctx context.Context) error {
		c, err := s.match(ctx, userID, mail.Confirm, in.claim())
		switch {
		case err != nil:
			return err
		case c.token.Email != c.Email:
			return mailtoken.ErrInvalid
		case c.token.Used && !in.Body.Reject:
			return nil
		case c.Verified:
			return mailtoken.ErrInvalid
		case in.Body.Reject:
			return s.reject(ctx, c, client)
		}
		after := c.User
		after.Verified = true
		return s.DB.Tx(
			s.Users.Change(c.User, after), s.Tokens.Use(c.set, c.token), s.Mails.Outbox.ClearState(c.Email),
			s.Activity.Add(c.ID, activity.EmailConfirmed, client, activity.Detail{}),
		).CommitOnce(ctx)
	}))
}

// reject removes the address from an account that a person without access to the address created. It also removes the
// password, which is stored with the address, and ends the sessions and the mail tokens of the account. Error:
// db.ErrStale.
func (s *Service) reject(ctx context.Context, c matched, client httpapi.RequestInfo) error {
	after := c.User
	after.Email, after.PendingEmail = "", ""
	after.Generation++
	tx := s.DB.Tx(s.Users.Change(c.User, after), s.Users.Release(c.Email, c.ID), s.Tokens.End(c.set))
	tx.Add(s.Tokens.EndAll(c.ID, mail.Reset, mail.Change)...)
	tx.Add(s.Activity.Add(c.ID, activity.EmailRejected, client, activity.Detail{}))
	return tx.CommitOnce(ctx)
}

// resendEmail sends a mail to the address that the caller must confirm: the address of a pending change, or the
// unconfirmed address of the account. Without such an address, it does nothing. Errors: MAIL_NOT_CONFIGURED,
// AUTH_RATE_LIMITED.
func (s *Service) resendEmail(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*httpapi.DoneOutput, error) {
	if !s.Mails.Outbox.Enabled() {
		return nil, mail.ErrNotConfigured
	}
	const message = "If the address is not confirmed yet, a mail is on its way."
	pending := caller.Account().PendingEmail
	if pending == "" && (caller.Account().EmailVerified || caller.Account().Email == "") {
		return httpapi.ReplyDone(message, nil)
	}
	client := httpapi.RequestInfoFrom(ctx)
	return httpapi.ReplyDone(message, db.Retry(ctx, "send a confirmation", func(ctx context.Context) error {
		if pending != "" {
			r, err := s.readChange(ctx, caller.UserID, pending)
			if err != nil || r.PendingEmail != pending {
				return err
			}
			return s.send(ctx, r.link(), client)
		}
		st, err := s.read(ctx, caller.UserID, []mail.Kind{mail.Confirm})
		if err != nil || st.Verified || st.Email == "" {
			return err
		}
		set, err := s.set(st, mail.Confirm)
		if err != nil {
			return err
		}
		return s.send(ctx, mailtoken.Link{Set: set, To: st.Email, User: st.User, TryUndeliverable: true}, client)
	}))
}
