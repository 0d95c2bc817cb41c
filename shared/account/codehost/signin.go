package codehost

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

// maxUsableEmails is the maximum number of e-mail addresses of an identity that a sign-in looks up.
const maxUsableEmails = 20

// link links an identity to the user who started the link. The browser must still have the session that started it, and
// the password must not have been changed since. If another request changes the session, the password or the identity
// at the same time, link tries again. A new session replaces the current one. Errors: AUTH_INVALID_TOKEN,
// AUTH_OAUTH_STATE_INVALID, CONFLICT.
func (s *Service) link(
	ctx context.Context, f flow, remote oauth.Identity, client httpapi.RequestInfo,
) (started session.Started, err error) {
	err = db.Retry(ctx, "link an identity", func(ctx context.Context) error {
		caller, err := s.Sessions.AuthenticateNow(ctx, httpapi.SessionToken(ctx))
		if err != nil {
			return err
		}
		account := caller.Account()
		if caller.SessionID != f.SessionID || account.Generation != f.Generation {
			return errBadState.WithCause(errors.New("the link belongs to another session, or the password was changed"))
		}
		u := user.User{
			ID: caller.UserID, Email: account.Email, Username: account.Username, Generation: account.Generation,
		}
		var writes []db.Write
		if started, writes, err = s.newSession(ctx, u, client); err != nil {
			return err
		}
		writes = append(writes, s.Sessions.Replace(started.Session, caller.SessionID), s.Users.Touch(u.ID, u.Generation))
		linked, err := s.linkWrites(ctx, u, remote, client)
		if err != nil {
			return err
		}
		err = s.DB.Tx(slices.Concat(linked, writes)...).Commit(ctx)
		if !errors.Is(err, user.ErrTaken) {
			return err
		}
		// The identity is already linked. If it is linked to the same user, only the session is replaced.
		owner, err := s.owner(ctx, remote)
		switch {
		case errors.Is(err, db.ErrNotFound):
			return fmt.Errorf("%w: the identity was removed", db.ErrStale)
		case err != nil:
			return err
		case owner.ID != u.ID:
			return errLinked
		}
		return s.DB.Tx(append(writes, s.checkLink(remote, u.ID))...).Commit(ctx)
	})
	return started, err
}

// signIn signs in to the account to which an identity is linked. If there is none, it links the identity to an account
// with the same e-mail address, if the account has no password, and the address is verified both for the account and at
// the code host. Otherwise, it creates an account. If another request changes the account or the identity at the same
// time, signIn tries again, so that two sign-ins never create two accounts for one identity. Errors: AUTH_OAUTH_FAILED,
// AUTH_USER_EXISTS, AUTH_SUSPENDED, CONFLICT.
func (s *Service) signIn(
	ctx context.Context, remote oauth.Identity, client httpapi.RequestInfo,
) (started session.Started, err error) {
	err = db.Retry(ctx, "sign in with the code host", func(ctx context.Context) error {
		u, conditions, err := s.account(ctx, remote, client)
		if err == nil && u.SuspendedAt != nil {
			err = httpapi.ErrSuspended
		}
		if err != nil {
			return err
		}
		var writes []db.Write
		if started, writes, err = s.newSession(ctx, u, client); err != nil {
			return err
		}
		mails, err := s.newNetwork(ctx, u, client)
		if err != nil {
			return err
		}
		err = s.DB.Tx(slices.Concat(conditions, writes, mails)...).Commit(ctx)
		if errors.Is(err, user.ErrTaken) {
			return fmt.Errorf("%w: %w", db.ErrStale, err)
		}
		return err
	})
	return started, err
}

