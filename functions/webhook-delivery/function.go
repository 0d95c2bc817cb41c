package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
)

// settings are the environment variables of the function.
type settings struct {
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

// newHandler builds the function's handler. It fetches the key ring in the background, while the function waits for its
// first messages.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.QueueHandler, error) {
	keys := config.NewKeys(config.NewSecrets(cfg.AWS).Fetch(cfg.Keys), now)
	keys.Start()
	client, queues := db.New(cfg.AWS, now), queue.New(cfg.AWS)
	worker := delivery.NewFastWorker(delivery.WorkerDeps{
		Deps: delivery.Deps{
			DB: client, Webhooks: client.Table(cfg.Tables.Webhooks), Events: client.Table(cfg.Events.Events),
			Fast: queues.Queue(cfg.Queues.Fast), Slow: queues.Queue(cfg.Queues.Slow),
			Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
		},
		Failures: queues.Queue(cfg.Failures), Keys: keys,
		Sender: sender.New(sender.Options{AllowPrivate: cfg.AllowPrivate, Now: now, Timeout: delivery.PromptTime}),
	})
	return lambdafn.Queue(logger, worker.Handle), nil
}
