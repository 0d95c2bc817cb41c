package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

const (
	// maxLoginNameBytes bounds the username at the code host.
	maxLoginNameBytes = 128
	// maxUsableEmails bounds the number of e-mail addresses that are looked up.
	maxUsableEmails = 20
)

var (
	errNoEmail = fault.New(fault.CodeOAuthFailed,
		"The code host did not report a verified e-mail address. Please verify an address there, and start again.")
	errUnverified = fault.New(fault.CodeUserExists,
		"An account with this e-mail address exists. Please log in with its password, and then link the code host.")
	errLinked = fault.New(fault.CodeConflict,
		"Another account is linked to this user of the code host. Sign in with the code host to use that account.")
	errNoIdentity = fault.New(fault.CodeIdentityNotFound,
		"The identity does not exist. List your identities to see the linked ones.")
	errLastIdentity = fault.New(fault.CodeConflict,
		"This identity is the only way to sign in to the account. Link another one before you remove it.")
)

// ListIdentities returns a page of the identities that are linked to the caller's account, in the order in which they
// were linked, and the cursor of the next page. Error: VALIDATION_FAILED if the cursor is not from this list.
func (s *Service) ListIdentities(
	ctx context.Context, caller httpapi.Caller, page httpapi.PageInput,
) ([]Identity, string, error) {
	scope := httpapi.ListScope(caller, "identities")
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	records, err := s.store.identities(ctx, caller.UserID)
	if err != nil {
		return nil, "", err
	}
	identities := make([]Identity, 0, len(records))
	for _, r := range records {
		if r.ID > after {
			identities = append(identities, Identity{ID: r.ID, Provider: r.Provider, Username: r.Login, LinkedAt: r.LinkedAt})
		}
	}
	return httpapi.CutPage(ctx, s.cursors, scope, identities, page.Limit, func(i Identity) string { return i.ID })
}

// UnlinkIdentity removes an identity from the caller's account. If another request changes the identities at the same
// time, it tries again. Errors: the errors of reauthenticate; IDENTITY_NOT_FOUND; CONFLICT if the account has no
// password and no other identity.
func (s *Service) UnlinkIdentity(
	ctx context.Context, caller httpapi.Caller, identityID, password string, client Client,
) error {
	if err := s.reauthenticate(ctx, caller, password, client); err != nil {
		return err
	}
	return db.Retry(ctx, "remove an identity", func(ctx context.Context) error {
		return s.tryUnlink(ctx, caller, identityID)
	})
}

