package delivery

import (
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
)

// WorkerSettings are the environment variables of the functions of both lanes.
type WorkerSettings struct {
	AWS     config.AWS
	Tables  config.WebhooksTable
	Events  config.EventsTable
	Queues  config.DeliveryQueues
	Metrics config.Metrics
	// Failures is the URL of the queue for messages that cannot be parsed.
	Failures string `env:"FAILURES_QUEUE,required,notEmpty"`
	Keys     string `env:"KEYS_SECRET,required,notEmpty"`
	// AllowPrivate allows endpoints on private addresses and with plain http. Only the local platform sets it.
	AllowPrivate bool `env:"WEBHOOK_ALLOW_PRIVATE"`
}

// Deps returns the dependencies of a worker. timeout is the time limit of an attempt; 0 is 15 s. creations is the URL
// of the queue Creations, which only SlowWorker uses. Deps fetches the key ring in the background.
func (s WorkerSettings) Deps(
	timeout time.Duration, creations string, now clock.Clock, logger *slog.Logger,
) WorkerDeps {
	client, queues := db.New(s.AWS, now), queue.New(s.AWS)
	return WorkerDeps{
		Deps: Deps{
			DB: client, Webhooks: client.Table(s.Tables.Webhooks), Events: client.Table(s.Events.Events),
			Fast: queues.Queue(s.Queues.Fast), Slow: queues.Queue(s.Queues.Slow), Creations: queues.Queue(creations),
			Clock: now, Logger: logger, Metrics: metric.New(logger, s.Metrics.Namespace, now),
		},
		Failures: queues.Queue(s.Failures), Keys: config.NewSecrets(s.AWS, s.Metrics, now, logger).Keys(s.Keys),
		Sender: sender.New(sender.Options{AllowPrivate: s.AllowPrivate, Now: now, Timeout: timeout}),
	}
}
