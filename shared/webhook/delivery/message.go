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

// message is the body of a message in the queue: the delivery to look at. The stored delivery says what to do with it.
type message struct {
	WorkspaceID string `json:"workspaceId"`
	WebhookID   string `json:"webhookId"`
	DeliveryID  string `json:"deliveryId"`
}

// message returns the message that names the delivery.
func (d Delivery) message() message { return message{d.WorkspaceID, d.WebhookID, d.ID} }

// queued returns the message for the queue. The messages of a webhook are a group, so that the queue holds back those
// of a busy webhook behind the others.
func (m message) queued(delay time.Duration) queue.Message {
	body, _ := json.Marshal(m, jsontext.AllowInvalidUTF8(true)) // three strings: cannot fail
	return queue.Message{Body: string(body), Group: m.WebhookID, Delay: delay}
}

// enqueue sends the messages of deliveries that are due now. queue.FailedAt returns the error of each from the error.
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

// parseMessage reads the body of a message. It ignores unknown fields. It returns an error if the message names no
// delivery.
func parseMessage(body string) (message, error) {
	var m message
	if json.Unmarshal([]byte(body), &m) != nil ||
		!id.Workspace.Valid(m.WorkspaceID) || !id.Webhook.Valid(m.WebhookID) || !id.Delivery.Valid(m.DeliveryID) {
		return message{}, errors.New("delivery: the message names no delivery") // the decoder's error may quote the body
	}
	return m, nil
}
