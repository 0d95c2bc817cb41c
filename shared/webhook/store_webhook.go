package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// What a write of a webhook may find in its way.
var (
	errNoRoom  = errors.New("webhook: the workspace is full")
	errRevised = errors.New("webhook: changed meanwhile")
)

// webhookPlace finds a webhook by its id alone. It is made and deleted with the webhook.
type webhookPlace struct {
	WorkspaceID string `dynamodbav:"workspaceId"`
}

// attrCount is how many webhooks a workspace has.
var attrCount = expression.Name("n")

// workspaceOf is the workspace that a webhook is in. Error: db.ErrNotFound.
func (s store) workspaceOf(ctx context.Context, webhookID string) (string, error) {
	item, err := s.webhooks.Get(ctx, db.WebhookPlaceKey(webhookID))
	if err != nil {
		return "", err
	}
	place, err := db.Decode[webhookPlace](item)
	return place.WorkspaceID, err
}

// create makes a webhook in a workspace that has room for it; one of a project, while there is the project.
// Errors: errNoRoom, db.ErrNotFound (the project).
func (s store) create(ctx context.Context, w Webhook, projects db.Table) error {
	record, err := db.Encode(w)
	if err != nil {
		return err
	}
	place, err := db.Encode(webhookPlace{w.WorkspaceID})
	if err != nil {
		return err
	}
	writes := []db.Write{
		s.webhooks.Update(db.WebhookCountKey(w.WorkspaceID), expression.Add(attrCount, expression.Value(1))).
			If(attrCount.AttributeNotExists().Or(attrCount.LessThan(expression.Value(maxWebhooks)))),
		s.webhooks.Create(db.WebhookKey(w.WorkspaceID, w.ID), record),
		s.webhooks.Create(db.WebhookPlaceKey(w.ID), place),
	}
	if w.ProjectID != "" {
		writes = append(writes, projects.Check(db.TreeKey(w.ProjectID), projects.Exists()))
	}
	err = s.client.Transact(ctx, writes...)
	switch {
	case err == nil:
		return nil
	case db.FailedAt(err, 3):
		return db.ErrNotFound
	case db.FailedAt(err, 0):
		return errNoRoom
	}
	return fmt.Errorf("creating a webhook: %w", err)
}

// deleteWebhook removes a webhook with what finds and counts it. Error: db.ErrNotFound.
func (s store) deleteWebhook(ctx context.Context, workspaceID, webhookID string) error {
	err := s.client.Transact(ctx,
		s.webhooks.Delete(db.WebhookKey(workspaceID, webhookID)).If(s.webhooks.Exists()),
		s.webhooks.Delete(db.WebhookPlaceKey(webhookID)),
		s.webhooks.Update(db.WebhookCountKey(workspaceID), expression.Add(attrCount, expression.Value(-1))).
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

// revise stores the next revision of a webhook's settings, and answers with the webhook as it is then: its health is left to the
// pipeline, unless it begins anew with another generation. Errors: errRevised, also when there is no such webhook any more, and when the
// answer to this very write was lost: whoever decides again finds that nothing is left to change.
func (s store) revise(ctx context.Context, read, next Webhook) (Webhook, error) {
	set := expression.Set(expression.Name("url"), expression.Value(next.URL)).
		Set(expression.Name("events"), expression.Value(next.Events)).
		Set(expression.Name("description"), expression.Value(next.Description)).
		Set(expression.Name(attrActive), expression.Value(next.Active)).
		Set(expression.Name("secret"), expression.Value(next.Secret)).
		Set(expression.Name("previous"), expression.Value(storedSecrets(next.Previous))).
		Set(expression.Name(attrUpdatedAt), expression.Value(next.UpdatedAt.String())).
		Set(expression.Name(attrRevision), expression.Value(next.Revision)).
		Set(expression.Name(attrGeneration), expression.Value(next.Generation))
	if next.Generation != read.Generation {
		for _, forgotten := range []string{attrTimeouts, attrFailures, attrFailingSince, attrProbeUntil, attrProbeBy} {
			set = set.Remove(expression.Name(forgotten))
		}
	}
	if next.DisabledReason == "" { // nobody else can have set it: that is a revision, too
		set = set.Remove(expression.Name(attrDisabledReason))
	}
	write := s.webhooks.Update(db.WebhookKey(read.WorkspaceID, read.ID), set).
		If(expression.Name(attrRevision).Equal(expression.Value(read.Revision)))
	item, err := s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return Webhook{}, errRevised
	}
	if err != nil {
		return Webhook{}, err
	}
	return db.Decode[Webhook](item)
}

// storedSecrets are replaced secrets as they are stored. The expressions' encoder knows no timestamps.
func storedSecrets(secrets []oldSecret) []map[string]string {
	stored := make([]map[string]string, len(secrets))
	for i, old := range secrets {
		stored[i] = map[string]string{"sealed": old.Sealed, "until": old.Until.String()}
	}
	return stored
}

// shownAttributes are what a list shows of a delivery. Payloads, which can be long, are not.
var shownAttributes = []string{"id", "eventId", "type", "status", "attempts", "nextAttemptAt", "reason"}

const (
	// statusCalls and statusPage bound the work of a page of one status: so many calls, of so many deliveries each.
	statusCalls = 5
	statusPage  = 100
)

// deliveriesOf are deliveries of a webhook, newest first, behind one of them if after is not "", at most limit. With a status it
// looks for so long as is reasonable; seen is then the last that it looked at, "" if there are no more behind.
func (s store) deliveriesOf(ctx context.Context, webhookID string, status Status, after string, limit int) (all []Delivery, seen string, _ error) {
	prefix := db.DeliveriesOf(webhookID)
	q := db.Query{Prefix: prefix, After: prefix.After(after), Limit: limit, Descending: true, Only: shownAttributes}
	calls := 1
	if status != "" {
		q.Limit, calls = max(limit, statusPage), statusCalls
	}
	for range calls {
		page, err := s.webhooks.Query(ctx, q)
		if err != nil {
			return nil, "", err
		}
		found, err := db.DecodeAll[Delivery](page.Items)
		if err != nil {
			return nil, "", err
		}
		for _, d := range found {
			if status == "" || d.Status == status {
				all = append(all, d)
			}
			if len(all) == limit {
				return all, d.ID, nil
			}
		}
		if page.Next.IsZero() {
			return all, "", nil
		}
		q.After = page.Next
	}
	return all, prefix.Rest(q.After), nil
}

// deliveriesSince are deliveries of a webhook behind a position, oldest first, and whether there may be more.
func (s store) deliveriesSince(ctx context.Context, webhookID, after string, limit int) (all []Delivery, more bool, _ error) {
	prefix := db.DeliveriesOf(webhookID)
	page, err := s.webhooks.Query(ctx, db.Query{Prefix: prefix, After: prefix.After(after), Limit: limit})
	if err != nil {
		return nil, false, err
	}
	all, err = db.DecodeAll[Delivery](page.Items)
	return all, !page.Next.IsZero() && len(all) > 0, err
}
