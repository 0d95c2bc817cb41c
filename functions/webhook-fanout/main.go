// Command webhook-fanout is the Lambda function behind the stream of events: it makes deliveries of them, one for each webhook that
// wants to be told.
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
