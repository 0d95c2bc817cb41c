package codehost

import (
	"context"
	"errors"
	"slices"
	"time"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

// maxUsernameBytes is the maximum length of a stored username of a code host. Longer usernames are cut.
const maxUsernameBytes = 128

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

// identity returns the new identity that links a user of a code host to a user of this service.
func (s *Service) identity(u user.User, remote oauth.Identity) Identity {
	return Identity{
		ID: s.IDs.New(id.Identity), UserID: u.ID, Provider: remote.Provider, Subject: remote.Subject,
		Username: user.Printable(remote.Login, maxUsernameBytes), LinkedAt: clock.Stamp(s.Clock()),
	}
}

// unlinkIdentity removes an identity from the caller's account. If another request changes the identities at the same
// time, unlinkIdentity tries again. Errors: the errors of password.Service.Confirm; IDENTITY_NOT_FOUND; CONFLICT if the
// account has no password and no other identity.
func (s *Service) unlinkIdentity(
	ctx context.Context, caller httpapi.Caller, in *unlinkInput,
) (*httpapi.DoneOutput, error) {
	client := httpapi.RequestInfoFrom(ctx)
	if err := s.Passwords.Confirm(ctx, caller, in.Body, client); err != nil {
		return nil, err
	}
	err := db.Retry(ctx, "remove an identity", func(ctx context.Context) error {
		identities, err := identitiesOf(ctx, s.Accounts, caller.UserID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(identities, func(i Identity) bool { return i.ID == in.ID })
		if i < 0 {
			return errNotFound
		}
		credential, err := s.Users.Credential(ctx, caller.Account().Email)
		if err != nil && !errors.Is(err, db.ErrNotFound) { // an account without an address has no password
			return err
		}
		identity, others := identities[i], slices.Delete(slices.Clone(identities), i, i+1)
		tx := s.DB.Tx(s.unlinkRecords(identity)...)
		if credential.PasswordHash == "" {
			if len(others) == 0 {
				return errLastIdentity
			}
			// Of two requests that remove the last two identities, one fails.
			otherKey := db.UserIdentityKey(caller.UserID, others[0].ID)
			tx.Add(s.Accounts.Check(otherKey, s.Accounts.Exists()).Else(db.ErrStale))
		}
		u := user.User{ID: caller.UserID, Email: caller.Account().Email, Username: caller.Account().Username}
		reported, err := s.report(ctx, mail.IdentityRemoved, activity.IdentityRemoved, u, identity, client)
		if err != nil {
			return err
		}
		tx.Add(reported...)
		return tx.Commit(ctx)
	})
	return httpapi.ReplyDone("Identity removed. Sessions that it started have not ended.", err)
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

// maxRemoval is the maximum number of identities that a transaction removes: two writes for each.
const maxRemoval = 30

// Removal returns the writes that remove the identities that were linked to a user at the time since or later. The
// transaction must also contain user.Store.Change for a user who was read before the call, so that it fails if an
// identity was linked in the meantime. If there are more than maxRemoval identities, Removal removes the others itself.
// Error of the writes: db.ErrStale.
func (s *Service) Removal(ctx context.Context, userID string, since time.Time) ([]db.Write, error) {
	identities, err := identitiesOf(ctx, s.Accounts, userID)
	if err != nil {
		return nil, err
	}
	identities = slices.DeleteFunc(identities, func(i Identity) bool { return i.LinkedAt.Time().Before(since) })
	var writes []db.Write
	for n, identity := range identities {
		if n > 0 && n%maxRemoval == 0 {
			if err := s.DB.Tx(writes...).Commit(ctx); err != nil {
				return nil, err
			}
			writes = nil
		}
		writes = append(writes, s.unlinkRecords(identity)...)
	}
	return writes, nil
}
