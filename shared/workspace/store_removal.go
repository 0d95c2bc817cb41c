package workspace

import (
	"context"
	"errors"
	"fmt"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/removal"
)

// Remover removes the members and invitations of workspaces that have ended, and what remains in their partitions. It
// is safe for concurrent use.
type Remover struct {
	DB       *db.Client
	Projects db.Table
	Deleter  removal.Deleter
}

// parallelMembers is the number of members that are removed at the same time.
const parallelMembers = 8

// RemoveMembers removes all members of a workspace that has ended, so that it no longer counts for their limits. After
// that, transactions that check the role of a member fail. It must be the first step of a removal. Errors: an error if
// the workspace has not ended; the errors of storage.
func (r Remover) RemoveMembers(ctx context.Context, workspaceID string) error {
	switch _, err := r.Projects.Get(ctx, db.WorkspaceKey(workspaceID)); {
	case err == nil:
		return fmt.Errorf("workspace: %s has not ended", workspaceID)
	case !errors.Is(err, db.ErrNotFound):
		return err
	}
	for page, err := range r.Projects.Pages(ctx, db.Query{Prefix: db.MembersOf(workspaceID)}) {
		if err != nil {
			return err
		}
		var group async.Group
		group.SetLimit(parallelMembers)
		for _, item := range page.Items {
			userID := db.MembersOf(workspaceID).Rest(db.KeyOf(item))
			m, _ := db.DecodeListed(ctx, item, db.Decode[Membership]) // a damaged membership counts, too
			group.Go(func() error { return r.removeMember(ctx, workspaceID, userID, !m.Personal) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// removeMember deletes both copies of a membership, and decrements the user's number of memberships if it counts there,
// in one transaction. The number is not stored if the account of the user has ended, too.
func (r Remover) removeMember(ctx context.Context, workspaceID, userID string, isCounted bool) error {
	s := store{Access: Access{r.Projects}, client: r.DB}
	errGone, errNoCounter := errors.New("the member was removed"), errors.New("the counter does not exist")
	deletions := []db.Write{
		r.Projects.Delete(db.MemberKey(workspaceID, userID)).If(r.Projects.Exists()).Else(errGone),
		r.Projects.Delete(db.MembershipKey(userID, workspaceID)),
	}
	tx := r.DB.Tx(deletions...)
	if isCounted {
		tx.Add(s.countDown(userID).Else(errNoCounter))
	}
	err := tx.Commit(ctx)
	if errors.Is(err, errNoCounter) {
		err = r.DB.Tx(deletions...).Commit(ctx)
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// RemoveRest removes the invitations of a workspace that has ended, and everything else that is stored under its ID. It
// must be the last step of a removal.
func (r Remover) RemoveRest(ctx context.Context, workspaceID string) error {
	item, err := r.Projects.Get(ctx, db.InvitationsKey(workspaceID))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	open, _ := db.DecodeListed(ctx, item, db.Decode[invitations]) // if the item is damaged, the pointers expire
	pointers := make([]db.Key, len(open.List))
	for i, invitation := range open.List {
		pointers[i] = invitation.pointerKey()
	}
	if err := r.Deleter.Delete(ctx, r.Projects, pointers...); err != nil {
		return err
	}
	_, err = r.Deleter.DeleteAll(ctx, r.Projects, db.WorkspacePartition(workspaceID), nil)
	return err
}
