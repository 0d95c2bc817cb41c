// Command webhook-retry is the Lambda function that a schedule starts every minute: it sends messages for deliveries
// that are due, and for deliveries whose message was lost.
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

func main() { lambdafn.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS     config.AWS
	Tables  config.WebhooksTable
	Queues  config.DeliveryQueues
	Metrics config.Metrics
}

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.ScheduleHandler, error) {
	client, queues := db.New(cfg.AWS, now), queue.New(cfg.AWS)
	job := delivery.NewRetryJob(delivery.Deps{
		Store: delivery.Store{Client: client, Table: client.Table(cfg.Tables.Webhooks)},
		Fast:  queues.Queue(cfg.Queues.Fast), Slow: queues.Queue(cfg.Queues.Slow),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
	})
	return lambdafn.Schedule(logger, job.Run), nil
}
