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

// owner reads the user of a linked identity. Errors: db.ErrNotFound if the identity is not linked; db.ErrStale if the
// account of the user ended in the meantime.
func (s *Service) owner(ctx context.Context, remote oauth.Identity) (user.User, error) {
	item, err := s.Accounts.Get(ctx, db.IdentityKey(remote.Provider, remote.Subject))
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

// ReleaseWrites returns the writes after which the identities of a user can be linked to other accounts. The
// transaction that ends the account contains them. They keep the copies of the identities under the user.
func ReleaseWrites(ctx context.Context, accounts db.Table, userID string) ([]db.Write, error) {
	identities, err := identitiesOf(ctx, accounts, userID)
	writes := make([]db.Write, len(identities))
	for i, identity := range identities {
		isOwnOrMissing := expression.AttributeNotExists(expression.Name("id")).
			Or(expression.Name("userId").Equal(expression.Value(userID)))
		writes[i] = accounts.Delete(db.IdentityKey(identity.Provider, identity.Subject)).If(isOwnOrMissing)
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

// linkRecords returns the writes that store both records of a linked identity. Error: user.ErrTaken if the identity is
// already linked.
func (s *Service) linkRecords(i Identity) []db.Write {
	return []db.Write{
		s.Accounts.Create(db.IdentityKey(i.Provider, i.Subject), i).Else(user.ErrTaken),
		s.Accounts.Create(db.UserIdentityKey(i.UserID, i.ID), i).Else(db.ErrStale),
	}
}

// checkLink returns the check that an identity is linked to a user. Error: db.ErrStale.
func (s *Service) checkLink(remote oauth.Identity, userID string) db.Write {
	isLinked := expression.Name("userId").Equal(expression.Value(userID))
	return s.Accounts.Check(db.IdentityKey(remote.Provider, remote.Subject), isLinked).Else(db.ErrStale)
}

// unlinkRecords returns the writes that delete both records of a linked identity. Error: db.ErrStale if the identity
// was removed in the meantime.
func (s *Service) unlinkRecords(i Identity) []db.Write {
	sameID := expression.Name("id").Equal(expression.Value(i.ID))
	return []db.Write{
		s.Accounts.Delete(db.UserIdentityKey(i.UserID, i.ID)).If(s.Accounts.Exists()).Else(db.ErrStale),
		s.Accounts.Delete(db.IdentityKey(i.Provider, i.Subject)).If(sameID).Else(db.ErrStale),
	}
}
