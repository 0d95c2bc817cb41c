// Command webhook-delivery is the Lambda function of the fast lane: it receives messages from the queue of deliveries,
// and sends each delivery to its endpoint.
package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/lambdafn"
	"devplatform/shared/webhook/delivery"
)

func main() { lambdafn.Start(newHandler) }

// settings are the environment variables of the function.
type settings = delivery.WorkerSettings

// newHandler builds the function's handler. It fetches the key ring in the background, while the function waits for its
// first messages.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.QueueHandler, error) {
	const noCreations = "" // only the slow lane creates deliveries
	worker := delivery.NewFastWorker(cfg.Deps(delivery.PromptTime, noCreations, now, logger))
	return lambdafn.Queue(logger, worker.Handle), nil
}
