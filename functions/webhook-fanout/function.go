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
)

// settings are what the function reads from its environment.
type settings struct {
	AWS     config.AWS
	Tables  config.WebhooksTable
	Metrics config.Metrics
	// Deliveries and Failures are the URLs of the queues that get the deliveries' messages and the records that make no sense.
	Deliveries string `env:"DELIVERIES_QUEUE,required,notEmpty"`
	Failures   string `env:"FAILURES_QUEUE,required,notEmpty"`
}

// newHandler puts the function together. It does no input or output.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.StreamHandler, error) {
	client, queues := db.New(cfg.AWS, now), queue.New(cfg.AWS)
	fanout := webhook.NewFanout(webhook.FanoutDeps{
		DB: client, Webhooks: client.Table(cfg.Tables.Webhooks), Deliveries: queues.Queue(cfg.Deliveries),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
	})
	return lambdafn.StreamBatch(logger, fanout.Handle, queues.Queue(cfg.Failures).Poison), nil
}
