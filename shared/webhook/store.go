package webhook

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/db"
)

// store keeps webhooks and their deliveries.
type store struct {
	client   *db.Client
	webhooks db.Table
}

// errMoved says that a delivery is not what it was when it was read: somebody else has moved it.
var errMoved = errors.New("webhook: the delivery was moved by another")

// webhook reads a webhook of a workspace. Error: db.ErrNotFound.
func (s store) webhook(ctx context.Context, workspaceID, webhookID string) (Webhook, error) {
	item, err := s.webhooks.Get(ctx, db.WebhookKey(workspaceID, webhookID))
	if err != nil {
		return Webhook{}, err
	}
	return db.Decode[Webhook](item)
}

// delivery reads a delivery. Error: db.ErrNotFound.
func (s store) delivery(ctx context.Context, webhookID, deliveryID string) (Delivery, error) {
	item, err := s.webhooks.Get(ctx, db.DeliveryKey(webhookID, deliveryID))
	if err != nil {
		return Delivery{}, err
	}
	return db.Decode[Delivery](item)
}

// add stores a new delivery, and reports false if it is there already, in whatever state.
func (s store) add(ctx context.Context, d Delivery) (bool, error) {
	d.Version, d.Writer = 1, rand.Text()
	item, err := db.Encode(d)
	if err != nil {
		return false, err
	}
	_, err = s.client.Do(ctx, s.webhooks.Create(db.DeliveryKey(d.WebhookID, d.ID), item))
	if errors.Is(err, db.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}

// save stores the next version of a delivery and answers with it. Error: errMoved, if the version before is not there
// any more.
func (s store) save(ctx context.Context, d Delivery) (Delivery, error) {
	read := d.Version
	d.Version, d.Writer = read+1, rand.Text()
	item, err := db.Encode(d)
	if err != nil {
		return d, err
	}
	write := s.webhooks.Put(db.DeliveryKey(d.WebhookID, d.ID), item).
		If(expression.Name("version").Equal(expression.Value(read))).
		Mine(func(stored db.Item) bool {
			writer, _ := stored["writer"].(*types.AttributeValueMemberS)
			return writer != nil && writer.Value == d.Writer
		})
	_, err = s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return d, errMoved
	}
	return d, err
}
