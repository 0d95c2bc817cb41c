// Package lambdafn runs functions on AWS Lambda: it starts them, and adapts their handlers to the events of DynamoDB
// streams, SQS queues and schedules. HTTP handlers have an adapter in the subpackage apigateway, so that functions
// without endpoints do not link HTTP code. Business logic does not belong here.
package lambdafn

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/aws/aws-lambda-go/lambda"

	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// Start reads the function's settings from the environment, builds its handler and serves events. It does not return.
// If the settings are invalid or build fails, Start logs the error and exits with code 1. Handler is a type that
// lambda.Start accepts.
func Start[Settings, Handler any](build func(Settings, clock.Clock, *slog.Logger) (Handler, error)) {
	logger := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(logger)
	limitHeap(os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	settings, err := config.Load[Settings]()
	if err != nil {
		fail(logger, err)
	}
	handler, err := build(settings, clock.System, logger)
	if err != nil {
		fail(logger, err)
	}
	lambda.Start(handler)
}

// limitHeap makes the garbage collector run more often when the heap nears the memory of the function, in MB.
// Otherwise, the heap grows to five times the live data (GOGC in template.yaml), and Lambda would end the function
// after a request that needs much memory. A function whose processes share the memory sets a lower limit itself.
func limitHeap(memory string) {
	const percent = 70 // the rest is for the program itself, stacks, and allocations while the collector runs
	if mb, err := strconv.ParseInt(memory, 10, 64); err == nil && mb > 0 {
		debug.SetMemoryLimit(mb << 20 / 100 * percent)
	}
}

func fail(logger *slog.Logger, err error) {
	logger.Error("the function cannot start", "error", err) // the local platform shows the attribute error
	os.Exit(1)
}
