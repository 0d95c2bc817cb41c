package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"time"

	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// Deps are what subscriptions are built on.
type Deps struct {
	DB       *db.Client
	Webhooks db.Table
	Projects db.Table    // workspaces and projects, which are only read here
	Queue    queue.Queue // of deliveries
	Keys     *config.Keys
	Cursors  *db.Cursors
	Sender   *sender.Sender
	IDs      *id.Generator
	Clock    clock.Clock
	Logger   *slog.Logger
	// AllowPrivate lets urls with http through. Only the local platform does.
	AllowPrivate bool
}

// Service is the endpoints of API.md §7: webhooks, and what can be seen and asked of their deliveries. Its methods answer with
// *fault.Error or an error of storage's classes. It is safe for concurrent use.
type Service struct {
	store        store
	places       places
	queue        queue.Queue
	sealer       sealer
	cursors      *db.Cursors
	sender       *sender.Sender
	limits       *limit.Counters
	ids          *id.Generator
	now          clock.Clock
	logger       *slog.Logger
	allowPrivate bool
}

// New builds subscriptions. It does no input or output.
func New(d Deps) *Service {
	return &Service{
		store: store{client: d.DB, webhooks: d.Webhooks}, places: places{d.Projects}, queue: d.Queue,
		sealer: sealer{d.Keys}, cursors: d.Cursors, sender: d.Sender, limits: limit.New(d.DB, d.Webhooks, d.Clock),
		ids: d.IDs, now: d.Clock, logger: d.Logger, allowPrivate: d.AllowPrivate,
	}
}

// maxDecisions is how often a change is decided anew when what it was decided on has changed meanwhile.
const maxDecisions = 8

// patient waits before the attempt-th decision anew, counted from 0; false if there were enough.
func patient(ctx context.Context, attempt int) bool {
	return attempt+1 < maxDecisions && awsclient.Sleep(ctx, awsclient.Jitter(attempt))
}

// newWebhook is what a webhook is made of.
type newWebhook struct {
	WorkspaceID, ProjectID *string // nil: see Service.settle
	URL                    string
	Events                 []string
	Secret                 *string // nil: one is made
	Description            string
	Active                 bool
}

// create makes a webhook. Its secret is answered, too, if it was made here, "" if not.
func (s *Service) create(ctx context.Context, in newWebhook) (w Webhook, made string, err error) {
	if err := checkURL(in.URL, s.allowPrivate); err != nil {
		return w, "", err
	}
	workspaceID, err := s.settle(ctx, in.WorkspaceID, in.ProjectID)
	if err != nil {
		return w, "", err
	}
	at := clock.Stamp(s.now())
	w = Webhook{
		ID: s.ids.New(id.Webhook), WorkspaceID: workspaceID, URL: in.URL, Events: in.Events, Description: in.Description,
		Active: in.Active, CreatedBy: httpapi.CallerFrom(ctx).UserID, CreatedAt: at, UpdatedAt: at, Revision: 1, Generation: 1,
	}
	if in.ProjectID != nil {
		w.ProjectID = *in.ProjectID
	}
	secret, made, err := secretOr(in.Secret)
	if err != nil {
		return w, "", err
	}
	if w.Secret, err = s.sealer.seal(ctx, w.ID, secret); err != nil {
		return w, "", err
	}
	err = s.store.create(ctx, w, s.places.projects)
	switch {
	case errors.Is(err, errNoRoom):
		err = errFull(maxWebhooks).WithCause(err)
	case errors.Is(err, db.ErrNotFound):
		err = errNoProject.WithCause(err)
	}
	return w, made, err
}

// secretOr is the secret that was sent, or else one that is made, which is the second answer, too.
func secretOr(sent *string) (secret, made string, err error) {
	if sent != nil {
		return *sent, "", nil
	}
	made, err = signature.NewSecret(rand.Reader)
	return made, made, err
}

// update changes what a webhook's owners can change; secret as applySecret says. What is as asked for already is not written again.
func (s *Service) update(ctx context.Context, webhookID string, in settings, secret httpapi.Nullable[string]) (w Webhook, made string, err error) {
	if in.URL != nil {
		if err := checkURL(*in.URL, s.allowPrivate); err != nil {
			return w, "", err
		}
	}
	text := ""
	if secret.Present {
		if text, made, err = secretOr(secret.Value); err != nil {
			return w, "", err
		}
	}
	for attempt := 0; ; attempt++ {
		if w, err = s.open(ctx, webhookID); err != nil {
			return w, "", err
		}
		now := s.now()
		next, changed := in.applied(w)
		if secret.Present {
			rotated := false
			if next, rotated, err = s.sealer.rotate(ctx, next, text, now); err != nil {
				return w, "", err
			}
			changed = changed || rotated
		}
		if !changed { // a secret that was made here is new, unless this very request has stored it
			return w, made, nil
		}
		stored, err := s.store.revise(ctx, w, next.revised(now))
		switch {
		case err == nil:
			return stored, made, nil
		case !errors.Is(err, errRevised):
			return w, "", err
		case !patient(ctx, attempt):
			return w, "", fault.ErrConflict.WithCause(err)
		}
	}
}

// remove deletes a webhook, one that can't be read, too. Nothing more is sent to it.
func (s *Service) remove(ctx context.Context, webhookID string) error {
	var place string
	err := s.beside(ctx, webhookID, func(_ context.Context, workspaceID string) error {
		place = workspaceID
		return nil
	})
	if err != nil {
		return err
	}
	err = s.store.deleteWebhook(ctx, place, webhookID)
	if errors.Is(err, db.ErrNotFound) {
		return errNoWebhook.WithCause(err)
	}
	return err
}

// Of tests, redeliveries and recoveries so many are allowed a webhook and window (API.md §7).
const (
	limitedTo   = 10
	limitWindow = time.Minute
)

// limited counts one more of an operation on a webhook. Error: RATE_LIMITED.
func (s *Service) limited(ctx context.Context, operation, webhookID string) error {
	return s.limits.Take(ctx, limit.Rule{Name: "webhook-" + operation, Limit: limitedTo, Window: limitWindow}, webhookID)
}

// signal sends the messages of deliveries that are due. One that is not sent is no failure: the retry job finds the delivery in the
// table within minutes.
func (s *Service) signal(ctx context.Context, deliveries ...Delivery) {
	if err := signal(ctx, s.queue, deliveries); err != nil {
		ids := make([]string, 0, len(deliveries))
		for i, d := range deliveries {
			if queue.FailedAt(err, i) != nil {
				ids = append(ids, d.ID)
			}
		}
		s.logger.ErrorContext(ctx, "deliveries are left to the retry job", "deliveries", slices.Clip(ids), "error", err)
	}
}
