// Package suspension suspends accounts and lifts suspensions. Only operators do this, so no function links the package.
//
// The record of the user decides. One transaction changes it, together with its copies in the credential, which the
// login reads, and in the item that counts the memberships, on which each new membership depends. From then on, the
// user has no session, and gets no membership. The memberships follow, each in a transaction of its own: a user has up
// to 50, which do not fit into one. Such a transaction changes both copies of the membership and the number of
// suspended owners in the record of the workspace, and it depends on the item that counts the memberships. So a
// suspension that was interrupted is completed by another call, and concurrent calls end in the state of the user.
package suspension

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/workspace"
)

// Service suspends accounts. It is safe for concurrent use.
type Service struct {
	DB                 *db.Client
	Accounts, Projects db.Table
	Users              user.Store
	Activity           *activity.Log
	Webhooks           revocation.Store
	Clock              clock.Clock
}

// reason is the reason why the webhooks of a suspended user are disabled.
const reason = "the account of the user who created or last activated the webhook was suspended"

// New returns a Service. webhooks is the name of the table of webhooks. It does no I/O.
func New(client *db.Client, tables config.Tables, webhooks string, now clock.Clock) *Service {
	accounts := client.Table(tables.Accounts)
	return &Service{
		DB: client, Accounts: accounts, Projects: client.Table(tables.Projects), Users: user.NewStore(client, tables),
		Activity: activity.New(client, accounts, now), Clock: now,
		Webhooks: revocation.Store{Webhooks: client.Table(webhooks), Reason: reason},
	}
}

// Result is what a call changed.
type Result struct {
	Changed     bool // false if the account was already in that state
	Memberships int  // the number of memberships that were changed
}

// Suspend suspends an account. record is the write of the audit record, which is part of the transaction. If the
// account is already suspended, Suspend only completes its memberships. Errors: db.ErrNotFound; db.ErrConflict.
func (s *Service) Suspend(ctx context.Context, userID string, record db.Write) (Result, error) {
	return s.set(ctx, userID, true, record)
}

// Lift ends a suspension. The sessions from before remain ended, and the webhooks remain disabled. Apart from that, it
// is like Suspend.
func (s *Service) Lift(ctx context.Context, userID string, record db.Write) (Result, error) {
	return s.set(ctx, userID, false, record)
}

func (s *Service) set(ctx context.Context, userID string, suspended bool, record db.Write) (r Result, _ error) {
	err := db.Retry(ctx, "change the suspension of an account", func(ctx context.Context) error {
		u, err := s.Users.Read(ctx, userID)
		if err != nil || (u.SuspendedAt != nil) == suspended {
			return err
		}
		if err := s.setUser(ctx, u, suspended, record); err != nil {
			return err
		}
		r.Changed = true
		return nil
	})
	if err != nil {
		return r, err
	}
	members, err := (workspace.Access{Projects: s.Projects}).Memberships(ctx, userID)
	if err != nil {
		return r, err
	}
	for _, m := range members {
		changed, err := s.setMembership(ctx, m, suspended)
		if err != nil {
			return r, fmt.Errorf("workspace %s: %w: repeat the command to complete it", m.WorkspaceID, err)
		}
		if changed {
			r.Memberships++
		}
	}
	return r, nil
}

var (
	attrSuspended       = expression.Name("suspended")
	attrSuspendedOwners = expression.Name("suspendedOwners")
)

// setUser changes the account. Error: db.ErrStale.
func (s *Service) setUser(ctx context.Context, u user.User, suspended bool, record db.Write) error {
	after, entry := u, activity.SuspensionLifted
	mark := func() expression.UpdateBuilder { return expression.Remove(attrSuspended) } // Set changes a builder
	if suspended {
		mark = func() expression.UpdateBuilder { return expression.Set(attrSuspended, expression.Value(true)) }
		at := clock.Stamp(s.Clock())
		after.SuspendedAt, entry = &at, activity.Suspended
	} else {
		after.SuspendedAt = nil
		after.Generation++ // the sessions from before do not come back
	}
	tx := s.DB.Tx(
		s.Users.Change(u, after),
		s.Projects.Update(db.MembershipCountKey(u.ID), mark()),
		s.Activity.Add(u.ID, entry, httpapi.RequestInfo{}, activity.Detail{}),
		record,
	)
	if u.Email != "" {
		credential := mark().Set(expression.Name("generation"), expression.Value(after.Generation))
		tx.Add(s.Accounts.Update(db.EmailKey(u.Email), credential).
			If(expression.Name("userId").Equal(expression.Value(u.ID))))
	}
	return tx.CommitOnce(ctx)
}

// setMembership changes a membership, and the number of suspended owners of its workspace. It disables the webhooks of
// a user who is suspended. It reports whether there was something to change.
func (s *Service) setMembership(ctx context.Context, m workspace.Membership, suspended bool) (changed bool, _ error) {
	memberKey, workspaceKey := db.MemberKey(m.WorkspaceID, m.UserID), db.WorkspaceKey(m.WorkspaceID)
	err := db.Retry(ctx, "change the suspension of a member", func(ctx context.Context) error {
		items, err := s.Projects.BatchGet(ctx, memberKey, workspaceKey, db.MembershipCountKey(m.UserID))
		if err != nil {
			return err
		}
		isWanted := workspace.IsSuspended(items[db.MembershipCountKey(m.UserID)])
		before, err := db.Decode[workspace.Membership](items[memberKey])
		if err != nil || items[memberKey] == nil || items[workspaceKey] == nil { // the user left, or the workspace has ended
			return err
		}
		if before.Suspended == suspended || isWanted != suspended { // another call was faster, or an operator changed it back
			return nil
		}
		writes := s.memberWrites(before, suspended)
		if suspended && before.Role.May(workspace.ManageWebhooks) {
			disabled, err := s.Webhooks.Disable(ctx, m.WorkspaceID, m.UserID, s.Clock())
			if err != nil {
				return err
			}
			writes = append(writes, disabled...)
		}
		if err := s.DB.Tx(writes...).CommitOnce(ctx); err != nil {
			return err
		}
		changed = true
		return nil
	})
	return changed, err
}

// memberWrites returns the writes that change a membership. Their conditions are that the role is the same, that the
// membership is not changed yet, and that the account is still in the state suspended.
func (s *Service) memberWrites(m workspace.Membership, suspended bool) []db.Write {
	mark, n := expression.Set(attrSuspended, expression.Value(true)), 1
	isUnchanged, isWanted := attrSuspended.AttributeNotExists(), attrSuspended.AttributeExists()
	if !suspended {
		mark, n = expression.Remove(attrSuspended), -1
		isUnchanged, isWanted = isWanted, isUnchanged
	}
	isUnchanged = isUnchanged.And(expression.Name("role").Equal(expression.Value(m.Role)))
	writes := []db.Write{
		s.Projects.Check(db.MembershipCountKey(m.UserID), isWanted),
		s.Projects.Update(db.MemberKey(m.WorkspaceID, m.UserID), mark).If(isUnchanged),
		s.Projects.Update(db.MembershipKey(m.UserID, m.WorkspaceID), mark).If(isUnchanged),
	}
	if m.Role == workspace.Owner {
		count := expression.Add(attrSuspendedOwners, expression.Value(n))
		writes = append(writes, s.Projects.Update(db.WorkspaceKey(m.WorkspaceID), count).If(s.Projects.Exists()))
	}
	return writes
}
