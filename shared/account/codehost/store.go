package codehost

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/account/oauth"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
)

// owner reads the user that an identity is linked to. Error: db.ErrNotFound if it is not linked.
func (s *Service) owner(ctx context.Context, at oauth.Identity) (user.User, error) {
	item, err := s.Accounts.Get(ctx, db.IdentityKey(at.Provider, at.Subject))
	if err != nil {
		return user.User{}, fmt.Errorf("reading an identity: %w", err)
	}
	identity, err := db.Decode[Identity](item)
	if err != nil {
		return user.User{}, err
	}
	u, err := s.Users.Read(ctx, identity.UserID)
	if errors.Is(err, db.ErrNotFound) {
		return user.User{}, fmt.Errorf("%w: the identity belongs to a user who does not exist", db.ErrStale)
	}
	return u, err
}

// Endings returns the writes after which the identities of a user can be linked to other accounts, in the transaction
// that ends the account. They do not remove the copies under the user.
func Endings(ctx context.Context, accounts db.Table, userID string) ([]db.Write, error) {
	identities, err := identitiesOf(ctx, accounts, userID)
	writes := make([]db.Write, len(identities))
	for n, i := range identities {
		isOwn := expression.AttributeNotExists(expression.Name("id")).
			Or(expression.Name("userId").Equal(expression.Value(userID)))
		writes[n] = accounts.Delete(db.IdentityKey(i.Provider, i.Subject)).If(isOwn)
	}
	return writes, err
}

// identitiesOf reads the identities that are linked to a user, in the order in which they were linked.
func identitiesOf(ctx context.Context, accounts db.Table, userID string) ([]Identity, error) {
	items, err := accounts.QueryAll(ctx, db.IdentitiesOf(userID))
	if err != nil {
		return nil, fmt.Errorf("listing identities: %w", err)
	}
	return db.DecodeAll(ctx, items, db.DecodeByID(func(i Identity) string { return i.ID })), nil
}

// linkRecords returns the writes that store both records of a linked identity. Error: user.ErrTaken if it is already
// linked.
func (s *Service) linkRecords(i Identity) []db.Write {
	return []db.Write{
		s.Accounts.Create(db.IdentityKey(i.Provider, i.Subject), i).Else(user.ErrTaken),
		s.Accounts.Create(db.UserIdentityKey(i.UserID, i.ID), i).Else(db.ErrStale),
	}
}

// checkLink returns the check that an identity is linked to a user. Error: db.ErrStale.
func (s *Service) checkLink(at oauth.Identity, userID string) db.Write {
	isLinked := expression.Name("userId").Equal(expression.Value(userID))
	return s.Accounts.Check(db.IdentityKey(at.Provider, at.Subject), isLinked).Else(db.ErrStale)
}

// removal returns the writes that remove an identity. Error: db.ErrStale if it was removed.
func (s *Service) removal(i Identity) []db.Write {
	sameID := expression.Name("id").Equal(expression.Value(i.ID))
	return []db.Write{
		s.Accounts.Delete(db.UserIdentityKey(i.UserID, i.ID)).If(s.Accounts.Exists()).Else(db.ErrStale),
		s.Accounts.Delete(db.IdentityKey(i.Provider, i.Subject)).If(sameID).Else(db.ErrStale),
	}
}
