package webhook

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/workspace"
)

// DeliveryItem is a delivery as the admins of its webhook see it. (Exported for huma's sake.)
type DeliveryItem struct {
	ID            string           `json:"id" doc:"The delivery's id, the same in every attempt's X-Service-Delivery" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	EventID       string           `json:"eventId" doc:"The event's id" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Type          string           `json:"type" doc:"The event's type" example:"file.created"`
	Status        delivery.Status  `json:"status" enum:"pending,succeeded,failed" doc:"Where it stands" example:"succeeded"`
	Attempts      []AttemptItem    `json:"attempts" nullable:"false" doc:"The attempts that are over, oldest first; the latest 50"`
	NextAttemptAt *clock.Timestamp `json:"nextAttemptAt" nullable:"true" doc:"When the next attempt is planned; null unless pending" example:"2026-01-31T08:15:35.123Z"`
	Reason        string           `json:"reason,omitempty" doc:"Why it failed, where no attempt says so" example:"the webhook is not active"`
}

// AttemptItem is one attempt. (Exported for huma's sake.)
type AttemptItem struct {
	At         clock.Timestamp `json:"at" doc:"When it began" example:"2026-01-31T08:15:30.123Z"`
	StatusCode *int            `json:"statusCode" doc:"The answer's status; null if there was none" example:"200"`
	DurationMs int             `json:"durationMs" doc:"How long it took, in milliseconds" example:"87"`
	Error      *string         `json:"error" doc:"Why it failed, for people; null if it did not" example:"no complete answer within 15 s"`
	Response   *string         `json:"response" doc:"The beginning of the answer's body, at most 1 KiB; null if there was no answer" example:"ok"`
}

func attemptItem(a delivery.Attempt) AttemptItem {
	item := AttemptItem{At: a.At, DurationMs: a.DurationMs, Error: textOrNull(a.Error)}
	if a.StatusCode != 0 {
		item.StatusCode, item.Response = &a.StatusCode, &a.Response
	}
	return item
}

func deliveryItem(d delivery.Delivery, now time.Time) DeliveryItem {
	item := DeliveryItem{
		ID: d.ID, EventID: d.EventID, Type: string(d.Type), Status: d.Status, Attempts: []AttemptItem{},
		NextAttemptAt: d.NextAttemptAt, Reason: d.Reason,
	}
	for _, a := range d.FinishedAttempts(now) {
		item.Attempts = append(item.Attempts, attemptItem(a))
	}
	return item
}

// sentPayload is an event as it is sent, byte for byte. Unlike those of the feed it may be of any type.
type sentPayload event.Text

// MarshalJSON implements json.Marshaler: it is JSON already.
func (p sentPayload) MarshalJSON() ([]byte, error) { return []byte(p), nil }

// Schema implements huma.SchemaProvider.
func (sentPayload) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

type deliveryListInput struct {
	InWebhook
	httpapi.PageInput
	Status delivery.Status `query:"status" enum:"pending,succeeded,failed" doc:"Only those that stand there" example:"failed"`
}

type deliveryListOutput struct {
	Body struct {
		Deliveries []DeliveryItem `json:"deliveries" nullable:"false" doc:"Newest event first"`
		NextCursor string         `json:"nextCursor,omitempty" doc:"Leads on to the next page; absent on the last one"`
	}
}

type deliveryOutput struct{ Body DeliveryItem }

type deliveryReadOutput struct {
	Body struct {
		DeliveryItem
		Payload sentPayload `json:"payload" doc:"The event as it is sent, byte for byte"`
	}
}

type testInput struct {
	InWebhook
	Body *struct {
		Type testType `json:"type,omitempty" doc:"What to send an example of; webhook.test if absent" example:"file.created"`
	}
}

