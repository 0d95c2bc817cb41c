package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/db"
)

// stateLife is how long a sign-in may take at the code host.
const stateLife = 10 * time.Minute

// errState reports a state that isn't there, is over, was used, or belongs to another browser.
var errState = errors.New("account: no such sign-in is under way")

// saveState keeps what a callback needs to know, under the hash of its state.
func (s store) saveState(ctx context.Context, state string, record stateRecord) error {
	item, err := db.Encode(record)
	if err != nil {
		return fmt.Errorf("a sign-in: %w", err)
	}
	if _, err := s.client.Do(ctx, s.accounts.Create(db.OAuthStateKey(hashParts(state)), item)); err != nil {
		return fmt.Errorf("keeping a sign-in: %w", err)
	}
	return nil
}

// takeState uses a state up and answers with what was kept under it. Error: errState. Another browser's attempt does
// not use it up. It is removed in a transaction, so that a repetition after a lost reply isn't taken for a second use.
func (s store) takeState(ctx context.Context, state, browser string) (stateRecord, error) {
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
	if browser == "" || record.Browser != hashParts(browser) {
		return stateRecord{}, fmt.Errorf("%w: another browser's", errState)
	}
	err = s.client.Transact(ctx, s.accounts.Delete(key).If(s.accounts.Exists()))
	if errors.Is(err, db.ErrConditionFailed) {
		return stateRecord{}, errState
	}
	if err != nil {
		return stateRecord{}, fmt.Errorf("using a sign-in up: %w", err)
	}
	return record, nil
}

// userOfIdentity finds the user whom an identity belongs to. Error: db.ErrNotFound.
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
		return User{}, fmt.Errorf("the identity of a user who is not there: %w", errStale)
	}
	return user, err
}

// claimed reads, in one call, whose the e-mails are and which of the usernames are taken.
func (s store) claimed(ctx context.Context, emails, usernames []string) (map[string]Credential, map[string]bool, error) {
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
	owners, taken := map[string]Credential{}, map[string]bool{}
	for _, email := range emails {
		item, ok := items[db.EmailKey(email)]
		if !ok {
			continue
		}
		record, err := db.Decode[emailRecord](item)
		if err != nil {
			return nil, nil, err
		}
		owners[email] = Credential(record)
	}
	for _, name := range usernames {
		taken[name] = items[db.UsernameKey(name)] != nil
	}
	return owners, taken, nil
}

// startLinked signs somebody in whose identity is linked already.
func (s store) startLinked(ctx context.Context, user User, l link, now time.Time) error {
	return s.startSession(ctx, signIn{session: l.session, email: user.Email, noteIP: l.ip, ends: l.ends}, now)
}
