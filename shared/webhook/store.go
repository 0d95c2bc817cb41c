package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/workspace"
)

// store writes the settings of webhooks. delivery.Store reads them.
type store struct {
	delivery.Store
	access workspace.Access
}

// pointer is the item by which a webhook is found if only its ID is known. It is created and deleted together with the
// webhook.
type pointer struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
}

// attrCount is the number of webhooks of a workspace.
var attrCount = expression.Name("n")

// workspaceOf returns the workspace of a webhook. Error: db.ErrNotFound.
func (s store) workspaceOf(ctx context.Context, webhookID string) (string, error) {
	item, err := s.Table.Get(ctx, db.WebhookWorkspaceKey(webhookID))
	if err != nil {
		return "", err
	}
	p, err := db.Decode[pointer](item)
	return p.WorkspaceID, err
}

// create stores a webhook. Errors: errFull, workspace.ErrProjectNotFound.
func (s store) create(ctx context.Context, w delivery.Webhook) error {
	record, err := db.Encode(w)
	if err != nil {
		return err
	}
	place, err := db.Encode(pointer{w.WorkspaceID})
	if err != nil {
		return err
	}
	belowLimit := attrCount.AttributeNotExists().Or(attrCount.LessThan(expression.Value(maxWebhooks)))
	writes := []db.Write{
		s.Table.Update(db.WebhookCountKey(w.WorkspaceID), expression.Add(attrCount, expression.Value(1))).If(belowLimit),
		s.Table.Create(db.WebhookKey(w.WorkspaceID, w.ID), record),
		s.Table.Create(db.WebhookWorkspaceKey(w.ID), place),
	}
	if w.ProjectID != "" {
		writes = append(writes, s.access.ProjectExists(w.ProjectID))
	}
	err = s.Client.Transact(ctx, writes...)
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, 3):
		return workspace.ErrProjectNotFound.WithCause(err)
	case db.FailedAt(err, 0):
		return errFull.WithCause(err)
	}
	return fmt.Errorf("creating a webhook: %w", err)
}

// delete deletes a webhook with its pointer, and decrements the count. Error: db.ErrNotFound.
func (s store) delete(ctx context.Context, workspaceID, webhookID string) error {
	err := s.Client.Transact(ctx,
		s.Table.Delete(db.WebhookKey(workspaceID, webhookID)).If(s.Table.Exists()),
		s.Table.Delete(db.WebhookWorkspaceKey(webhookID)),
		s.Table.Update(db.WebhookCountKey(workspaceID), expression.Add(attrCount, expression.Value(-1))).
			If(attrCount.AttributeExists()),
	)
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, 0):
		return db.ErrNotFound
	}
	return fmt.Errorf("deleting a webhook: %w", err)
}

// deleteOrphans deletes the webhooks of a workspace whose projects do not exist any more. Deleting a project does not
// delete its webhooks, so that its transaction stays small and the webhooks still receive the event of the deletion.
// Error: errFull if there are no such webhooks.
func (s store) deleteOrphans(ctx context.Context, workspaceID string) error {
	webhooks, _, err := s.Webhooks(ctx, workspaceID)
	if err != nil {
		return err
	}
	var projects []db.Key
	for _, w := range webhooks {
		if w.ProjectID != "" {
			projects = append(projects, db.TreeKey(w.ProjectID))
		}
	}
	existing, err := s.access.Projects.BatchGet(ctx, projects...)
	if err != nil {
		return err
	}
	result := error(errFull)
	for _, w := range webhooks {
		if w.ProjectID == "" || existing[db.TreeKey(w.ProjectID)] != nil {
			continue
		}
		if err := s.delete(ctx, workspaceID, w.ID); err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
		result = nil
	}
	return result
}

// revise stores the next revision of the settings and returns the stored webhook. It changes the health only if the
// endpoint is a new one. Error: db.ErrStale if the webhook was changed or deleted after it was read, or if the response
// to this write was lost. If it was lost, the caller's next try finds that the webhook already has the settings.
func (s store) revise(ctx context.Context, read, next delivery.Webhook) (delivery.Webhook, error) {
	update := expression.Set(expression.Name("url"), expression.Value(next.URL)).
		Set(expression.Name("events"), expression.Value(next.Events)).
		Set(expression.Name("description"), expression.Value(next.Description)).
		Set(expression.Name("active"), expression.Value(next.Active)).
		Set(expression.Name("secret"), expression.Value(next.Secret)).
		Set(expression.Name("previous"), expression.Value(storedSecrets(next.Previous))).
		Set(expression.Name("updatedAt"), expression.Value(next.UpdatedAt.String())).
		Set(expression.Name("revision"), expression.Value(next.Revision)).
		Set(expression.Name("generation"), expression.Value(next.Generation))
	if next.Generation != read.Generation {
		update = update.Remove(expression.Name("prompt"))
	}
	if next.Generation != read.Generation && next.Failures == 0 {
		for _, attribute := range []string{"failures", "failingSince", "notBefore"} {
			update = update.Remove(expression.Name(attribute))
		}
	}
	if next.DisabledReason == "" { // if the service had set it in the meantime, the revision would differ
		update = update.Remove(expression.Name("disabledReason"))
	}
	write := s.Table.Update(db.WebhookKey(read.WorkspaceID, read.ID), update).
		If(expression.Name("revision").Equal(expression.Value(read.Revision)))
	item, err := s.Client.DoOnce(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return read, fmt.Errorf("%w: %w", db.ErrStale, err)
	}
	if err != nil {
		return read, err
	}
	return db.Decode[delivery.Webhook](item)
}

// storedSecrets returns replaced secrets in their stored form. The encoder of expressions cannot encode timestamps.
func storedSecrets(secrets []delivery.PreviousSecret) []map[string]string {
	stored := make([]map[string]string, len(secrets))
	for i, previous := range secrets {
		stored[i] = map[string]string{"sealed": previous.Sealed, "until": previous.Until.String()}
	}
	return stored
}
