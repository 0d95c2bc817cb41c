// Command webhooks is the Lambda function behind /api/webhooks.
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
		logger.Error("the function can't start", "error", err)
		os.Exit(1)
	}
	lambda.Start(api.Lambda(newHandler(cfg, clock.System, logger)))
}
