package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// stateLife is how long a sign-in with the code host may take.
const stateLife = 10 * time.Minute

// errState reports a state that does not exist, has expired, was already used, or belongs to another browser.
var errState = errors.New("account: invalid state of a sign-in")

// saveState stores a sign-in under the hash of its state.
func (s store) saveState(ctx context.Context, state string, record stateRecord) error {
	if _, err := s.client.Do(ctx, s.accounts.Create(db.OAuthStateKey(hashParts(state)), record)); err != nil {
		return fmt.Errorf("storing a sign-in: %w", err)
	}
	return nil
}

// takeState deletes a state and returns its record, so that each state is used once. A request from another browser
// does not delete the state. The delete is a transaction, so that a retry after a lost response does not count as a
// second use. Error: errState.
func (s store) takeState(ctx context.Context, state, binding string) (stateRecord, error) {
	key := db.OAuthStateKey(hashParts(state))
	item, err := s.accounts.Get(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		return stateRecord{}, errState
	}
	if err != nil {
		return stateRecord{}, fmt.Errorf("reading a sign-in: %w", err)
	}
	record, err := db.Decode[stateRecord](item)
	if err != nil {
		return stateRecord{}, err
	}
	if binding == "" || record.Browser != hashParts(binding) {
		return stateRecord{}, fmt.Errorf("%w: another browser", errState)
	}
	if err := s.client.Tx(s.accounts.Delete(key).If(s.accounts.Exists()).Else(errState)).Commit(ctx); err != nil {
		return stateRecord{}, fmt.Errorf("deleting a sign-in: %w", err)
	}
	return record, nil
}

// userOfIdentity reads the user that an identity is linked to. Error: db.ErrNotFound if it is not linked.
func (s store) userOfIdentity(ctx context.Context, provider, subject string) (User, error) {
	item, err := s.accounts.Get(ctx, db.IdentityKey(provider, subject))
	if err != nil {
		return User{}, fmt.Errorf("reading an identity: %w", err)
	}
	record, err := db.Decode[identityRecord](item)
	if err != nil {
		return User{}, err
	}
	user, err := s.user(ctx, record.UserID)
	if errors.Is(err, db.ErrNotFound) {
		return User{}, fmt.Errorf("%w: the identity belongs to a user who does not exist", db.ErrStale)
	}
	return user, err
}

// link is an identity to link to a user, and the session that starts in the same transaction.
type link struct {
	identity identityRecord
	signIn
	onlyVerified bool // link only if the e-mail address of the account is still verified
}

// addLink adds the writes of a link. Error: errTaken if the identity is already linked.
func (s store) addLink(tx *db.Tx, l link) {
	tx.Add(
		s.accounts.Create(db.IdentityKey(l.identity.Provider, l.identity.Subject), l.identity).Else(errTaken),
		s.accounts.Create(db.UserIdentityKey(l.identity.UserID, l.identity.ID), l.identity).Else(db.ErrStale),
	)
	s.addSignIn(tx, l.signIn)
}

// linkIdentity links an identity to an existing account and signs in. Errors: errTaken if the identity is already
// linked; db.ErrStale if the e-mail address of the account is no longer verified, or the replaced session has ended.
func (s store) linkIdentity(ctx context.Context, l link) error {
	tx := s.client.Tx()
	s.addLink(tx, l)
	if l.onlyVerified {
		isVerified := expression.Name("verified").Equal(expression.Value(true)).
			And(expression.Name("userId").Equal(expression.Value(l.session.UserID)))
		tx.Add(s.accounts.Check(db.EmailKey(l.email), isVerified).Else(db.ErrStale))
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("linking an identity: %w", err)
	}
	return nil
}

// identities reads the identities that are linked to a user, in the order in which they were linked.
func (s store) identities(ctx context.Context, userID string) ([]identityRecord, error) {
	items, err := s.accounts.QueryAll(ctx, db.IdentitiesOf(userID))
	if err != nil {
		return nil, fmt.Errorf("listing identities: %w", err)
	}
	return db.DecodeAll[identityRecord](items)
}

// unlinkIdentity removes an identity from a user. If other is not nil, it is another identity, which must still be
// linked to the user. So of two requests that remove the last two identities, one fails. Error: db.ErrStale if the
// identity or other was removed.
func (s store) unlinkIdentity(ctx context.Context, identity identityRecord, other *identityRecord) error {
	sameID := expression.Name("id").Equal(expression.Value(identity.ID))
	tx := s.client.Tx(
		s.accounts.Delete(db.UserIdentityKey(identity.UserID, identity.ID)).If(s.accounts.Exists()).Else(db.ErrStale),
		s.accounts.Delete(db.IdentityKey(identity.Provider, identity.Subject)).If(sameID).Else(db.ErrStale),
	)
	if other != nil {
		tx.Add(s.accounts.Check(db.UserIdentityKey(other.UserID, other.ID), s.accounts.Exists()).Else(db.ErrStale))
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("removing an identity: %w", err)
	}
	return nil
}

// emailOwners returns the accounts that have the e-mail addresses, and which of the usernames are taken. It uses one
// call.
func (s store) emailOwners(
	ctx context.Context, emails, usernames []string,
) (owners map[string]Credential, taken map[string]bool, err error) {
	var keys []db.Key
	for _, email := range emails {
		keys = append(keys, db.EmailKey(email))
	}
	for _, name := range usernames {
		keys = append(keys, db.UsernameKey(name))
	}
	items, err := s.accounts.BatchGet(ctx, keys...)
	if err != nil {
		return nil, nil, fmt.Errorf("reading accounts: %w", err)
	}
	owners, taken = map[string]Credential{}, map[string]bool{}
	for i, email := range emails {
		if item, ok := items[keys[i]]; ok {
			record, err := db.Decode[emailRecord](item)
			if err != nil {
				return nil, nil, err
			}
			owners[email] = Credential(record)
		}
	}
	for i, name := range usernames {
		taken[name] = items[keys[len(emails)+i]] != nil
	}
	return owners, taken, nil
}
