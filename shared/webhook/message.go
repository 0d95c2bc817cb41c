package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/id"
	"devplatform/shared/queue"
)

// message is what the queue of deliveries carries: which delivery to look at. What to do with it, the table says.
type message struct {
	WorkspaceID string `json:"workspaceId"`
	WebhookID   string `json:"webhookId"`
	DeliveryID  string `json:"deliveryId"`
}

// message is the signal to look at the delivery.
func (d Delivery) message() message { return message{d.WorkspaceID, d.WebhookID, d.ID} }

// queued is the message as it is sent. A webhook's messages are a group, so that a busy one is held back behind the others.
func (m message) queued(delay time.Duration) queue.Message {
	body, _ := json.Marshal(m, jsontext.AllowInvalidUTF8(true)) // three texts: there is nothing that could fail
	return queue.Message{Body: string(body), Group: m.WebhookID, Delay: delay}
}

// signal sends the messages of deliveries that are due now. Error: Send's, of which queue.FailedAt tells whose message was not sent.
func signal(ctx context.Context, q queue.Queue, deliveries []Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	messages := make([]queue.Message, len(deliveries))
	for i, d := range deliveries {
		messages[i] = d.message().queued(0)
	}
	return q.Send(ctx, messages...)
}

// parseMessage reads a message's body. What it does not know is ignored; error: it names no delivery.
func parseMessage(body string) (message, error) {
	var m message
	if json.Unmarshal([]byte(body), &m) != nil ||
		!id.Workspace.Valid(m.WorkspaceID) || !id.Webhook.Valid(m.WebhookID) || !id.Delivery.Valid(m.DeliveryID) {
		return message{}, errors.New("webhook: the message names no delivery") // the decoder's error may quote
	}
	return m, nil
}
