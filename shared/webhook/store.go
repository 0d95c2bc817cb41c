package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/workspace"
)

// store writes the settings of webhooks. delivery.Store reads them.
type store struct {
	delivery.Store
	workspace.Access
}

// pointer is the item by which a webhook is found if only its ID is known. It is created and deleted together with the
// webhook.
type pointer struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
}

// Attributes that are updated individually.
var (
	attrCount    = expression.Name("n")        // the number of webhooks of a workspace
	attrRevision = expression.Name("revision") // of a webhook or an account
)

// accountLimit is the limit of an account.
type accountLimit struct {
	workspaces []string // the IDs of the workspaces of the account
	webhooks   int      // the maximum number of webhooks in all of them together
}

// workspaceOf returns the workspace of a webhook. Error: db.ErrNotFound.
func (s store) workspaceOf(ctx context.Context, webhookID string) (string, error) {
	item, err := s.Table.Get(ctx, db.WebhookWorkspaceKey(webhookID))
	if err != nil {
		return "", err
	}
	p, err := db.Decode[pointer](item)
	return p.WorkspaceID, err
}

// create stores a webhook. Errors: errFull, errAccountFull, workspace.ErrDenied if the creator may no longer manage
// webhooks, workspace.ErrNotFound, workspace.ErrProjectNotFound.
//
// No item counts the webhooks of an account, because the count would have to change with the owners of workspaces.
// Instead, create adds the counts of all workspaces of the account. A concurrent creation in another workspace must not
// invalidate this sum. So every creation also changes the revision of the account. If the revision has changed since
// create read it, create reads the counts again.
func (s store) create(ctx context.Context, w delivery.Webhook, account accountLimit) error {
	belowLimit := attrCount.AttributeNotExists().Or(attrCount.LessThan(expression.Value(maxWebhooks)))
	writes := []db.Write{
		s.Allows(w.CreatedBy, w.WorkspaceID, workspace.ManageWebhooks), s.Exists(w.WorkspaceID),
	}
	if w.ProjectID != "" {
		writes = append(writes, s.ProjectExists(w.ProjectID))
	}
	writes = append(writes,
		s.Table.Update(
			db.WebhookCountKey(w.WorkspaceID), revocation.Activate(expression.Add(attrCount, expression.Value(1))),
		).If(belowLimit).Else(errFull),
		s.Table.Create(db.WebhookKey(w.WorkspaceID, w.ID), w),
		s.Table.Create(db.WebhookWorkspaceKey(w.ID), pointer{w.WorkspaceID}),
	)
	return db.Retry(ctx, "create webhook", func(ctx context.Context) error {
		unchanged, err := s.countAccount(ctx, w.AccountID, account)
		if err != nil {
			return err
		}
		tx := s.Client.Tx(writes...)
		tx.Add(unchanged)
		return tx.CommitOnce(ctx)
	})
}

// countAccount returns the write that increments the revision of an account. Its condition is that no other webhook of
// the account was created in the meantime. It makes two calls to storage. The revision must be read before the counts:
// then the condition fails if a webhook was created after the counts were read. Error: errAccountFull.
func (s store) countAccount(ctx context.Context, accountID string, limit accountLimit) (w db.Write, err error) {
	key := db.WebhookAccountKey(accountID)
	item, err := s.Table.Get(ctx, key)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return w, err
	}
	stored, err := db.Decode[struct {
		Revision int `dynamodbav:"revision"`
	}](item)
	if err != nil {
		return w, err
	}
	keys := make([]db.Key, len(limit.workspaces))
	for i, workspaceID := range limit.workspaces {
		keys[i] = db.WebhookCountKey(workspaceID)
	}
	items, err := s.Table.BatchGet(ctx, keys...)
	if err != nil {
		return w, err
	}
	total := 0
	for _, item := range items {
		count, err := db.Decode[struct {
			N int `dynamodbav:"n"`
		}](item)
		if err != nil {
			return w, err
		}
		total += count.N
	}
	if total >= limit.webhooks {
		return w, errAccountFull
	}
	unchanged := attrRevision.Equal(expression.Value(stored.Revision))
	if stored.Revision == 0 {
		unchanged = attrRevision.AttributeNotExists()
	}
	return s.Table.Update(key, expression.Add(attrRevision, expression.Value(1))).If(unchanged), nil
}

