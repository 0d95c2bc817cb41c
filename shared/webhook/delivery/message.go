package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/id"
	"devplatform/shared/queue"
)

// message is the body of a message in the queue. It names a delivery that the worker should check. The stored delivery
// determines what the worker does.
type message struct {
	WorkspaceID string `json:"workspaceId"`
	WebhookID   string `json:"webhookId"`
	DeliveryID  string `json:"deliveryId"`
}

// message returns the message that names the delivery.
func (d Delivery) message() message { return message{d.WorkspaceID, d.WebhookID, d.ID} }

// queued returns the message for the queue. The messages of a webhook form a group, so that a webhook with many
// messages does not delay the messages of other webhooks.
func (m message) queued(delay time.Duration) queue.Message {
	body, _ := json.Marshal(m, jsontext.AllowInvalidUTF8(true)) // three strings: cannot fail
	return queue.Message{Body: string(body), Group: m.WebhookID, Delay: delay}
}

// enqueue sends the messages of deliveries that are due now. If some messages were not sent, queue.FailedAt returns the
// error of each.
func enqueue(ctx context.Context, q queue.Queue, deliveries []Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	messages := make([]queue.Message, len(deliveries))
	for i, d := range deliveries {
		messages[i] = d.message().queued(0)
	}
	return q.Send(ctx, messages...)
}

// parseMessage reads the body of a message. It ignores unknown fields. It returns an error if the message does not
// contain the IDs of a delivery.
func parseMessage(body string) (message, error) {
	var m message
	if json.Unmarshal([]byte(body), &m) != nil ||
		!id.Workspace.Valid(m.WorkspaceID) || !id.Webhook.Valid(m.WebhookID) || !id.Delivery.Valid(m.DeliveryID) {
		// The error of the decoder is not returned, because it may quote the body.
		return message{}, errors.New("delivery: the message does not contain the IDs of a delivery")
	}
	return m, nil
}
