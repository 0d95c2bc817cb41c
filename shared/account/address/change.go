package address

import (
	"context"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
	"devplatform/shared/mail"
)

// pendingChange is the stored data of a user, and of the owner of the address that the user wants.
type pendingChange struct {
	state
	email string
	owner *user.User    // another user who has or has reserved the address; nil if there is none
	set   mailtoken.Set // the tokens that change the address
	undos mailtoken.Set // the tokens that undo earlier changes
}

// readChange reads a user, and the owner of the address that the user wants. It makes the same calls if the address has
// no owner.
func (s *Service) readChange(ctx context.Context, userID, email string) (r pendingChange, err error) {
	r.email = email
	if r.state, err = s.read(ctx, userID, []mail.Kind{mail.Change, mail.Undo}, email); err != nil {
		return r, err
	}
	credential, err := db.Decode[user.Credential](r.items[s.Accounts.Ref(db.EmailKey(email))])
	if err == nil {
		r.set, err = s.set(r.state, mail.Change)
	}
	if err == nil {
		r.undos, err = s.set(r.state, mail.Undo)
	}
	if err != nil {
		return r, err
	}
	ownerID := credential.UserID
	if ownerID == "" || ownerID == userID {
		ownerID = mailtoken.UnknownUser(email)
	}
	owner, err := s.read(ctx, ownerID, nil)
	if ownerID == credential.UserID {
		r.owner = &owner.User
	}
	return r, err
}

// link returns the mail to the address that the user wants.
func (r pendingChange) link() mailtoken.Link {
	return mailtoken.Link{Set: r.set, To: r.email, User: r.User, Owner: r.owner, TryUndeliverable: true}
}

// requestEmailChange asks for another address of the caller's account. The new address gets a mail with a link, unless
// another account has it: then its owner gets another mail. The result and the work are the same in both cases. Errors:
// MAIL_NOT_CONFIGURED, AUTH_REAUTHENTICATION_REQUIRED, VALIDATION_FAILED, AUTH_RATE_LIMITED.
func (s *Service) requestEmailChange(
	ctx context.Context, caller httpapi.Caller, in *requestInput,
) (*httpapi.DoneOutput, error) {
	switch {
	case !s.Mails.Outbox.Enabled():
		return nil, mail.ErrNotConfigured
	case !caller.IsFresh(s.Clock()):
		return nil, httpapi.ErrNotFresh
	}
	email, client := user.NormalizeEmail(in.Body.Email), httpapi.RequestInfoFrom(ctx)
	err := db.Retry(ctx, "request a change of an address", func(ctx context.Context) error {
		r, err := s.readChange(ctx, caller.UserID, email)
		if err != nil {
			return err
		}
		if r.Email == email {
			return errSameAddress
		}
		if err := s.checkUndos(r.state, r.undos); err != nil {
			return err
		}
		after := r.User
		after.PendingEmail = email
		if r.PendingEmail != email {
			r.set = r.set.Empty() // its tokens are about another address
		}
		values := map[string]string{"email": email}
		reported, err := s.Mails.Report(ctx, mail.ChangeRequested, r.User, client, values)
		if err != nil {
			return err
		}
		entry := s.Activity.Add(r.ID, activity.EmailRequested, client, activity.Detail{Email: email})
		return s.send(ctx, r.link(), client, append(reported, s.Users.Change(r.User, after), entry)...)
	})
	return httpapi.ReplyDone("A mail to the new address is on its way. The address changes when it is confirmed.", err)
}

// checkUndos returns AUTH_RATE_LIMITED if a change of the address would need one link too many that undoes it.
func (s *Service) checkUndos(st state, undos mailtoken.Set) error {
	if !st.Verified || len(undos.Tokens) < mailtoken.MaxUndo {
		return nil
	}
	wait := time.Unix(undos.Tokens[0].ExpiresAt, 0).Sub(s.Clock())
	return attempt.TooMany(limit.Status{Limit: mailtoken.MaxUndo, Reset: wait})
}

