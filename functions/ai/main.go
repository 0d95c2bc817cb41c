// Command ai is the Lambda function behind /api/ai. Its answers are streamed, so that none is cut at the gateway's 29 seconds.
package main

import (
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"devplatform/shared/api"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	cfg, err := config.Load[settings]()
	if err != nil {
		fail(logger, err)
	}
	handler, err := newHandler(cfg, clock.System, logger)
	if err != nil {
		fail(logger, err)
	}
	lambda.Start(api.LambdaStream(handler))
}

func fail(logger *slog.Logger, err error) {
	logger.Error("the function can't start", "error", err)
	os.Exit(1)
}
