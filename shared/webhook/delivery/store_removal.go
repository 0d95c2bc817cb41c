package delivery

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/removal"
)

// Remover removes the webhooks and deliveries of workspaces that have ended. It is safe for concurrent use.
type Remover struct {
	Webhooks db.Table
	Deleter  removal.Deleter
}

// Remove removes all webhooks of a workspace with their deliveries. A webhook is deleted after its deliveries, which
// can only be found through it. Errors: the errors of storage.
func (r Remover) Remove(ctx context.Context, workspaceID string) error {
	prefix := db.WebhooksOf(workspaceID)
	for page, err := range r.Webhooks.Pages(ctx, db.Query{Prefix: prefix, KeysOnly: true}) {
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			key := db.KeyOf(item)
			if _, err := r.Deleter.DeleteAll(ctx, r.Webhooks, db.WebhookPartition(prefix.Rest(key)), nil); err != nil {
				return err
			}
			if err := r.Deleter.Delete(ctx, r.Webhooks, key); err != nil {
				return err
			}
		}
	}
	return r.Deleter.Delete(ctx, r.Webhooks, db.WebhookCountKey(workspaceID))
}
