// Command webhook-test is the Lambda function behind POST /api/webhooks/{id}/test.
package main

import (
	"crypto/rand"
	"log/slog"
	"net/http"

	"devplatform/shared/account/session"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn/apigateway"
	"devplatform/shared/webhook"
	"devplatform/shared/webhook/sender"
)

func main() { apigateway.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS      config.AWS
	Tables   config.Tables
	Webhooks config.WebhooksTable
	Edge     config.Edge
	Metrics  config.Metrics
	// Keys is the name or ARN of the secret with the key ring.
	Keys   string `env:"KEYS_SECRET,required,notEmpty"`
	Limits webhook.Limits
	// AllowPrivate allows endpoints on private addresses and with plain http. Only the local platform sets it.
	AllowPrivate bool `env:"WEBHOOK_ALLOW_PRIVATE"`
}

// newHandler builds the function's handler. The slow parts are built in the background, while the function waits for
// its first event.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	keys := config.NewSecrets(cfg.AWS, cfg.Metrics, now, logger).Keys(cfg.Keys)
	return httpapi.Lazy(func() http.Handler {
		client := db.New(cfg.AWS, now)
		sessions := session.New(client, cfg.Tables, keys, now, logger)
		webhooks := webhook.New(webhook.Deps{ // without a queue and cursors: a test does not use them
			DB: client, Webhooks: client.Table(cfg.Webhooks.Webhooks), Projects: client.Table(cfg.Tables.Projects),
			Keys: keys, Sender: sender.New(sender.Options{AllowPrivate: cfg.AllowPrivate, Now: now}),
			IDs: id.NewGenerator(now, rand.Reader), Clock: now, Logger: logger, Limits: cfg.Limits,
			AllowPrivate: cfg.AllowPrivate,
		})
		return httpapi.NewRouter(httpapi.Config{
			Edge: cfg.Edge, Logger: logger, Auth: sessions, Clock: now,
		}, webhooks.RegisterTest)
	}), nil
}
