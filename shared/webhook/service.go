// Package webhook manages webhooks, which are subscriptions to events, and their secrets. It implements the operations
// of the API with which users manage and test webhooks, list deliveries, and send deliveries again. Package delivery
// delivers the events and defines the records that both packages store. Package delivery must not depend on this
// package or on the users of the API and their rights.
package webhook

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

// Deps are the dependencies of Service.
type Deps struct {
	DB       *db.Client
	Webhooks db.Table
	Projects db.Table    // workspaces and projects; only read
	Events   db.Table    // only read
	Queue    queue.Queue // of the fast lane of deliveries; testWebhook does not use it
	Keys     *config.Keys
	Cursors  *db.Cursors
	Sender   *sender.Sender // only testWebhook uses it
	IDs      *id.Generator
	Clock    clock.Clock
	Logger   *slog.Logger
	Limits   Limits
	// AllowPrivate accepts http URLs. Only the local platform sets it.
	AllowPrivate bool
}

// Service implements the endpoints of webhooks and their deliveries. Its methods return *fault.Error, or an error of
// storage. It is safe for concurrent use.
type Service struct {
	store        store
	log          delivery.Log
	secrets      delivery.Secrets
	cursors      *db.Cursors
	limits       Limits
	counters     *limit.Counters
	ids          *id.Generator
	now          clock.Clock
	logger       *slog.Logger
	allowPrivate bool
}

// New returns a service. It does no I/O.
func New(d Deps) *Service {
	records := delivery.Store{Client: d.DB, Table: d.Webhooks, Events: d.Events, Projects: d.Projects}
	secrets := delivery.Secrets{Keys: d.Keys}
	return &Service{
		store: store{records, workspace.Access{Projects: d.Projects}}, secrets: secrets,
		log: delivery.Log{
			Store: records, Fast: d.Queue, Secrets: secrets, Sender: d.Sender, Clock: d.Clock, Logger: d.Logger,
		},
		cursors: d.Cursors, limits: d.Limits, counters: limit.New(d.DB, d.Webhooks, d.Clock), ids: d.IDs, now: d.Clock,
		logger: d.Logger, allowPrivate: d.AllowPrivate,
	}
}