// delete deletes a webhook with its pointer, and decrements the count. Error: db.ErrNotFound.
func (s store) delete(ctx context.Context, workspaceID, webhookID string) error {
	err := s.Client.Tx(
		s.Table.Delete(db.WebhookKey(workspaceID, webhookID)).If(s.Table.Exists()).Else(db.ErrNotFound),
		s.Table.Delete(db.WebhookWorkspaceKey(webhookID)),
		s.Table.Update(db.WebhookCountKey(workspaceID), expression.Add(attrCount, expression.Value(-1))).
			If(attrCount.AttributeExists()),
	).Commit(ctx)
	if err != nil {
		return fmt.Errorf("deleting a webhook: %w", err)
	}
	return nil
}

// deleteOrphans deletes the webhooks of workspaces whose projects no longer exist. It reports whether there were any.
// Deleting a project does not delete its webhooks, so that its transaction stays small and the webhooks still receive
// the event of the deletion.
func (s store) deleteOrphans(ctx context.Context, workspaceIDs []string) (bool, error) {
	var deleted atomic.Bool
	group, groupCtx := async.WithContext(ctx)
	group.SetLimit(maxQueries)
	for _, workspaceID := range workspaceIDs {
		group.Go(func() error {
			orphans, err := s.orphans(groupCtx, workspaceID)
			if err != nil {
				return err
			}
			for _, webhookID := range orphans {
				if err := s.delete(groupCtx, workspaceID, webhookID); err != nil && !errors.Is(err, db.ErrNotFound) {
					return err
				}
				deleted.Store(true)
			}
			return nil
		})
	}
	err := group.Wait()
	return deleted.Load(), err
}

// orphans returns the IDs of the webhooks of a workspace whose projects no longer exist.
func (s store) orphans(ctx context.Context, workspaceID string) (ids []string, err error) {
	webhooks, _, err := s.Webhooks(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	var projects []db.Key
	for _, w := range webhooks {
		if w.ProjectID != "" {
			projects = append(projects, db.TreeKey(w.ProjectID))
		}
	}
	existing, err := s.Access.Projects.BatchGet(ctx, projects...)
	if err != nil {
		return nil, err
	}
	for _, w := range webhooks {
		if w.ProjectID != "" && existing[db.TreeKey(w.ProjectID)] == nil {
			ids = append(ids, w.ID)
		}
	}
	return ids, nil
}

// revise stores the next revision of the settings and returns the stored webhook. It changes the health only if the
// endpoint is a new one. Errors: workspace.ErrDenied if the revision activates the webhook and its new creator may no
// longer manage webhooks; db.ErrStale if the webhook was changed or deleted after it was read, or if the response to
// this write was lost. After a lost response, the caller's next try finds that the webhook already has the settings.
func (s store) revise(ctx context.Context, read, next delivery.Webhook) (delivery.Webhook, error) {
	var always []string // workers change these attributes without a new revision
	if next.Generation != read.Generation {
		always = append(always, "prompt", "window")
	}
	if next.Generation != read.Generation && next.Failures == 0 {
		always = append(always, "failures", "failingSince", "notBefore")
		if read.DueAt != nil { // deliveries wait: the retry job asks for a turn without the wait of the old endpoint
			next.DueAt = &next.UpdatedAt
		}
	}
	update, err := delivery.Changes(read, next, always...)
	if err != nil {
		return read, err
	}
	write := s.Table.Update(db.WebhookKey(read.WorkspaceID, read.ID), update).
		If(attrRevision.Equal(expression.Value(read.Revision)))
	if next.Active && !read.Active {
		return next, s.Client.Tx(
			s.Allows(next.CreatedBy, next.WorkspaceID, workspace.ManageWebhooks), write,
			s.Table.Update(db.WebhookCountKey(next.WorkspaceID), revocation.Activate(expression.UpdateBuilder{})),
		).CommitOnce(ctx)
	}
	item, err := s.Client.DoOnce(ctx, write)
	if err != nil {
		return read, err
	}
	return delivery.DecodeWebhook(item)
}
