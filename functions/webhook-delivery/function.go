package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook"
	"devplatform/shared/webhook/sender"
)

// settings are what the function reads from its environment.
type settings struct {
	AWS     config.AWS
	Tables  config.WebhooksTable
	Metrics config.Metrics
	// Deliveries and Failures are the URLs of the queue that it works on, and of the one that gets messages that make no sense.
	Deliveries string `env:"DELIVERIES_QUEUE,required,notEmpty"`
	Failures   string `env:"FAILURES_QUEUE,required,notEmpty"`
	Keys       string `env:"KEYS_SECRET,required,notEmpty"`
	// AllowPrivate lets endpoints be on private addresses and plain http. Only the local platform does.
	AllowPrivate bool `env:"WEBHOOK_ALLOW_PRIVATE"`
}

// newHandler puts the function together. The key ring is fetched in the background: the function asks for its first messages
// meanwhile.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.QueueHandler, error) {
	keys := config.NewKeys(config.NewSecrets(cfg.AWS).Fetch(cfg.Keys), now)
	keys.Start()
	client, queues := db.New(cfg.AWS, now), queue.New(cfg.AWS)
	worker := webhook.NewWorker(webhook.WorkerDeps{
		DB: client, Webhooks: client.Table(cfg.Tables.Webhooks), Deliveries: queues.Queue(cfg.Deliveries), Failures: queues.Queue(cfg.Failures),
		Keys: keys, Sender: sender.New(sender.Options{AllowPrivate: cfg.AllowPrivate, Now: now}),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
	})
	return lambdafn.Queue(logger, worker.Handle), nil
}
