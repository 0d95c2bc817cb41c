package user

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// Store reads, creates, changes and ends accounts. Every function that serves workspaces uses it to find users.
type Store struct{ accounts, projects db.Table }

// NewStore returns a Store. It does no I/O.
func NewStore(client *db.Client, tables config.Tables) Store {
	return Store{accounts: client.Table(tables.Accounts), projects: client.Table(tables.Projects)}
}

// usernameRecord is the record of a username, under its lower-case form.
type usernameRecord struct {
	UserID string `dynamodbav:"userId"`
	// ExpiresAt is the time until which the username of an account that has ended is reserved, in seconds since 1970.
	ExpiresAt int64 `dynamodbav:"expiresAt,omitempty"`
}

// usernameReserved is the time for which the username of an account that has ended stays reserved.
const usernameReserved = 90 * 24 * time.Hour

// Ended is the record of an account that has ended, for the removal of its data. The attribute names are part of the
// data format.
type Ended struct {
	Email    string          `dynamodbav:"email"` // "" if the account had none
	Username string          `dynamodbav:"username"`
	EndedAt  clock.Timestamp `dynamodbav:"endedAt"`
}

// Read reads a user. Error: db.ErrNotFound.
func (s Store) Read(ctx context.Context, userID string) (User, error) {
	return get[User](ctx, s.accounts, db.UserKey(userID))
}

// Credential reads the credential of an account. Error: db.ErrNotFound.
func (s Store) Credential(ctx context.Context, email string) (Credential, error) {
	return get[Credential](ctx, s.accounts, db.EmailKey(email))
}

// Create returns the writes that create an account with its personal workspace. Error: ErrTaken if the e-mail address
// or the username is taken.
func (s Store) Create(u User, c Credential, workspaceID string) []db.Write {
	return append([]db.Write{
		s.accounts.Create(db.EmailKey(u.Email), c).Else(ErrTaken),
		s.accounts.Create(db.UsernameKey(u.Username), usernameRecord{UserID: u.ID}).Else(ErrTaken),
		s.accounts.Create(db.UserKey(u.ID), u),
	}, workspace.Personal(s.projects, workspaceID, u.ID, u.Username, u.CreatedAt.Time())...)
}

// Change returns the write that replaces the record of a user. Error: db.ErrStale if the record changed since before
// was read.
func (s Store) Change(before, after User) db.Write {
	after.Revision = before.Revision + 1
	isUnchanged := expression.Name("revision").Equal(expression.Value(before.Revision))
	return s.accounts.Put(db.UserKey(before.ID), after).If(isUnchanged).Else(db.ErrStale)
}

// End returns the writes that end the account of a user: the record of the user, on which all sessions depend, is
// deleted, the address is free, and the username is reserved. Error: db.ErrStale if the record changed since it was
// read.
func (s Store) End(u User, now time.Time) []db.Write {
	isUnchanged := expression.Name("revision").Equal(expression.Value(u.Revision))
	reserved := usernameRecord{UserID: u.ID, ExpiresAt: now.Add(usernameReserved).Unix()}
	writes := []db.Write{
		s.accounts.Delete(db.UserKey(u.ID)).If(isUnchanged).Else(db.ErrStale),
		s.accounts.Put(db.UsernameKey(u.Username), reserved).If(belongsTo(u.ID)).Else(db.ErrStale),
		s.accounts.Put(db.EndedUserKey(u.ID), Ended{Email: u.Email, Username: u.Username, EndedAt: clock.Stamp(now)}),
	}
	if u.Email != "" {
		writes = append(writes, s.Release(u.Email, u.ID))
	}
	return writes
}

// Exists returns the check that a user exists. Its error is set with Else.
func (s Store) Exists(userID string) db.Write {
	return s.accounts.Check(db.UserKey(userID), s.accounts.Exists())
}

// Touch returns the write that increments the revision of a user. Error: db.ErrStale if the user does not exist, or
// belongs to another generation.
func (s Store) Touch(userID string, generation int) db.Write {
	return s.accounts.Update(db.UserKey(userID), expression.Add(expression.Name("revision"), expression.Value(1))).
		If(expression.Name("generation").Equal(expression.Value(generation))).Else(db.ErrStale)
}

// Take returns the write that gives an address, which no account has, to the user of a credential. Error: db.ErrStale
// if an account has the address.
func (s Store) Take(email string, c Credential) db.Write {
	return s.accounts.Create(db.EmailKey(email), c).Else(db.ErrStale)
}

// Replace returns the write that replaces the credential of an address. Error: db.ErrStale if the address does not
// belong to the user of the new credential.
func (s Store) Replace(email string, c Credential) db.Write {
	return s.accounts.Put(db.EmailKey(email), c).If(belongsTo(c.UserID)).Else(db.ErrStale)
}

// Notice returns the write that stores the time of a mail about a login from an unknown network, in seconds since 1970.
// Error: db.ErrStale if another request has stored such a time since the credential was read.
func (s Store) Notice(email string, c Credential, at int64) db.Write {
	noticed := expression.Name("noticedAt")
	isUnchanged := noticed.Equal(expression.Value(c.NoticedAt))
	if c.NoticedAt == 0 {
		isUnchanged = expression.AttributeNotExists(noticed)
	}
	return s.accounts.Update(db.EmailKey(email), expression.Set(noticed, expression.Value(at))).
		If(belongsTo(c.UserID)).If(isUnchanged).Else(db.ErrStale)
}

// Reserve returns the write that keeps a former address for its user until a time, in seconds since 1970. Error:
// db.ErrStale if the address does not belong to the user.
func (s Store) Reserve(email, userID string, until int64) db.Write {
	return s.Replace(email, Credential{UserID: userID, Reserved: true, ExpiresAt: until})
}

// Release returns the write that deletes the credential of an address, so that any account can have the address. Error:
// db.ErrStale if the address does not belong to the user.
func (s Store) Release(email, userID string) db.Write {
	return s.accounts.Delete(db.EmailKey(email)).If(belongsTo(userID)).Else(db.ErrStale)
}

func belongsTo(userID string) expression.ConditionBuilder {
	return expression.Name("userId").Equal(expression.Value(userID))
}

// SamePassword returns the condition that a credential still has the hash of a password. "" means no hash.
func SamePassword(hash string) expression.ConditionBuilder {
	stored := expression.Name("passwordHash")
	if hash == "" {
		return expression.AttributeNotExists(stored)
	}
	return stored.Equal(expression.Value(hash))
}

// Owners returns the credentials of the accounts that have the e-mail addresses, and which of the usernames are taken.
// It makes one call to storage.
func (s Store) Owners(
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
	for _, email := range emails {
		if item, ok := items[db.EmailKey(email)]; ok {
			if owners[email], err = db.Decode[Credential](item); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, name := range usernames {
		taken[name] = items[db.UsernameKey(name)] != nil
	}
	return owners, taken, nil
}

// get reads and decodes a record. Error: db.ErrNotFound.
func get[T any](ctx context.Context, table db.Table, key db.Key) (record T, _ error) {
	item, err := table.Get(ctx, key)
	if err != nil {
		return record, fmt.Errorf("reading an account: %w", err)
	}
	return db.Decode[T](item)
}
