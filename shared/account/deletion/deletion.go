package deletion

import (
	"context"
	"fmt"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/codehost"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/mail"
	"devplatform/shared/removal"
	"devplatform/shared/workspace"
)

// maxWrites is the maximum number of writes in a transaction of DynamoDB.
const maxWrites = 100

// Delete ends the account of a user. The user or an operator has requested it. more are further writes of the
// transaction. Errors: db.ErrNotFound if there is no such account, or if it has ended; CONFLICT if the user is the only
// owner of a workspace that has other members.
func (s *Service) Delete(ctx context.Context, userID string, more ...db.Write) error {
	client := httpapi.RequestInfoFrom(ctx) // zero if an operator deletes the account
	return db.Retry(ctx, "delete an account", func(ctx context.Context) error {
		u, err := s.Users.Read(ctx, userID)
		if err != nil {
			return err
		}
		now := s.Clock()
		tx := s.DB.Tx(s.Users.End(u, now)...)
		ended, err := s.endWorkspaces(ctx, userID)
		if err != nil {
			return err
		}
		reported, err := s.Mails.Report(ctx, mail.AccountDeleted, u, client, nil)
		if err != nil {
			return err
		}
		tx.Add(ended...)
		tx.Add(removal.Create(s.Projects, removal.Account, userID, now))
		tx.Add(s.Activity.Add(userID, activity.AccountDeleted, client, activity.Detail{}))
		tx.Add(reported...)
		tx.Add(more...)
		identities, err := codehost.ReleaseWrites(ctx, s.Accounts, userID)
		if err != nil {
			return err
		}
		// Identities that do not fit into the transaction are released before it.
		for len(identities) > maxWrites-tx.Len() {
			n := min(len(identities)-(maxWrites-tx.Len()), maxWrites)
			if err := s.DB.Tx(identities[:n]...).CommitOnce(ctx); err != nil {
				return fmt.Errorf("releasing identities: %w", err)
			}
			identities = identities[n:]
		}
		tx.Add(identities...)
		return tx.CommitOnce(ctx)
	})
}

// endWorkspaces returns the writes that end the workspaces that only the user has, on the condition that the user has
// not become a member of another one. Error: CONFLICT.
func (s *Service) endWorkspaces(ctx context.Context, userID string) ([]db.Write, error) {
	access := workspace.Access{Projects: s.Projects}
	unchanged, err := access.MembershipsUnchanged(ctx, userID)
	if err != nil {
		return nil, err
	}
	all, err := access.UserWorkspaces(ctx, userID)
	if err != nil {
		return nil, err
	}
	writes := []db.Write{unchanged}
	var blocking []string
	for _, d := range all {
		isOnlyOwner := d.Membership.Role == workspace.Owner && d.Workspace.Owners == 1
		switch {
		case !isOnlyOwner: // the removal of the account ends the membership
		case d.Workspace.Members > 1:
			blocking = append(blocking, d.Workspace.Name)
		default:
			writes = append(writes, access.EndWrite(d.Workspace))
		}
	}
	if len(blocking) > 0 {
		return nil, errShared(blocking...)
	}
	return writes, nil
}
