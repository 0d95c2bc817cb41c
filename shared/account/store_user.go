package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// newAccount is everything that comes into being with an account.
type newAccount struct {
	user        User
	credential  Credential
	workspaceID string // of the personal workspace
	link        *link  // from a code host: the identity, and the session that it starts
}

// link joins an identity to a user and signs them in.
type link struct {
	identity identityRecord
	session  Session
	ip       string // to note as known
	ends     string // the session that this one takes the place of, or ""
}

// createAccount makes all of it in one transaction, or answers errEmailTaken, errUsernameTaken or errIdentityTaken.
func (s store) createAccount(ctx context.Context, a newAccount, now time.Time) error {
	var w writes
	user := a.user
	w.create(s.accounts, db.UserKey(user.ID), userRecord{
		ID: user.ID, Email: user.Email, Username: user.Username, CreatedAt: clock.Stamp(user.CreatedAt), Generation: user.Generation,
	})
	email := w.create(s.accounts, db.EmailKey(user.Email), emailRecord(a.credential))
	username := w.create(s.accounts, db.UsernameKey(user.Username), usernameRecord{UserID: user.ID})
	identity := -1
	if a.link != nil {
		identity = s.addLink(&w, user, *a.link, now)
	}
	personal, err := workspace.Personal(s.projects, a.workspaceID, user.ID, user.Username, now)
	if err := errors.Join(w.err, err); err != nil {
		return err
	}
	err = s.client.Transact(ctx, append(w.list, personal...)...)
	switch {
	case err == nil:
		return nil
	case identity >= 0 && db.FailedAt(err, identity):
		return errIdentityTaken
	case db.FailedAt(err, email):
		return errEmailTaken
	case db.FailedAt(err, username):
		return errUsernameTaken
	}
	return fmt.Errorf("creating an account: %w", err)
}

// addLink appends a link's writes and answers with the index of the identity's.
func (s store) addLink(w *writes, user User, l link, now time.Time) int {
	identity := w.create(s.accounts, db.IdentityKey(l.identity.Provider, l.identity.Subject), l.identity)
	w.create(s.accounts, db.SessionKey(user.ID, l.session.ID), l.session.record())
	s.noteIP(w, user.Email, l.ip, now)
	if l.ends != "" {
		w.add(s.accounts.Delete(db.SessionKey(user.ID, l.ends)))
	}
	return identity
}

// join links an identity to an account that exists. verified asks that the account's e-mail still be a verified one.
// Errors: errIdentityTaken, errStale.
func (s store) join(ctx context.Context, user User, l link, verified bool, now time.Time) error {
	var w writes
	identity := s.addLink(&w, user, l, now)
	if verified {
		w.add(s.accounts.Check(db.EmailKey(user.Email), expression.Name("verified").Equal(expression.Value(true)).
			And(expression.Name("userId").Equal(expression.Value(user.ID)))))
	}
	if w.err != nil {
		return w.err
	}
	err := s.client.Transact(ctx, w.list...)
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, identity):
		return errIdentityTaken
	case errors.Is(err, db.ErrConditionFailed):
		return errStale
	}
	return fmt.Errorf("joining an identity: %w", err)
}

// user reads a user. Error: db.ErrNotFound.
func (s store) user(ctx context.Context, userID string) (User, error) {
	item, err := s.accounts.Get(ctx, db.UserKey(userID))
	if err != nil {
		return User{}, fmt.Errorf("reading a user: %w", err)
	}
	record, err := db.Decode[userRecord](item)
	return record.user(), err
}

// userByName reads the user who has a username. Error: db.ErrNotFound.
func (s store) userByName(ctx context.Context, username string) (User, error) {
	item, err := s.accounts.Get(ctx, db.UsernameKey(username))
	if err != nil {
		return User{}, fmt.Errorf("reading a username: %w", err)
	}
	holder, err := db.Decode[usernameRecord](item)
	if err != nil {
		return User{}, err
	}
	return s.user(ctx, holder.UserID)
}

// passwordChange replaces a password and starts a new generation, which the session that asked for it joins.
type passwordChange struct {
	user      User   // as it was
	sessionID string // the one that goes on
	old       string // the hash that was checked
	fresh     string
	refunds   []counter
}

// changePassword makes the change or answers errStale: the password or the generation is no longer what was checked.
func (s store) changePassword(ctx context.Context, c passwordChange) error {
	generation, hash := expression.Name("generation"), expression.Name("passwordHash")
	next := func() expression.UpdateBuilder { // a builder is changed by what is added to it: one each
		return expression.Set(generation, expression.Value(c.user.Generation+1))
	}
	same := generation.Equal(expression.Value(c.user.Generation))
	var w writes
	w.add(s.accounts.Update(db.EmailKey(c.user.Email), next().Set(hash, expression.Value(c.fresh))).
		If(hash.Equal(expression.Value(c.old))))
	w.add(s.accounts.Update(db.UserKey(c.user.ID), next()).If(same))
	w.add(s.accounts.Update(db.SessionKey(c.user.ID, c.sessionID), next()).If(s.accounts.Exists()).If(same))
	for _, counter := range c.refunds {
		w.add(s.refund(counter))
	}
	err := s.client.Transact(ctx, w.list...)
	if errors.Is(err, db.ErrConditionFailed) {
		return errStale
	}
	if err != nil {
		return fmt.Errorf("changing a password: %w", err)
	}
	return nil
}
