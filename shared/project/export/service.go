package export

import (
	"context"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table
	Bucket   objectstore.Bucket
	// Send sends a message with a message group to the queue of the worker.
	Send   func(ctx context.Context, body, group string) error
	Clock  clock.Clock
	Logger *slog.Logger
	// HourlyLimit is the number of exports that a user can start in one hour.
	HourlyLimit int
}

// Service starts exports and returns their state. Its methods return a *fault.Error or an error of package db. It is
// safe for concurrent use.
type Service struct {
	store    store
	bucket   objectstore.Bucket
	send     func(ctx context.Context, body, group string) error
	counters *limit.Counters
	rule     limit.Rule
	now      clock.Clock
	logger   *slog.Logger
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		store: newStore(d.DB, d.Projects), bucket: d.Bucket, send: d.Send,
		counters: limit.New(d.DB, d.Projects, d.Clock), now: d.Clock, logger: d.Logger,
		rule: limit.Rule{Name: "exports", Limit: d.HourlyLimit, Window: time.Hour},
	}
}
