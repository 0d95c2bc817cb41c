package delivery

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/id"
	"devplatform/shared/queue"
)

// message is a message in a queue: its group, which is the account, and its body.
//
// In the queue of the fast lane, it names a delivery that a worker should check. In the queue of the slow lane, it asks
// for a turn of an endpoint. Deliveries then contains the IDs of deliveries that the turn reads first, because the
// index may not contain them yet. The stored records determine what a worker does.
//
// In the queue of creations, it contains Events, and asks for the creation of their deliveries to Webhooks, which are
// webhooks of the workspace.
type message struct {
	AccountID   string     `json:"-"` // the message group; not set in a received message
	WorkspaceID string     `json:"workspaceId"`
	WebhookID   string     `json:"webhookId,omitempty"`
	DeliveryID  string     `json:"deliveryId,omitempty"` // in the fast lane
	Event       *eventRef  `json:"event,omitzero"`       // in the fast lane: the event of the delivery
	Deliveries  []string   `json:"deliveries,omitempty"`
	Webhooks    []string   `json:"webhooks,omitempty"`
	Events      []eventRef `json:"events,omitempty"`
}

// eventRef names an event of a workspace.
type eventRef struct {
	ID        string `json:"id"`
	ProjectID string `json:"projectId,omitempty"`
}

// message returns the message that names the delivery.
func (d Delivery) message() message {
	return message{
		AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, WebhookID: d.WebhookID, DeliveryID: d.ID,
		Event: &eventRef{d.EventID, d.ProjectID},
	}
}

// queueMessage returns the message for a queue. The messages of an account form a group, so that an account with many
// messages does not delay the messages of other accounts.
func (m message) queueMessage(delay time.Duration) queue.Message {
	body, _ := json.Marshal(m, jsontext.AllowInvalidUTF8(true)) // strings only: cannot fail
	return queue.Message{Body: string(body), Group: m.AccountID, Delay: delay}
}

// turnMessage returns the message that asks for a turn of the webhook's endpoint.
func (w Webhook) turnMessage(deliveries ...string) message {
	return message{
		AccountID: w.AccountID, WorkspaceID: w.WorkspaceID, WebhookID: w.ID,
		Deliveries: deliveries[:min(len(deliveries), maxWindow)],
	}
}

// errMessage reports that the body of a message is not valid. The error of the decoder is not returned, because it may
// quote the body.
var errMessage = errors.New("delivery: the message does not contain the IDs that its lane needs")

// parseMessage reads the body of a message of a lane. It ignores unknown fields.
func parseMessage(body string, l lane) (message, error) {
	var m message
	if json.Unmarshal([]byte(body), &m) != nil || !id.Workspace.Valid(m.WorkspaceID) {
		return message{}, errMessage
	}
	if l == slowLane && len(m.Events) > 0 {
		return m, nil // invalid IDs of events and webhooks match no record
	}
	if !id.Webhook.Valid(m.WebhookID) || l == fastLane && (m.Event == nil || !id.Delivery.Valid(m.DeliveryID)) {
		return message{}, errMessage
	}
	return m, nil
}
