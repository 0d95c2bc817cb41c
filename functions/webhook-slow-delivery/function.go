// Command webhook-slow-delivery is the Lambda function of the slow lane: it receives messages from CreationsQueue and
// SlowDeliveriesQueue, creates deliveries, and sends them to endpoints that are new, slow or failing.
package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
)

func main() { lambdafn.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	Worker delivery.WorkerSettings
	// Creations is the URL of the queue of messages that ask for the creation of deliveries.
	Creations string `env:"CREATIONS_QUEUE,required,notEmpty"`
}

// newHandler builds the function's handler. It fetches the key ring in the background, while the function waits for its
// first messages.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.QueueHandler, error) {
	worker := delivery.NewSlowWorker(cfg.Worker.Deps(sender.DefaultTimeout, cfg.Creations, now, logger))
	return lambdafn.Queue(logger, worker.Handle), nil
}
