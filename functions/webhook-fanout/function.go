// Command webhook-fanout is the Lambda function that reads the stream of events: it creates a delivery for each event
// and each webhook that subscribes to it.
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
	Metrics config.Metrics
	// Projects is the DynamoDB table with the records of workspaces.
	Projects string `env:"PROJECTS_TABLE,required,notEmpty"`
	// Deliveries is the URL of the queue of the fast lane.
	Deliveries string `env:"DELIVERIES_QUEUE,required,notEmpty"`
	// Creations is the URL of the queue of messages that ask for the creation of deliveries.
	Creations string `env:"CREATIONS_QUEUE,required,notEmpty"`
	// Failures is the URL of the queue for stream records that cannot be processed.
	Failures string `env:"FAILURES_QUEUE,required,notEmpty"`
}

// newHandler builds the function's handler. It does no I/O.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.StreamHandler, error) {
	client, queues := db.New(cfg.AWS, now), queue.New(cfg.AWS)
	fanout := delivery.NewFanout(delivery.Deps{
		Store: delivery.Store{
			Client: client, Table: client.Table(cfg.Tables.Webhooks), Projects: client.Table(cfg.Projects),
		},
		Fast: queues.Queue(cfg.Deliveries), Creations: queues.Queue(cfg.Creations),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now),
	})
	return lambdafn.StreamBatch(logger, fanout.Handle, queues.Queue(cfg.Failures).Poison), nil
}
