// Command webhook-delivery is the Lambda function behind the queue of deliveries: it attempts them, and decides what becomes of each.
package main

import (
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"devplatform/shared/clock"
	"devplatform/shared/config"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	cfg, err := config.Load[settings]()
	if err != nil {
		logger.Error("the function can't start", "error", err)
		os.Exit(1)
	}
	lambda.Start(newHandler(cfg, clock.System, logger))
}
