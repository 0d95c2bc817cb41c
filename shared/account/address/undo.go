package address

import (
	"context"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
)

// undoEmailChange gives an account back to the owner of a former address. It restores the address, and ends all later
// changes, all sessions and all other mail tokens. It removes the password, and the identities that were linked since
// the change. It sends a mail with which the owner chooses a new password. Errors: AUTH_RATE_LIMITED,
// AUTH_CODE_INVALID.
func (s *Service) undoEmailChange(ctx context.Context, in *undoInput) (*httpapi.DoneOutput, error) {
	claim, client := mailtoken.Claim{Token: in.Body.Token}, httpapi.RequestInfoFrom(ctx)
	userID, err := s.userOf(ctx, claim, client)
	if err != nil {
		return nil, err
	}
	err = db.Retry(ctx, "undo a change of an address", func(ctx context.Context) error {
		c, err := s.match(ctx, userID, mail.Undo, claim, mail.Reset)
		if err != nil {
			return err
		}
		after := c.User
		after.Email, after.Verified, after.PendingEmail = c.token.Email, true, ""
		after.Generation++
		writes, err := s.restore(ctx, c, after, client)
		if err != nil {
			return err
		}
		removed, err := s.Identities.Removal(ctx, c.ID, c.token.IssuedAt.Time())
		if err != nil {
			return err
		}
		tx := s.DB.Tx(append(writes, s.Users.Change(c.User, after))...)
		tx.Add(s.Tokens.EndAll(c.ID, mail.Confirm, mail.Change)...)
		tx.Add(removed...)
		tx.Add(s.Activity.Add(c.ID, activity.EmailRestored, client, activity.Detail{Email: after.Email}))
		return tx.CommitOnce(ctx)
	})
	return httpapi.ReplyDone(
		"The address was restored, and all sessions have ended. A mail to the address lets you choose a new password.", err)
}

// restore returns the writes that make a former address the address of its account again, without a password, and that
// store a mail with which the owner chooses a new password. The links that undo earlier changes stay valid, and their
// addresses stay reserved. All other addresses of the account are released.
func (s *Service) restore(
	ctx context.Context, c matched, after user.User, client httpapi.RequestInfo,
) ([]db.Write, error) {
	earlier := c.set.Before(c.token)
	reserved := map[string]int64{} // the end of the reservation of each address, in seconds since 1970
	for _, token := range earlier.Tokens {
		reserved[token.Email] = token.ExpiresAt
	}
	credential := after.Credential("")
	writes := []db.Write{s.Users.Replace(after.Email, credential), s.Tokens.Put(earlier)}
	done := map[string]bool{after.Email: true}
	former := []string{c.Email}
	for _, token := range c.set.Tokens {
		former = append(former, token.Email)
	}
	for _, email := range former {
		switch until, isReserved := reserved[email]; {
		case done[email]:
		case isReserved:
			writes = append(writes, s.Users.Reserve(email, c.ID, until))
		default:
			writes = append(writes, s.Users.Release(email, c.ID))
		}
		done[email] = true
	}
	if !s.Mails.Outbox.Enabled() {
		return append(writes, s.Tokens.EndAll(c.ID, mail.Reset)...), nil
	}
	resets, err := s.set(c.state, mail.Reset)
	if err != nil {
		return nil, err
	}
	sent, err := s.Mails.Send(ctx, mailtoken.Link{Set: resets.Empty(), To: after.Email, User: after}, client)
	return append(writes, sent...), err
}
