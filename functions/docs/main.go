// Command docs is the Lambda function behind /api/openapi.json and /api/docs. Its answers are streamed: API Gateway then passes
// compressed ones through as they are, with no binary media types configured, which would change what the other functions get.
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
