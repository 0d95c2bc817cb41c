// Command auth is the Lambda function behind /api/auth.
package main

import (
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"devplatform/shared/account"
	"devplatform/shared/api"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	cfg, err := config.Load[account.Config]()
	if err != nil {
		fail(logger, err)
	}
	handler, err := account.Function(cfg, clock.System, logger)
	if err != nil {
		fail(logger, err)
	}
	lambda.Start(api.Lambda(handler))
}

func fail(logger *slog.Logger, err error) {
	logger.Error("the function can't start", "error", err)
	os.Exit(1)
}
