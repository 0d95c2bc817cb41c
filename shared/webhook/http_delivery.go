package webhook

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/workspace"
)

// callLimits describes the limits of tests, redeliveries and recoveries.
var callLimits = "The limits are " + strconv.Itoa(maxOperations) + " requests a minute for each webhook and " +
	strconv.Itoa(DefaultLimits().UserCalls) + " requests a minute for each user."

// registerDeliveries adds the endpoints of deliveries.
func (s *Service) registerDeliveries(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "listDeliveries", Method: http.MethodGet, Path: deliveriesPath, Tag: tag,
		Summary: "List a webhook's deliveries of the last 30 days",
		Description: "Returns the deliveries, newest event first. The default limit is 50. If status is set, a request " +
			"searches a limited number of deliveries: a page may be shorter than limit, or empty, although it has a nextCursor. " +
			"A delivery can appear later than its event if its endpoint is new, slow or failing, or if its workspace has many " +
			"deliveries.",
		Errors: []*fault.Error{errNoWebhook, workspace.ErrDenied},
	}, s.listDeliveries)
	httpapi.Private(r, httpapi.Operation{
		ID: "readDelivery", Method: http.MethodGet, Path: deliveryPath, Tag: tag,
		Summary: "Read a delivery with its payload", Description: "Every attempt sends exactly this payload, byte for byte.",
		Errors: []*fault.Error{errNoWebhook, errNoDelivery, workspace.ErrDenied},
	}, s.readDelivery)
	httpapi.Private(r, httpapi.Operation{
		ID: "redeliver", Method: http.MethodPost, Path: deliveryPath + "/redeliver", Tag: tag, Status: http.StatusAccepted,
		Summary: "Send a delivery again",
		Description: "Sends the delivery again. Its status does not matter, and the webhook does not have to be " +
			"active. If the attempt fails and the webhook is active, the delivery is retried like a new one. " +
			"The attempt does not wait for the next planned attempt to a failing endpoint. " + callLimits,
		Errors: []*fault.Error{fault.ErrConflict, errOften, errNoWebhook, errNoDelivery, workspace.ErrDenied},
	}, s.redeliver)
	httpapi.Private(r, httpapi.Operation{
		ID: "recoverDeliveries", Method: http.MethodPost, Path: webhookPath + "/recover", Tag: tag,
		Status: http.StatusAccepted, Summary: "Send the failed deliveries of a period again",
		Description: "Sends the deliveries of events from since to until again, oldest event first: deliveries that failed " +
			"and deliveries that wait for a retry after a failed attempt. Deliveries of test events are not sent again. " +
			"If the endpoint is failing, they wait for the next planned attempt. " +
			"Returns 409 if the webhook is not active. " + callLimits,
		Errors: []*fault.Error{
			errBadPeriod, errNoWebhook, workspace.ErrDenied, errInactive, errOften,
		},
	}, s.recoverDeliveries)
}

// RegisterTest adds the operation that tests a webhook. Another function serves it, because a test takes as long as an
// attempt: tests of receivers that hang cannot use up the capacity of the other operations.
func (s *Service) RegisterTest(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "testWebhook", Method: http.MethodPost, Path: webhookPath + "/test", Tag: tag,
		Summary: "Send an example event to a webhook",
		Description: "Returns the result of the attempt. A failed attempt is not retried. The webhook does not have to be " +
			"active. " + callLimits + " A user can have " + strconv.Itoa(DefaultLimits().UserTests) + " test in progress, and " +
			"a workspace " + strconv.Itoa(DefaultLimits().WorkspaceTests) + ".",
		Errors: []*fault.Error{
			errNoWebhook, workspace.ErrDenied, errOften,
			DefaultLimits().errUserTests().WithHeader("Retry-After", "29"),
			DefaultLimits().errWorkspaceTests().WithHeader("Retry-After", "29"),
		},
	}, s.testWebhook)
}