// changeEmail changes the address of an account to its pending address. If the body has reject, it removes the pending
// address instead. Errors: AUTH_RATE_LIMITED, AUTH_CODE_INVALID; AUTH_INVALID_TOKEN for a code without a session;
// AUTH_USER_EXISTS if another account has taken the address.
func (s *Service) changeEmail(ctx context.Context, in *claimInput) (*httpapi.DoneOutput, error) {
	message, client := "Address changed.", httpapi.RequestInfoFrom(ctx)
	if in.Body.Reject {
		message = "The address was not changed."
	}
	userID, err := s.userOf(ctx, in.claim(), client)
	if err != nil {
		return nil, err
	}
	return httpapi.ReplyDone(message, db.Retry(ctx, "change an address", func(ctx context.Context) error {
		c, err := s.match(ctx, userID, mail.Change, in.claim(), mail.Undo)
		switch {
		case err != nil:
			return err
		case c.token.Email != c.PendingEmail:
			return mailtoken.ErrInvalid
		}
		after := c.User
		after.PendingEmail = ""
		if in.Body.Reject {
			return s.DB.Tx(s.Users.Change(c.User, after), s.Tokens.End(c.set)).CommitOnce(ctx)
		}
		after.Email, after.Verified = c.token.Email, true
		writes, err := s.move(ctx, c, after, client)
		if err != nil {
			return err
		}
		tx := s.DB.Tx(s.Users.Change(c.User, after), s.Tokens.End(c.set), s.Mails.Outbox.ClearState(after.Email))
		tx.Add(s.Tokens.EndAll(c.ID, mail.Confirm, mail.Reset)...)
		tx.Add(writes...)
		tx.Add(s.Limiter.Know(after.Email, c.ID, client))
		tx.Add(s.Activity.Add(c.ID, activity.EmailChanged, client, activity.Detail{Email: after.Email}))
		return tx.CommitOnce(ctx)
	}))
}

// move returns the writes that move an account from one address to another, with its password. If the old address was
// confirmed, it gets a mail with a link that undoes the change, and stays reserved until the link expires. Errors:
// AUTH_USER_EXISTS, AUTH_RATE_LIMITED, db.ErrStale.
func (s *Service) move(
	ctx context.Context, c matched, after user.User, client httpapi.RequestInfo,
) ([]db.Write, error) {
	stored, err := s.Accounts.BatchGet(ctx, db.EmailKey(after.Email), db.EmailKey(c.Email))
	if err != nil {
		return nil, err
	}
	target, err := db.Decode[user.Credential](stored[db.EmailKey(after.Email)])
	if err != nil {
		return nil, err
	}
	if target.UserID != "" && target.UserID != c.ID {
		return nil, errTaken
	}
	current, err := db.Decode[user.Credential](stored[db.EmailKey(c.Email)])
	if err != nil {
		return nil, err
	}
	credential := after.Credential(current.PasswordHash)
	take := s.Users.Take(after.Email, credential)
	if target.UserID != "" {
		take = s.Users.Replace(after.Email, credential)
	}
	writes := []db.Write{take}
	isUnchanged := user.SamePassword(current.PasswordHash) // otherwise, the new password would get lost
	switch {
	case c.Email == "":
		return writes, nil
	case !c.Verified || !s.Mails.Outbox.Enabled():
		return append(writes, s.Users.Release(c.Email, c.ID).If(isUnchanged)), nil
	}
	undos, err := s.set(c.state, mail.Undo)
	if err == nil {
		err = s.checkUndos(c.state, undos)
	}
	if err != nil {
		return nil, err
	}
	link := mailtoken.Link{Set: undos, To: c.Email, User: after, Values: map[string]string{"email": after.Email}}
	sent, err := s.Mails.Send(ctx, link, client)
	until := s.Clock().Add(mailtoken.Life(mail.Undo)).Unix()
	reserved := s.Users.Reserve(c.Email, c.ID, until).If(isUnchanged)
	return append(append(writes, reserved), sent...), err
}