type testOutput struct {
	Body struct {
		AttemptItem
		DeliveryID string `json:"deliveryId" doc:"The delivery in whose log the attempt is" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

type recoverInput struct {
	InWebhook
	Body struct {
		Since time.Time  `json:"since" doc:"The time of the first event to send again" example:"2026-01-31T08:00:00Z"`
		Until *time.Time `json:"until,omitempty" nullable:"false" doc:"The time of the last one; now if absent" example:"2026-01-31T09:00:00Z"`
	}
}

// Resolve implements huma.Resolver: the rule that a schema can't word.
func (in *recoverInput) Resolve(huma.Context) []error {
	if in.Body.Until != nil && in.Body.Until.Before(in.Body.Since) {
		return []error{fault.Field("until", "must not be before since")}
	}
	return nil
}

type recoverOutput struct {
	Body struct {
		Count        int              `json:"count" doc:"How many deliveries are sent again" example:"12"`
		ContinueFrom *clock.Timestamp `json:"continueFrom,omitempty" nullable:"false" doc:"There may be more than one request has time for: go on with this as since. Absent if all was done" example:"2026-01-31T08:20:00.000Z"`
	}
}

var (
	deliveryErrors = []*fault.Error{errNoWebhook, errNoDelivery, workspace.ErrDenied}
	// errOften is what too many tests, redeliveries and recoveries are answered with.
	errOften = limit.ErrTooMany.WithHeader("Retry-After", "40")
)

// registerDeliveries adds the calls on deliveries.
func (s *Service) registerDeliveries(h huma.API) {
	httpapi.Register(h, httpapi.Operation{
		ID: "listDeliveries", Method: http.MethodGet, Path: deliveriesPath, Tag: tag, Session: true,
		Summary:     "A webhook's deliveries of the last 30 days",
		Description: "Newest event first, 50 unless limit says otherwise. With status a request looks at some hundreds of deliveries: a page may have fewer than limit, or none, and nextCursor all the same.",
		Errors:      []*fault.Error{errNoWebhook, workspace.ErrDenied},
		Examples:    listDeliveriesExamples,
	}, s.handleDeliveries)
	httpapi.Register(h, httpapi.Operation{
		ID: "readDelivery", Method: http.MethodGet, Path: deliveryPath, Tag: tag, Session: true,
		Summary: "A delivery with its payload", Description: "The payload is what every attempt sends, byte for byte.",
		Errors:   deliveryErrors,
		Examples: readDeliveryExamples,
	}, s.handleDelivery)
	httpapi.Register(h, httpapi.Operation{
		ID: "redeliver", Method: http.MethodPost, Path: deliveryPath + "/redeliver", Tag: tag, Session: true, Status: http.StatusAccepted,
		Summary:     "Send a delivery again",
		Description: "Whatever its status, and whether or not the webhook is active; if that fails and the webhook is active, it is tried again as a new delivery is. At most 10 a minute a webhook.",
		Errors:      append([]*fault.Error{fault.ErrConflict, errOften}, deliveryErrors...),
		Examples:    redeliverExamples,
	}, s.handleRedeliver)
	httpapi.Register(h, httpapi.Operation{
		ID: "recoverDeliveries", Method: http.MethodPost, Path: webhookPath + "/recover", Tag: tag, Session: true, Status: http.StatusAccepted,
		Summary:     "Send again what failed in a span of time",
		Description: "Every delivery whose event happened from since to until, and that has failed or waits after a failed attempt. Tests are left out. The webhook must be active, else 409. At most 10 a minute a webhook.",
		Errors:      []*fault.Error{fault.Invalid(fault.Field("until", "must not be before since")), errNoWebhook, workspace.ErrDenied, errInactive, errOften},
	}, s.handleRecover)
	httpapi.Register(h, httpapi.Operation{
		ID: "testWebhook", Method: http.MethodPost, Path: webhookPath + "/test", Tag: tag, Session: true,
		Summary:     "Send an example now",
		Description: "Answers with the attempt, whatever came of it; it is not repeated. Works on webhooks that are not active, too. At most 10 a minute a webhook.",
		Errors:      []*fault.Error{errNoWebhook, workspace.ErrDenied, errOften},
		Examples:    testExamples,
	}, s.handleTest)
}

func (s *Service) handleDeliveries(ctx context.Context, in *deliveryListInput) (*deliveryListOutput, error) {
	scope := httpapi.ListScope(ctx, "deliveries", in.WebhookID, string(in.Status))
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(in.Limit, defaultLimit)
	page, next, err := s.Deliveries(ctx, httpapi.CallerFrom(ctx), in.WebhookID, in.Status, after, limit+1)
	if err != nil {
		return nil, err
	}
	now, items := s.now(), make([]DeliveryItem, len(page))
	for i, d := range page {
		items[i] = deliveryItem(d, now)
	}
	if n := httpapi.Fit(items, limit); n < len(items) {
		items, next = items[:n], items[n-1].ID
	}
	out := &deliveryListOutput{}
	out.Body.Deliveries = items
	if next != "" {
		out.Body.NextCursor, err = s.cursors.Seal(ctx, scope, next)
	}
	return out, err
}

func (s *Service) handleDelivery(ctx context.Context, in *InDelivery) (*deliveryReadOutput, error) {
	d, err := s.Delivery(ctx, httpapi.CallerFrom(ctx), in.WebhookID, in.DeliveryID)
	if err != nil {
		return nil, err
	}
	out := &deliveryReadOutput{}
	out.Body.DeliveryItem, out.Body.Payload = deliveryItem(d, s.now()), sentPayload(d.Payload)
	return out, nil
}

func (s *Service) handleRedeliver(ctx context.Context, in *InDelivery) (*deliveryOutput, error) {
	d, err := s.Redeliver(ctx, httpapi.CallerFrom(ctx), in.WebhookID, in.DeliveryID)
	if err != nil {
		return nil, err
	}
	return &deliveryOutput{deliveryItem(d, s.now())}, nil
}

func (s *Service) handleRecover(ctx context.Context, in *recoverInput) (*recoverOutput, error) {
	until := s.now()
	if in.Body.Until != nil {
		until = *in.Body.Until
	}
	done, err := s.Recover(ctx, httpapi.CallerFrom(ctx), in.WebhookID, in.Body.Since, until)
	if err != nil {
		return nil, err
	}
	out := &recoverOutput{}
	out.Body.Count, out.Body.ContinueFrom = done.Count, done.ContinueFrom
	return out, nil
}

func (s *Service) handleTest(ctx context.Context, in *testInput) (*testOutput, error) {
	kind := event.WebhookTest
	if in.Body != nil && in.Body.Type != "" {
		kind = event.Type(in.Body.Type)
	}
	d, err := s.Test(ctx, httpapi.CallerFrom(ctx), in.WebhookID, kind)
	if err != nil {
		return nil, err
	}
	out := &testOutput{}
	out.Body.AttemptItem, out.Body.DeliveryID = attemptItem(d.Attempts[0]), d.ID
	return out, nil
}