// InDelivery is embedded in the inputs of endpoints of one delivery.
type InDelivery struct {
	InWebhook
	DeliveryID string `path:"deliveryId" doc:"The delivery's ID" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// testType is a type of event that a webhook can be tested with.
type testType string

// Values implements httpapi.Enum: webhook.test and the event types.
func (testType) Values() []string {
	types := []string{string(event.WebhookTest)}
	for _, p := range event.Subscribable() {
		if !strings.HasSuffix(p, event.Everything) {
			types = append(types, p)
		}
	}
	return types
}

// DeliveryItem is a delivery in a response.
type DeliveryItem struct {
	ID            string           `json:"id" doc:"The delivery's ID. Every attempt sends it in the X-Service-Delivery header" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	EventID       string           `json:"eventId" doc:"The event's ID" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Type          string           `json:"type" doc:"The event's type" example:"file.created"`
	Status        delivery.Status  `json:"status" enum:"pending,succeeded,failed" doc:"The state of the delivery" example:"succeeded"`
	Attempts      []AttemptItem    `json:"attempts" nullable:"false" doc:"The latest 50 finished attempts, oldest first. An attempt that was aborted after two seconds, to be repeated with 15 seconds, is not included"`
	NextAttemptAt *clock.Timestamp `json:"nextAttemptAt" nullable:"true" doc:"The earliest time of the next attempt; null unless pending" example:"2026-01-31T08:15:35.123Z"`
	Reason        string           `json:"reason,omitempty" doc:"Why the delivery failed, if it failed without an attempt" example:"the webhook is not active"`
}

// AttemptItem is an attempt in a response.
type AttemptItem struct {
	At         clock.Timestamp `json:"at" doc:"When the attempt began" example:"2026-01-31T08:15:30.123Z"`
	StatusCode *int            `json:"statusCode" doc:"The status of the response; null if there was none" example:"200"`
	DurationMs int             `json:"durationMs" doc:"The duration of the attempt in milliseconds" example:"87"`
	Error      *string         `json:"error" doc:"Why the attempt failed; null if it succeeded" example:"no complete response within 15 s"`
	Response   *string         `json:"response" doc:"The beginning of the response body, at most 1 KiB; null if there was no response" example:"ok"`
}

// attemptItem returns the response form of an attempt.
func attemptItem(a delivery.Attempt) AttemptItem {
	item := AttemptItem{At: a.At, DurationMs: a.DurationMs, Error: textOrNull(a.Error)}
	if a.StatusCode != 0 {
		item.StatusCode, item.Response = &a.StatusCode, &a.Response
	}
	return item
}

// deliveryItem returns the response form of a delivery.
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

// sentPayload is an event exactly as it is sent. Its type may be one that the event feed does not contain.
type sentPayload event.Text

// MarshalJSON implements json.Marshaler. The payload is already JSON.
func (p sentPayload) MarshalJSON() ([]byte, error) { return []byte(p), nil }

type deliveryListInput struct {
	InWebhook
	httpapi.PageInput
	Status delivery.Status `query:"status" enum:"pending,succeeded,failed" doc:"Only deliveries in this state" example:"failed"`
}

type deliveryListOutput struct {
	Body struct {
		Deliveries []DeliveryItem `json:"deliveries" nullable:"false" doc:"The deliveries, newest event first"`
		NextCursor string         `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent on the last one"`
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
		Type testType `json:"type,omitempty" doc:"The event type of the example; webhook.test if absent" example:"file.created"`
	}
}

