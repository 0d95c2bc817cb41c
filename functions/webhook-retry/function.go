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
)

// settings are the environment variables of the function.
type settings struct {
	AWS     config.AWS
	Tables  config.WebhooksTable
	Metrics config.Metrics
	// Deliveries is the URL of the queue that receives the messages of deliveries.
	Deliveries string `env:"DELIVERIES_QUEUE,required,notEmpty"`
}

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.ScheduleHandler, error) {
	client := db.New(cfg.AWS, now)
	job := delivery.NewRetryJob(delivery.Deps{
		DB: client, Webhooks: client.Table(cfg.Tables.Webhooks), Queue: queue.New(cfg.AWS).Queue(cfg.Deliveries),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
	})
	return lambdafn.Schedule(logger, job.Run), nil
}
