// Package identity contains the users of code hosts who can sign in to an account: which account an identity belongs
// to, how it is linked, and how it is removed. It must not talk to code hosts.
package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/notice"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/password"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

const (
	// maxUsernameBytes is the maximum length of a stored username of a code host. Longer usernames are cut.
	maxUsernameBytes = 128
	// maxUsableEmails is the maximum number of e-mail addresses of an identity that a sign-in looks up.
	maxUsableEmails = 20
)

// Identity is a user of a code host who can sign in to an account. It is stored twice: under the user of the code host,
// and under the user of this service. The attribute names are part of the data format.
type Identity struct {
	ID       string          `json:"id" dynamodbav:"id" doc:"The ID of the identity" example:"idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	UserID   string          `json:"-" dynamodbav:"userId"`
	Provider string          `json:"provider" dynamodbav:"provider" doc:"The code host: github, gitlab or bitbucket for the public services, otherwise the kind and the location of the installation" example:"github"`
	Subject  string          `json:"-" dynamodbav:"subject"` // the code host's ID of its user
	Username string          `json:"username" dynamodbav:"login,omitempty" doc:"The username at the code host when the identity was linked; can be empty" example:"ada"`
	LinkedAt clock.Timestamp `json:"linkedAt" dynamodbav:"linkedAt" doc:"When the identity was linked" example:"2026-01-31T08:15:30.123Z"`
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB        *db.Client
	Accounts  db.Table
	Users     user.Store
	Sessions  *session.Service
	Passwords *password.Service
	Limiter   *attempt.Limiter
	Mails     notice.Mails
	Activity  *activity.Log
	Cursors   *db.Cursors
	IDs       *id.Generator
	Clock     clock.Clock
}

// Service signs in with identities, and links, lists and removes them. It is safe for concurrent use.
type Service struct {
	Deps
	store store
}

// New returns a Service. It does no I/O.
func New(d Deps) *Service {
	return &Service{Deps: d, store: store{client: d.DB, accounts: d.Accounts, users: d.Users}}
}

// ListIdentities returns a page of the identities that are linked to the caller's account, in the order in which they
// were linked, and the cursor of the next page. Error: VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListIdentities(
	ctx context.Context, caller httpapi.Caller, page httpapi.PageInput,
) ([]Identity, string, error) {
	scope := httpapi.ListScope(caller, "identities")
	after, err := s.Cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	identities, err := s.store.list(ctx, caller.UserID)
	if err != nil {
		return nil, "", err
	}
	identities = slices.DeleteFunc(identities, func(i Identity) bool { return i.ID <= after })
	return httpapi.CutPage(ctx, s.Cursors, scope, identities, page.Limit, func(i Identity) string { return i.ID })
}

// UnlinkIdentity removes an identity from the caller's account. If another request changes the identities at the same
// time, it tries again. Errors: the errors of password.Service.Confirm; IDENTITY_NOT_FOUND; CONFLICT if the account has
// no password and no other identity.
func (s *Service) UnlinkIdentity(
	ctx context.Context, caller httpapi.Caller, identityID, password string, client httpapi.RequestInfo,
) error {
	if err := s.Passwords.Confirm(ctx, caller, password, client); err != nil {
		return err
	}
	return db.Retry(ctx, "remove an identity", func(ctx context.Context) error {
		identities, err := s.store.list(ctx, caller.UserID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(identities, func(i Identity) bool { return i.ID == identityID })
		if i < 0 {
			return errNotFound
		}
		credential, err := s.Users.Credential(ctx, caller.Account().Email)
		if err != nil && !errors.Is(err, db.ErrNotFound) { // an account without an address has no password
			return err
		}
		identity := identities[i]
		writes := s.store.removal(identity)
		if others := slices.Delete(identities, i, i+1); credential.PasswordHash == "" {
			if len(others) == 0 {
				return errLastIdentity
			}
			writes = append(writes, s.store.checkExists(others[0]))
		}
		u := user.User{ID: caller.UserID, Email: caller.Account().Email, Username: caller.Account().Username}
		reported, err := s.report(ctx, mail.IdentityRemoved, activity.IdentityRemoved, u, identity, client)
		if err != nil {
			return err
		}
		return s.store.commit(ctx, writes, reported)
	})
}

// report returns the writes that report a linked or removed identity to the user: an entry in the activity log and a
// mail.
func (s *Service) report(
	ctx context.Context, kind mail.Kind, entry activity.Type, u user.User, i Identity, client httpapi.RequestInfo,
) ([]db.Write, error) {
	values := map[string]string{"provider": i.Provider, "name": i.Username}
	reported, err := s.Mails.Report(ctx, kind, u, client, values)
	detail := activity.Detail{Provider: i.Provider, Username: i.Username}
	return append(reported, s.Activity.Add(u.ID, entry, client, detail)), err
}

// maxRemoval is the maximum number of identities that Removal removes in the transaction of the caller.
const maxRemoval = 30

// Removal returns the writes that remove the identities that were linked to a user at a time or later. The transaction
// must also contain user.Store.Change for a user who was read before, so that it fails if an identity was linked in the
// meantime. If there are more identities than fit, Removal removes the rest itself. Error of the writes: db.ErrStale.
func (s *Service) Removal(ctx context.Context, userID string, since time.Time) ([]db.Write, error) {
	identities, err := s.store.list(ctx, userID)
	if err != nil {
		return nil, err
	}
	identities = slices.DeleteFunc(identities, func(i Identity) bool { return i.LinkedAt.Time().Before(since) })
	var writes []db.Write
	for n, i := range identities {
		if n > 0 && n%maxRemoval == 0 {
			if err := s.store.commit(ctx, writes); err != nil {
				return nil, err
			}
			writes = nil
		}
		writes = append(writes, s.store.removal(i)...)
	}
	return writes, nil
}

// Pending is a link that a session has started: only that session may finish it, before the password changes.
type Pending struct {
	UserID     string `dynamodbav:"linkTo,omitempty"` // empty for a sign-in
	SessionID  string `dynamodbav:"session,omitempty"`
	Generation int    `dynamodbav:"generation,omitempty"` // of the session
}

// Link links an identity to the user who started the link. The browser must still have the session that started it, and
// the password must not have been changed since. If another request changes the session, the password or the identity
// at the same time, Link tries again. A new session replaces the current one. Errors: AUTH_INVALID_TOKEN, CONFLICT;
// ErrOtherSession.
func (s *Service) Link(
	ctx context.Context, token string, pending Pending, at oauth.Identity, client httpapi.RequestInfo,
) (started session.Started, err error) {
	err = db.Retry(ctx, "link an identity", func(ctx context.Context) error {
		caller, err := s.Sessions.AuthenticateNow(ctx, token)
		if err != nil {
			return err
		}
		if caller.SessionID != pending.SessionID || caller.Account().Generation != pending.Generation {
			return ErrOtherSession
		}
		account := caller.Account()
		u := user.User{
			ID: caller.UserID, Email: account.Email, Username: account.Username, Generation: account.Generation,
		}
		var writes []db.Write
		if started, writes, err = s.start(ctx, u, client); err != nil {
			return err
		}
		writes = append(writes, s.Sessions.Replace(started.Session, caller.SessionID), s.Users.Touch(u.ID, u.Generation))
		linked := s.identity(u, at)
		reported, err := s.report(ctx, mail.IdentityLinked, activity.IdentityLinked, u, linked, client)
		if err != nil {
			return err
		}
		err = s.store.commit(ctx, s.store.link(linked), reported, writes)
		if !errors.Is(err, user.ErrTaken) {
			return err
		}
		owner, err := s.store.owner(ctx, at)
		if errors.Is(err, db.ErrNotFound) {
			return fmt.Errorf("%w: the identity was removed", db.ErrStale)
		}
		if err != nil {
			return err
		}
		if owner.ID != u.ID {
			return ErrLinked
		}
		return s.store.commit(ctx, writes, []db.Write{s.store.checkLink(at, u.ID)})
	})
	return started, err
}

// SignIn signs in to the account that is linked to an identity. If there is none, it links the identity to an account
// with the same e-mail address, if the account has no password, and the address is verified both for the account and at
// the code host. Otherwise, it creates an account. If another request changes the account or the identity at the same
// time, it tries again, so that two sign-ins never create two accounts for one identity. Errors: AUTH_OAUTH_FAILED,
// AUTH_USER_EXISTS, AUTH_SUSPENDED, CONFLICT.
func (s *Service) SignIn(
	ctx context.Context, at oauth.Identity, client httpapi.RequestInfo,
) (started session.Started, err error) {
	err = db.Retry(ctx, "sign in with the code host", func(ctx context.Context) error {
		u, conditions, err := s.account(ctx, at, client)
		if err == nil && u.SuspendedAt != nil {
			err = httpapi.ErrSuspended
		}
		if err != nil {
			return err
		}
		var writes []db.Write
		if started, writes, err = s.start(ctx, u, client); err != nil {
			return err
		}
		mails, err := s.newNetwork(ctx, u, client)
		if err != nil {
			return err
		}
		err = s.store.commit(ctx, conditions, writes, mails)
		if errors.Is(err, user.ErrTaken) {
			return fmt.Errorf("%w: %w", db.ErrStale, err)
		}
		return err
	})
	return started, err
}

// newNetwork returns the writes that store a mail if the user has never logged in from the client's network.
func (s *Service) newNetwork(ctx context.Context, u user.User, client httpapi.RequestInfo) ([]db.Write, error) {
	if u.Email == "" || !s.Mails.Outbox.Enabled() {
		return nil, nil
	}
	items, err := s.Accounts.BatchGet(ctx, db.EmailKey(u.Email), attempt.KnownKey(u.Email, client))
	if err != nil {
		return nil, err
	}
	isKnown, err := attempt.IsKnown(u.ID, items[attempt.KnownKey(u.Email, client)])
	if err != nil || isKnown {
		return nil, err
	}
	credential, err := db.Decode[user.Credential](items[db.EmailKey(u.Email)])
	if err != nil || credential.UserID != u.ID { // a new account
		return nil, err
	}
	return s.Mails.NewNetwork(ctx, u.Email, credential, client, s.Clock())
}

// account returns the user that an identity signs in, and the writes that make the sign-in valid: the check that the
// identity is still linked, the link to a verified account, or the new account.
func (s *Service) account(
	ctx context.Context, at oauth.Identity, client httpapi.RequestInfo,
) (user.User, []db.Write, error) {
	u, err := s.store.owner(ctx, at)
	if !errors.Is(err, db.ErrNotFound) {
		return u, []db.Write{s.store.checkLink(at, u.ID)}, err
	}
	emails, usernames := usableEmails(at), user.UsernameCandidates(at.Login)
	if len(emails) == 0 {
		return user.User{}, nil, ErrNoEmail
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
			linked := s.identity(u, at)
			reported, err := s.report(ctx, mail.IdentityLinked, activity.IdentityLinked, u, linked, client)
			writes := append(s.store.link(linked), s.Users.Change(u, u))
			return u, append(writes, reported...), err
		}
	}
	if _, exists := owners[emails[0]]; exists {
		return user.User{}, nil, ErrUnverified
	}
	free := slices.DeleteFunc(slices.Clone(usernames), func(name string) bool { return taken[name] })
	if len(free) == 0 {
		return user.User{}, nil, fmt.Errorf("%w: all candidates for the username are taken", db.ErrStale)
	}
	u = user.User{
		ID: s.IDs.New(id.User), Email: emails[0], Username: free[0], Verified: true, CreatedAt: clock.Stamp(s.Clock()),
	}
	account := s.Users.Create(u, u.Credential(""), s.IDs.New(id.Workspace))
	return u, append(account, s.store.link(s.identity(u, at))...), nil
}

// start returns a new session of a user, and the writes that store it.
func (s *Service) start(
	ctx context.Context, u user.User, client httpapi.RequestInfo,
) (session.Started, []db.Write, error) {
	started, err := s.Sessions.New(ctx, s.IDs.New(id.Session), u, client)
	writes := []db.Write{
		s.Sessions.Create(started.Session),
		s.Activity.Add(u.ID, activity.Login, client, activity.Detail{SessionID: started.ID}),
	}
	if u.Email != "" {
		writes = append(writes, s.Limiter.Know(u.Email, u.ID, client))
	}
	return started, writes, err
}

// identity returns the identity that links a user of a code host to a user.
func (s *Service) identity(u user.User, at oauth.Identity) Identity {
	return Identity{
		ID: s.IDs.New(id.Identity), UserID: u.ID, Provider: at.Provider, Subject: at.Subject,
		Username: user.Printable(at.Login, maxUsernameBytes), LinkedAt: clock.Stamp(s.Clock()),
	}
}

// usableEmails returns the verified e-mail addresses of an identity, the primary one first. It leaves out addresses
// that an account cannot have.
func usableEmails(at oauth.Identity) []string {
	var emails []string
	for _, address := range at.VerifiedEmails() {
		if user.CheckEmail(address) == "" && len(emails) < maxUsableEmails {
			emails = append(emails, user.NormalizeEmail(address))
		}
	}
	return emails
}
