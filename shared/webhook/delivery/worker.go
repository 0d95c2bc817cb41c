package delivery

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
)

// Deps are the dependencies of Fanout, Worker and RetryJob.
type Deps struct {
	DB       *db.Client
	Webhooks db.Table
	Queue    queue.Queue // of deliveries
	Clock    clock.Clock
	Logger   *slog.Logger
	Metrics  *metric.Metrics
}

// WorkerDeps are the dependencies of Worker.
type WorkerDeps struct {
	Deps
	Failures queue.Queue // receives the messages that cannot be handled
	Keys     *config.Keys
	Sender   *sender.Sender
}

// Worker attempts deliveries. See Worker.Handle.
type Worker struct {
	store    Store
	queue    queue.Queue
	failures queue.Queue
	secrets  func(context.Context, Webhook, time.Time) ([]string, error)
	send     func(context.Context, sender.Request) sender.Result
	now      clock.Clock
	logger   *slog.Logger
	metrics  *metric.Metrics
	jitter   func() float64 // random, from -1 to 1
}

// NewWorker returns a worker. It does no I/O.
func NewWorker(d WorkerDeps) *Worker {
	return &Worker{
		store: Store{Client: d.DB, Table: d.Webhooks}, queue: d.Queue, failures: d.Failures,
		secrets: Secrets{d.Keys}.Live, send: d.Sender.Send, now: d.Clock, logger: d.Logger, metrics: d.Metrics,
		jitter: func() float64 { return 2*rand.Float64() - 1 }, //nolint:gosec // jitter needs no secure random numbers
	}
}

// endingBefore returns a context whose deadline is the deadline of ctx minus reserve.
func endingBefore(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}

// reject moves a message that cannot be handled to the failure queue.
func (w *Worker) reject(ctx context.Context, m lambdafn.QueueMessage, reason error) error {
	w.logger.ErrorContext(ctx, "message cannot be handled", "messageId", m.ID, "cause", reason.Error())
	return w.failures.PoisonMessage(ctx, m.ID, m.Body, reason)
}
