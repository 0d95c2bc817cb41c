package webhook

import (
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/webhook/delivery"
)

var tag = httpapi.Tag{
	Name: "Webhooks",
	Description: "Endpoints of yours that are told what happens in a workspace, each with the log of its deliveries. For the workspace's admins and owners. " +
		"What is sent, and how it is signed, is described under the document's webhooks.",
}

// Where an operation is answered.
const (
	webhooksPath   = "/api/webhooks"
	webhookPath    = webhooksPath + "/{id}"
	deliveriesPath = webhookPath + "/deliveries"
	deliveryPath   = deliveriesPath + "/{deliveryId}"
)

// Register adds the endpoints of webhooks and their deliveries.
func (s *Service) Register(h huma.API) {
	s.registerWebhooks(h)
	s.registerDeliveries(h)
}

// InWebhook are the inputs that begin with a webhook's id. (Exported for huma's sake, as every embedded struct.)
type InWebhook struct {
	WebhookID string `path:"id" doc:"The webhook's id" example:"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// InDelivery are the inputs that name a delivery.
type InDelivery struct {
	InWebhook
	DeliveryID string `path:"deliveryId" doc:"The delivery's id" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// pattern is what a webhook can subscribe to.
type pattern string

// Schema implements huma.SchemaProvider: one of the types, groups, or everything.
func (pattern) Schema(huma.Registry) *huma.Schema { return enumOf(event.Subscribable()) }

// testType is what a webhook can be tested with.
type testType string

// Schema implements huma.SchemaProvider: webhook.test, or one of the types.
func (testType) Schema(huma.Registry) *huma.Schema {
	types := []string{string(event.WebhookTest)}
	for _, p := range event.Subscribable() {
		if !strings.HasSuffix(p, event.Everything) {
			types = append(types, p)
		}
	}
	return enumOf(types)
}

func enumOf(values []string) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, value)
	}
	return schema
}

// secretText is a secret in a request: absent, null (one is to be made), or text.
type secretText struct {
	given bool
	text  *string // nil: null
}

// UnmarshalJSON implements json.Unmarshaler. It is not called for a field that is absent.
func (s *secretText) UnmarshalJSON(data []byte) error {
	s.given, s.text = true, nil
	switch jsontext.Value(data).Kind() {
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(data, &s.text) //nolint:wrapcheck // the edge words it
	default:
		return errors.New("webhook: neither text nor null")
	}
}

// Schema implements huma.SchemaProvider.
func (*secretText) Schema(huma.Registry) *huma.Schema {
	shortest, longest := 1, 256
	return &huma.Schema{Type: huma.TypeString, Nullable: true, MinLength: &shortest, MaxLength: &longest}
}

// WebhookItem is a webhook as its admins see it. (Exported for huma's sake.)
type WebhookItem struct {
	ID             string          `json:"id" doc:"The webhook's id" example:"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	URL            string          `json:"url" doc:"Where deliveries are sent" example:"https://example.com/hooks"`
	Events         []pattern       `json:"events" nullable:"false" doc:"The types of events that are delivered, groups of them, or * for all" example:"[\"project.*\",\"file.created\"]"`
	Active         bool            `json:"active" doc:"Whether events are delivered" example:"true"`
	Description    string          `json:"description" doc:"What its owners say about it" example:"Tells the build server."`
	WorkspaceID    string          `json:"workspaceId" doc:"The workspace whose events are delivered" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	ProjectID      *string         `json:"projectId" doc:"The only project whose events are delivered; null: all of the workspace" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	CreatedAt      clock.Timestamp `json:"createdAt" doc:"When it was made" example:"2026-01-31T08:15:30.123Z"`
	UpdatedAt      clock.Timestamp `json:"updatedAt" doc:"When its settings last changed" example:"2026-01-31T08:15:30.123Z"`
	LastDelivery   *lastDelivery   `json:"lastDelivery" doc:"The latest attempt, at most a minute late; null if there was none"`
	DisabledReason *string         `json:"disabledReason" doc:"Why the service switched it off; null if it did not" example:"the endpoint answered 410 Gone"`
}

// lastDelivery is what became of the latest attempt.
type lastDelivery struct {
	At     clock.Timestamp `json:"at" doc:"When it was made" example:"2026-01-31T08:15:30.123Z"`
	Status delivery.Status `json:"status" enum:"succeeded,failed" doc:"What came of it" example:"succeeded"`
}

// TransformSchema implements huma.SchemaTransformer: it may be null.
func (*lastDelivery) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

// WebhookWithSecret is a webhook in the one answer that tells a secret.
type WebhookWithSecret struct {
	WebhookItem
	Secret string `json:"secret,omitempty" doc:"The secret that the service has just made; it is not shown again. Absent if it made none" example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="`
}

func webhookItem(w delivery.Webhook) WebhookItem {
	item := WebhookItem{
		ID: w.ID, URL: w.URL, Events: make([]pattern, len(w.Events)), Active: w.Active, Description: w.Description,
		WorkspaceID: w.WorkspaceID, ProjectID: textOrNull(w.ProjectID), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		DisabledReason: textOrNull(w.DisabledReason),
	}
	for i, p := range w.Events {
		item.Events[i] = pattern(p)
	}
	if w.LastAt != nil {
		item.LastDelivery = &lastDelivery{At: *w.LastAt, Status: w.LastStatus}
	}
	return item
}

// textOrNull is null for no text.
func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
