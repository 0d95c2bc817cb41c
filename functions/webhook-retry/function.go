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
	// Deliveries is the URL of the queue that gets the deliveries' messages.
	Deliveries string `env:"DELIVERIES_QUEUE,required,notEmpty"`
}

// newHandler puts the function together. It does no input or output.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.ScheduleHandler, error) {
	client := db.New(cfg.AWS, now)
	job := webhook.NewRetryJob(webhook.RetryJobDeps{
		DB: client, Webhooks: client.Table(cfg.Tables.Webhooks), Deliveries: queue.New(cfg.AWS).Queue(cfg.Deliveries),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
	})
	return lambdafn.Schedule(logger, job.Run), nil
}
