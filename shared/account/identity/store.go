package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/account/oauth"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
)

// store stores identities in the accounts table.
type store struct {
	client   *db.Client
	accounts db.Table
	users    user.Store
}

// owner reads the user that an identity is linked to. Error: db.ErrNotFound if it is not linked.
func (s store) owner(ctx context.Context, at oauth.Identity) (user.User, error) {
	item, err := s.accounts.Get(ctx, db.IdentityKey(at.Provider, at.Subject))
	if err != nil {
		return user.User{}, fmt.Errorf("reading an identity: %w", err)
	}
	identity, err := db.Decode[Identity](item)
	if err != nil {
		return user.User{}, err
	}
	u, err := s.users.Read(ctx, identity.UserID)
	if errors.Is(err, db.ErrNotFound) {
		return user.User{}, fmt.Errorf("%w: the identity belongs to a user who does not exist", db.ErrStale)
	}
	return u, err
}

// Endings returns the writes after which the identities of a user can be linked to other accounts, in the transaction
// that ends the account. They do not remove the copies under the user.
func Endings(ctx context.Context, accounts db.Table, userID string) ([]db.Write, error) {
	identities, err := store{accounts: accounts}.list(ctx, userID)
	writes := make([]db.Write, len(identities))
	for n, i := range identities {
		isOwn := expression.AttributeNotExists(expression.Name("id")).
			Or(expression.Name("userId").Equal(expression.Value(userID)))
		writes[n] = accounts.Delete(db.IdentityKey(i.Provider, i.Subject)).If(isOwn)
	}
	return writes, err
}

// list reads the identities that are linked to a user, in the order in which they were linked.
func (s store) list(ctx context.Context, userID string) ([]Identity, error) {
	items, err := s.accounts.QueryAll(ctx, db.IdentitiesOf(userID))
	if err != nil {
		return nil, fmt.Errorf("listing identities: %w", err)
	}
	return db.DecodeAll(ctx, items, db.DecodeByID(func(i Identity) string { return i.ID })), nil
}

// link returns the writes that link an identity. Error: user.ErrTaken if it is already linked.
func (s store) link(i Identity) []db.Write {
	return []db.Write{
		s.accounts.Create(db.IdentityKey(i.Provider, i.Subject), i).Else(user.ErrTaken),
		s.accounts.Create(db.UserIdentityKey(i.UserID, i.ID), i).Else(db.ErrStale),
	}
}

// isLinked returns the check that an identity is linked to a user. Error: db.ErrStale.
func (s store) isLinked(at oauth.Identity, userID string) db.Write {
	isLinked := expression.Name("userId").Equal(expression.Value(userID))
	return s.accounts.Check(db.IdentityKey(at.Provider, at.Subject), isLinked).Else(db.ErrStale)
}

// removal returns the writes that remove an identity. Error: db.ErrStale if it was removed.
func (s store) removal(i Identity) []db.Write {
	sameID := expression.Name("id").Equal(expression.Value(i.ID))
	return []db.Write{
		s.accounts.Delete(db.UserIdentityKey(i.UserID, i.ID)).If(s.accounts.Exists()).Else(db.ErrStale),
		s.accounts.Delete(db.IdentityKey(i.Provider, i.Subject)).If(sameID).Else(db.ErrStale),
	}
}

// remains returns the check that an identity is still linked to its user. So of two requests that remove the last two
// identities, one fails. Error: db.ErrStale.
func (s store) remains(i Identity) db.Write {
	return s.accounts.Check(db.UserIdentityKey(i.UserID, i.ID), s.accounts.Exists()).Else(db.ErrStale)
}

// commit executes writes in one transaction.
func (s store) commit(ctx context.Context, writes ...[]db.Write) error {
	if err := s.client.Tx(slices.Concat(writes...)...).Commit(ctx); err != nil {
		return fmt.Errorf("changing the identities of an account: %w", err)
	}
	return nil
}
