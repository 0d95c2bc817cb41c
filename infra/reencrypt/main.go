// Command reencrypt encrypts the secrets of webhooks with the current key of the key ring, so that the other keys can
// be removed from the ring. It can be interrupted and repeated. RUNBOOK.md describes when to use it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/webhook/delivery"
)

// settings are the environment variables of the command.
type settings struct {
	AWS      config.AWS
	Webhooks config.WebhooksTable
	// Keys is the name or ARN of the secret with the key ring.
	Keys string `env:"KEYS_SECRET,required,notEmpty"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "reencrypt:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cfg, err := config.Load[settings]()
	if err != nil {
		return err
	}
	if cfg.AWS.AccessKeyID == "" {
		return errors.New(`no credentials: run eval "$(aws configure export-credentials --format env)"`)
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	sdk := dynamodb.New(dynamodb.Options{
		Region:       cfg.AWS.Region,
		Credentials:  awsclient.Credentials(cfg.AWS),
		BaseEndpoint: awsclient.Endpoint(cfg.AWS.DynamoDBEndpoint, cfg.AWS.Endpoint),
		HTTPClient:   awsclient.HTTP(),
		Retryer:      awsclient.Retryer(),
	})
	keys := config.NewSecrets(cfg.AWS, config.Metrics{}, clock.System, logger).Keys(cfg.Keys)
	client := db.Wrap(sdk, clock.System)
	result, err := command{
		sdk: sdk, table: cfg.Webhooks.Webhooks, client: client, webhooks: client.Table(cfg.Webhooks.Webhooks),
		secrets: delivery.Secrets{Keys: keys}, now: clock.System,
	}.run(ctx)
	if err != nil {
		return err
	}
	return result.print(os.Stdout)
}