// newNetwork returns the writes that store a mail if the network of the client is not known to the account.
func (s *Service) newNetwork(ctx context.Context, u user.User, client httpapi.RequestInfo) ([]db.Write, error) {
	if u.Email == "" || !s.Mails.Outbox.Enabled() {
		return nil, nil
	}
	emailKey, networkKey := db.EmailKey(u.Email), attempt.NetworkKey(u.Email, client)
	items, err := s.Accounts.BatchGet(ctx, emailKey, networkKey)
	if err != nil {
		return nil, err
	}
	network, err := db.Decode[attempt.Network](items[networkKey])
	if err != nil || network.IsKnownTo(u.ID) {
		return nil, err
	}
	credential, err := db.Decode[user.Credential](items[emailKey])
	if err != nil || credential.UserID != u.ID { // the account is new, or its address was changed
		return nil, err
	}
	return s.Mails.NewNetwork(ctx, u.Email, credential, client, s.Clock())
}

// account returns the user of an identity, and the writes that the sign-in needs: the check that the identity is still
// linked, the link to a verified account, or the new account.
func (s *Service) account(
	ctx context.Context, remote oauth.Identity, client httpapi.RequestInfo,
) (user.User, []db.Write, error) {
	u, err := s.owner(ctx, remote)
	if !errors.Is(err, db.ErrNotFound) {
		return u, []db.Write{s.checkLink(remote, u.ID)}, err
	}
	emails, usernames := usableEmails(remote), user.UsernameCandidates(remote.Login)
	if len(emails) == 0 {
		return user.User{}, nil, errNoEmail
	}
	owners, taken, err := s.Users.Owners(ctx, emails, usernames)
	if err != nil {
		return user.User{}, nil, err
	}
	for _, email := range emails {
		owner, exists := owners[email]
		if !exists || owner.PasswordHash != "" {
			continue
		}
		u, err := s.Users.Read(ctx, owner.UserID)
		if errors.Is(err, db.ErrNotFound) {
			err = fmt.Errorf("%w: the address belongs to a user who does not exist", db.ErrStale)
		}
		if err != nil {
			return u, nil, err
		}
		if u.Verified && u.Email == email {
			linked, err := s.linkWrites(ctx, u, remote, client)
			return u, append(linked, s.Users.Change(u, u)), err // fails if the account changed since it was read
		}
	}
	if _, exists := owners[emails[0]]; exists {
		return user.User{}, nil, errUnverified
	}
	free := slices.DeleteFunc(slices.Clone(usernames), func(name string) bool { return taken[name] })
	if len(free) == 0 {
		return user.User{}, nil, fmt.Errorf("%w: all candidates for the username are taken", db.ErrStale)
	}
	u = user.User{
		ID: s.IDs.New(id.User), Email: emails[0], Username: free[0], Verified: true, CreatedAt: clock.Stamp(s.Clock()),
	}
	account := s.Users.Create(u, u.Credential(""), s.IDs.New(id.Workspace))
	return u, append(account, s.linkRecords(s.identity(u, remote))...), nil
}

// newSession returns a new session of a user, and the writes that store it and make the client's network known.
func (s *Service) newSession(
	ctx context.Context, u user.User, client httpapi.RequestInfo,
) (session.Started, []db.Write, error) {
	started, writes, err := s.Sessions.Start(ctx, s.IDs.New(id.Session), u, client)
	if u.Email != "" {
		writes = append(writes, s.Limiter.Know(u.Email, u.ID, client))
	}
	return started, writes, err
}

// usableEmails returns the verified e-mail addresses of an identity, the primary one first. It leaves out addresses
// that an account cannot have.
func usableEmails(remote oauth.Identity) []string {
	var emails []string
	for _, address := range remote.VerifiedEmails() {
		if user.CheckEmail(address) == "" && len(emails) < maxUsableEmails {
			emails = append(emails, user.NormalizeEmail(address))
		}
	}
	return emails
}

// linkWrites returns the writes that link an identity to an account and report the link to the user. Error of the
// writes: user.ErrTaken if the identity is already linked.
func (s *Service) linkWrites(
	ctx context.Context, u user.User, remote oauth.Identity, client httpapi.RequestInfo,
) ([]db.Write, error) {
	linked := s.identity(u, remote)
	reported, err := s.report(ctx, mail.IdentityLinked, activity.IdentityLinked, u, linked, client)
	return append(s.linkRecords(linked), reported...), err
}
