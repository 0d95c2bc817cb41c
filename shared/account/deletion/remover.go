package deletion

import (
	"context"
	"errors"
	"strings"

	"devplatform/shared/account/user"
	"devplatform/shared/archive"
	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/removal"
)

// Remover removes what remains of accounts that have ended, except for their data in workspaces. It is safe for
// concurrent use. RemoveAccount is the first step of a removal, and RemoveRest is the last step. Between the two steps,
// all memberships of the user must end.
type Remover struct {
	DB       *db.Client
	Accounts db.Table
	Projects db.Table
	// Others are more tables with items under the IDs of users.
	Others  []db.Table
	Bucket  objectstore.Bucket
	Deleter removal.Deleter
}

// errWaiting reports that the user still has memberships.
var errWaiting = errors.New("deletion: the memberships of the user have not ended")

// RemoveAccount removes the items of an account in the accounts table: its sessions, tokens, exports and known
// networks, and the copies of its identities. It keeps the activity, which expires, and the record of the user's end,
// which RemoveRest removes. A removal begins when all requests that began before the end of the account have ended, so
// no request stores further items. Errors: the errors of storage.
func (r Remover) RemoveAccount(ctx context.Context, userID string) error {
	item, err := r.Accounts.Get(ctx, db.EndedUserKey(userID)) // an earlier attempt may have removed it
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	ended, err := db.Decode[user.Ended](item)
	if err != nil {
		return err
	}
	if err := r.removeAddress(ctx, userID, ended.Email); err != nil {
		return err
	}
	activity, end := db.ActivityOf(userID).SK, db.EndedUserKey(userID).SK
	_, err = r.Deleter.DeleteAll(ctx, r.Accounts, db.UserPartition(userID), func(k db.Key) bool {
		return k.SK == end || strings.HasPrefix(k.SK, activity)
	})
	return err
}

// removeAddress removes the networks from which the user logged in with an address. It also removes the record of
// undeliverable mail, unless another account has the address by now.
func (r Remover) removeAddress(ctx context.Context, userID, email string) error {
	if email == "" {
		return nil
	}
	var keys []db.Key
	networks, isTaken := db.KnownIPsOf(email).SK, false
	err := r.Accounts.Each(ctx, db.EmailPartition(email), func(item db.Item) error {
		key := db.KeyOf(item)
		isTaken = isTaken || key == db.EmailKey(email)
		known, err := db.Decode[struct {
			UserID string `dynamodbav:"userId"`
		}](item)
		if err == nil && known.UserID == userID && strings.HasPrefix(key.SK, networks) {
			keys = append(keys, key)
		}
		return nil
	}, "userId")
	if err != nil {
		return err
	}
	if !isTaken {
		keys = append(keys, db.MailStateKey(email))
	}
	for _, key := range keys { // one by one: the role of the function allows no batch of writes to addresses
		if _, err := r.DB.Do(ctx, r.Accounts.Delete(key)); err != nil {
			return err
		}
	}
	return nil
}

// RemoveRest removes the data of the user in other tables and in the bucket. It keeps the count of the output
// of deployments in workspaces that other users have now, and the counters of limits and traffic, which expire. Errors:
// an error if a membership remains; the errors of storage.
func (r Remover) RemoveRest(ctx context.Context, userID string) error {
	memberships, err := r.Projects.QueryAll(ctx, db.MembershipsOf(userID), "workspaceId")
	if err != nil {
		return err
	}
	if len(memberships) > 0 {
		return errWaiting
	}
	output := db.OutputKey(userID)
	item, err := r.Projects.Get(ctx, output)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	count, err := db.Decode[struct {
		Bytes int `dynamodbav:"bytes"`
	}](item)
	if err != nil {
		return err
	}
	if _, err := r.Deleter.DeleteAll(ctx, r.Projects, db.UserPartition(userID), func(k db.Key) bool {
		return k == output && count.Bytes != 0
	}); err != nil {
		return err
	}
	for _, table := range r.Others {
		if _, err := r.Deleter.DeleteAll(ctx, table, db.UserPartition(userID), nil); err != nil {
			return err
		}
	}
	if _, err := r.Bucket.DeletePrefix(ctx, archive.Objects(userID)); err != nil {
		return err
	}
	_, err = r.DB.Do(ctx, r.Accounts.Delete(db.EndedUserKey(userID)))
	return err
}