func (s *Service) tryUnlink(ctx context.Context, caller httpapi.Caller, identityID string) error {
	identities, err := s.store.identities(ctx, caller.UserID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(identities, func(r identityRecord) bool { return r.ID == identityID })
	if i < 0 {
		return errNoIdentity
	}
	credential, err := s.store.credential(ctx, caller.Account().Email)
	if err != nil {
		return err
	}
	identity := identities[i]
	others := slices.Delete(identities, i, i+1)
	var other *identityRecord // must remain linked
	if credential.PasswordHash == "" {
		if len(others) == 0 {
			return errLastIdentity
		}
		other = &others[0]
	}
	return s.store.unlinkIdentity(ctx, identity, other)
}

// linkIdentity links an identity to the user who started the link. The browser must still have the session that started
// it, and the password must not have been changed since. If another request changes the session, the password or the
// identity at the same time, linkIdentity tries again. Errors: AUTH_INVALID_TOKEN, AUTH_OAUTH_STATE_INVALID, CONFLICT.
func (s *Service) linkIdentity(
	ctx context.Context, c CodeHostCallback, state stateRecord, identity oauth.Identity,
) (in SignedIn, err error) {
	err = db.Retry(ctx, "link an identity", func(ctx context.Context) (err error) {
		in, err = s.tryLink(ctx, c, state, identity)
		return err
	})
	return in, err
}

func (s *Service) tryLink(
	ctx context.Context, c CodeHostCallback, state stateRecord, identity oauth.Identity,
) (SignedIn, error) {
	caller, err := s.sessions.authenticate(ctx, c.Session)
	if err != nil {
		return SignedIn{}, err
	}
	if caller.SessionID != state.Session || caller.Account().Generation != state.Generation {
		return SignedIn{}, errBadState
	}
	user := User{ID: caller.UserID, Email: caller.Account().Email, Generation: caller.Account().Generation}
	l, err := s.newLink(ctx, user, identity, c.Client)
	if err != nil {
		return SignedIn{}, err
	}
	l.replaces = caller.SessionID
	err = s.store.linkIdentity(ctx, l)
	if !errors.Is(err, errTaken) {
		return l.signedIn(), err
	}
	owner, err := s.store.userOfIdentity(ctx, identity.Provider, identity.Subject)
	if errors.Is(err, db.ErrNotFound) {
		return SignedIn{}, fmt.Errorf("%w: the identity was removed", db.ErrStale)
	}
	if err != nil {
		return SignedIn{}, err
	}
	if owner.ID != user.ID {
		return SignedIn{}, errLinked
	}
	l.signIn.identity = db.IdentityKey(identity.Provider, identity.Subject) // it is already linked to the user
	return l.signedIn(), s.store.startSession(ctx, l.signIn)
}

// signInIdentity signs in the user of an identity, or creates an account for it. If another request changes the account
// or the identity at the same time, it tries again, so that two sign-ins never create two accounts for one identity.
// Errors: AUTH_OAUTH_FAILED, AUTH_USER_EXISTS, CONFLICT.
func (s *Service) signInIdentity(ctx context.Context, identity oauth.Identity, client Client) (in SignedIn, err error) {
	err = db.Retry(ctx, "sign in with the code host", func(ctx context.Context) (err error) {
		in, err = s.trySignIn(ctx, identity, client)
		if errors.Is(err, errTaken) {
			return fmt.Errorf("%w: %w", db.ErrStale, err)
		}
		return err
	})
	return in, err
}

// trySignIn signs in to the account that is linked to an identity. If there is none, it links the identity to an
// account with the same e-mail address, if the address is verified both for the account and at the code host.
// Otherwise, it creates an account.
func (s *Service) trySignIn(ctx context.Context, identity oauth.Identity, client Client) (SignedIn, error) {
	user, err := s.store.userOfIdentity(ctx, identity.Provider, identity.Subject)
	if err == nil {
		in, err := s.newSignIn(ctx, user, client)
		if err != nil {
			return SignedIn{}, err
		}
		in.knownIP = client.network()
		in.identity = db.IdentityKey(identity.Provider, identity.Subject)
		return in.signedIn(), s.store.startSession(ctx, in)
	}
	if !errors.Is(err, db.ErrNotFound) {
		return SignedIn{}, err
	}
	emails, usernames := usableEmails(identity), usernameCandidates(identity.Login)
	if len(emails) == 0 {
		return SignedIn{}, errNoEmail
	}
	owners, taken, err := s.store.emailOwners(ctx, emails, usernames)
	if err != nil {
		return SignedIn{}, err
	}
	for _, email := range emails {
		if owner := owners[email]; owner.Verified {
			return s.linkVerified(ctx, owner.UserID, identity, client)
		}
	}
	if _, exists := owners[emails[0]]; exists {
		return SignedIn{}, errUnverified
	}
	user = User{
		ID: s.ids.New(id.User), Email: emails[0], Username: firstFree(usernames, taken), CreatedAt: s.now(),
	}
	return s.createLinked(ctx, user, identity, client)
}

// linkVerified links an identity to an account with a verified e-mail address, and signs in.
func (s *Service) linkVerified(
	ctx context.Context, userID string, identity oauth.Identity, client Client,
) (SignedIn, error) {
	user, err := s.store.user(ctx, userID)
	if err != nil {
		return SignedIn{}, err
	}
	l, err := s.newLink(ctx, user, identity, client)
	if err != nil {
		return SignedIn{}, err
	}
	l.onlyVerified = true
	return l.signedIn(), s.store.linkIdentity(ctx, l)
}

// createLinked creates an account for an identity, and signs in.
func (s *Service) createLinked(
	ctx context.Context, user User, identity oauth.Identity, client Client,
) (SignedIn, error) {
	l, err := s.newLink(ctx, user, identity, client)
	if err != nil {
		return SignedIn{}, err
	}
	return l.signedIn(), s.store.createAccount(ctx, newAccount{
		user:        user,
		credential:  Credential{UserID: user.ID, Verified: true},
		workspaceID: s.ids.New(id.Workspace),
		link:        &l,
	})
}

// newLink returns a link of an identity to a user, with a new session.
func (s *Service) newLink(ctx context.Context, user User, identity oauth.Identity, client Client) (link, error) {
	in, err := s.newSignIn(ctx, user, client)
	in.knownIP = client.network()
	return link{
		identity: identityRecord{
			ID: s.ids.New(id.Identity), UserID: user.ID, Provider: identity.Provider, Subject: identity.Subject,
			Login: printable(identity.Login, maxLoginNameBytes), LinkedAt: clock.Stamp(in.session.CreatedAt),
		},
		signIn: in,
	}, err
}

// usableEmails returns the verified e-mail addresses of an identity, the primary one first. It leaves out addresses
// that an account cannot have.
func usableEmails(identity oauth.Identity) []string {
	var emails []string
	for _, address := range identity.VerifiedEmails() {
		if CheckEmail(address) == "" && len(emails) < maxUsableEmails {
			emails = append(emails, NormalizeEmail(address))
		}
	}
	return emails
}

// usernameCandidates returns usernames for a new account, the preferred one first. The last one has a random suffix,
// because all others can be taken.
func usernameCandidates(login string) []string {
	name := usernameFrom(login)
	random := name + "-" + strings.ToLower(rand.Text()[:8])
	return []string{name, name + "-2", name + "-3", name + "-4", name + "-5", random}
}

// firstFree returns the first candidate that is not taken, or the last candidate.
func firstFree(candidates []string, taken map[string]bool) string {
	for _, name := range candidates {
		if !taken[name] {
			return name
		}
	}
	return candidates[len(candidates)-1]
}