type testOutput struct {
	Body struct {
		AttemptItem
		DeliveryID string `json:"deliveryId" doc:"The delivery that contains the attempt" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	}
}

type recoverInput struct {
	InWebhook
	Body struct {
		Since time.Time  `json:"since" doc:"Only deliveries of events that occurred at or after this time" example:"2026-01-31T08:00:00Z"`
		Until *time.Time `json:"until,omitempty" nullable:"false" doc:"Only deliveries of events that occurred at or before this time. The default is the current time" example:"2026-01-31T09:00:00Z"`
	}
}

// Validate checks the order of the times.
func (in *recoverInput) Validate(v *httpapi.Validation) {
	if in.Body.Until != nil && in.Body.Until.Before(in.Body.Since) {
		v.Field("until", untilRule)
	}
}

type recoverOutput struct {
	Body struct {
		Count        int              `json:"count" doc:"The number of deliveries that are sent again" example:"12"`
		ContinueFrom *clock.Timestamp `json:"continueFrom,omitempty" nullable:"false" doc:"Present if the request reached its time limit before it processed all deliveries: send another request with this time as since. Absent if it processed all deliveries" example:"2026-01-31T08:20:00.000Z"`
	}
}

// listDeliveries returns a page of the deliveries of a webhook, newest first. See delivery.Log.List.
func (s *Service) listDeliveries(
	ctx context.Context, caller httpapi.Caller, in *deliveryListInput,
) (*deliveryListOutput, error) {
	scope := httpapi.ListScope(caller, "deliveries", in.WebhookID, string(in.Status))
	after, err := s.cursors.Open(ctx, scope, in.Cursor)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(in.Limit, httpapi.DefaultLimit)
	var deliveries []delivery.Delivery
	var last string
	err = s.readIfAllowed(ctx, caller, in.WebhookID, workspace.ReadWebhooks, func(string) (err error) {
		deliveries, last, err = s.log.List(ctx, in.WebhookID, in.Status, after, limit+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	now, items := s.now(), make([]DeliveryItem, len(deliveries))
	for i, d := range deliveries {
		items[i] = deliveryItem(d, now)
	}
	out := &deliveryListOutput{}
	out.Body.Deliveries, out.Body.NextCursor, err = httpapi.CutPage(ctx, s.cursors, scope, items, limit,
		func(item DeliveryItem) string { return item.ID })
	if err == nil && out.Body.NextCursor == "" && last != "" { // filtered by status: the log has more deliveries
		out.Body.NextCursor, err = s.cursors.Seal(ctx, scope, last)
	}
	return out, err
}

// readDelivery returns a delivery with the event as it is sent.
func (s *Service) readDelivery(
	ctx context.Context, caller httpapi.Caller, in *InDelivery,
) (*deliveryReadOutput, error) {
	d, err := s.deliveryFor(ctx, caller, in, workspace.ReadWebhooks)
	if err != nil {
		return nil, err
	}
	out := &deliveryReadOutput{}
	out.Body.DeliveryItem, out.Body.Payload = deliveryItem(d, s.now()), sentPayload(d.Payload)
	return out, nil
}

// redeliver sends a delivery again. See delivery.Log.Redeliver.
func (s *Service) redeliver(ctx context.Context, caller httpapi.Caller, in *InDelivery) (*deliveryOutput, error) {
	d, err := s.deliveryFor(ctx, caller, in, workspace.ManageWebhooks)
	if err != nil {
		return nil, err
	}
	if _, err := s.counters.Count(ctx, s.callCounters("redeliver", caller, in.WebhookID)...); err != nil {
		return nil, err
	}
	if d, err = s.log.Redeliver(ctx, d); err != nil {
		return nil, deliveryError(err)
	}
	return &deliveryOutput{deliveryItem(d, s.now())}, nil
}

// recoverDeliveries sends deliveries again: those that failed or wait after a failed attempt, and whose events occurred
// between since and until. See delivery.Log.Recover. Error: errInactive.
func (s *Service) recoverDeliveries(
	ctx context.Context, caller httpapi.Caller, in *recoverInput,
) (*recoverOutput, error) {
	until := s.now()
	if in.Body.Until != nil {
		until = *in.Body.Until
	}
	w, err := s.webhookFor(ctx, caller, in.WebhookID, workspace.ManageWebhooks)
	if err != nil {
		return nil, err
	}
	if !w.Active {
		return nil, errInactive
	}
	if _, err := s.counters.Count(ctx, s.callCounters("recover", caller, in.WebhookID)...); err != nil {
		return nil, err
	}
	recovery, err := s.log.Recover(ctx, in.WebhookID, in.Body.Since, until)
	if err != nil {
		return nil, err
	}
	out := &recoverOutput{}
	out.Body.Count, out.Body.ContinueFrom = recovery.Count, recovery.ContinueFrom
	return out, nil
}

// testWebhook sends an example event to a webhook and returns the only attempt of its delivery. See delivery.Log.Test.
func (s *Service) testWebhook(ctx context.Context, caller httpapi.Caller, in *testInput) (*testOutput, error) {
	kind := event.WebhookTest
	if in.Body != nil && in.Body.Type != "" {
		kind = event.Type(in.Body.Type)
	}
	w, err := s.webhookFor(ctx, caller, in.WebhookID, workspace.ManageWebhooks)
	if err != nil {
		return nil, err
	}
	test, err := s.counters.Begin(ctx, s.testsInProgress(caller, w), s.callCounters("test", caller, in.WebhookID)...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := test.End(ctx); err != nil {
			s.logger.WarnContext(ctx, "a test counts as in progress until its lease expires",
				"webhook", w.ID, "cause", err.Error())
		}
	}()
	now, e := s.now(), event.Record{ID: s.ids.New(id.Event), Type: kind}
	e.Payload, err = event.Example(kind, event.ExampleValues{
		EventID: e.ID, At: now, Actor: workspace.ActorOf(caller),
		WorkspaceID: w.WorkspaceID, ProjectID: w.ProjectID, Webhook: event.Webhook{ID: w.ID, URL: w.URL},
	})
	if err != nil {
		return nil, err
	}
	d, err := s.log.Test(ctx, w, e, now)
	if err != nil {
		return nil, err
	}
	out := &testOutput{}
	out.Body.AttemptItem, out.Body.DeliveryID = attemptItem(d.Attempts[0]), d.ID
	return out, nil
}

// deliveryFor reads a delivery of a webhook with which the caller may do an action.
func (s *Service) deliveryFor(
	ctx context.Context, caller httpapi.Caller, in *InDelivery, action workspace.Action,
) (d delivery.Delivery, err error) {
	err = s.readIfAllowed(ctx, caller, in.WebhookID, action, func(string) (err error) {
		d, err = s.log.Read(ctx, in.WebhookID, in.DeliveryID)
		return err
	})
	return d, deliveryError(err)
}

// deliveryError turns db.ErrNotFound into errNoDelivery.
func deliveryError(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return errNoDelivery.WithCause(err)
	}
	return err
}

// testsInProgress returns the limits of the tests that the caller and the webhook's workspace have in progress.
func (s *Service) testsInProgress(caller httpapi.Caller, w delivery.Webhook) []limit.Operations {
	ofUser := limit.OperationRule{
		Name: "webhook-test-user", Limit: s.limits.UserTests, Lease: testLease, Full: s.limits.errUserTests(),
	}
	ofWorkspace := limit.OperationRule{
		Name: "webhook-test-workspace", Limit: s.limits.WorkspaceTests, Lease: testLease,
		Full: s.limits.errWorkspaceTests(),
	}
	return []limit.Operations{
		s.counters.Operations(ofUser, caller.UserID), s.counters.Operations(ofWorkspace, w.WorkspaceID),
	}
}

// callCounters returns the counters of an operation on a webhook: the counters of the webhook and of the caller.
func (s *Service) callCounters(operation string, caller httpapi.Caller, webhookID string) []limit.Counter {
	ofWebhook := limit.Rule{Name: "webhook-" + operation, Limit: maxOperations, Window: limitWindow}
	ofUser := limit.Rule{Name: "webhook-" + operation + "-user", Limit: s.limits.UserCalls, Window: limitWindow}
	return []limit.Counter{s.counters.Counter(ofWebhook, webhookID), s.counters.Counter(ofUser, caller.UserID)}
}
