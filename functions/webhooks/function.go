// Command webhooks is the Lambda function behind /api/webhooks.
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
	"devplatform/shared/queue"
	"devplatform/shared/webhook"
)

func main() { apigateway.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS      config.AWS
	Tables   config.Tables
	Webhooks config.WebhooksTable
	Events   config.EventsTable
	Edge     config.Edge
	Metrics  config.Metrics
	// Keys is the name or ARN of the secret with the key ring.
	Keys string `env:"KEYS_SECRET,required,notEmpty"`
	// Deliveries is the URL of the queue of the fast lane of deliveries.
	Deliveries string `env:"DELIVERIES_QUEUE,required,notEmpty"`
	Limits     webhook.Limits
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
		webhooks := webhook.New(webhook.Deps{
			DB: client, Webhooks: client.Table(cfg.Webhooks.Webhooks), Projects: client.Table(cfg.Tables.Projects),
			Events: client.Table(cfg.Events.Events), Queue: queue.New(cfg.AWS).Queue(cfg.Deliveries), Keys: keys,
			Cursors: db.NewCursors(keys), IDs: id.NewGenerator(now, rand.Reader), Clock: now, Logger: logger,
			Limits: cfg.Limits, AllowPrivate: cfg.AllowPrivate,
		})
		return httpapi.NewRouter(httpapi.Config{
			Edge: cfg.Edge, Logger: logger, Auth: sessions, Clock: now,
		}, webhooks.Register)
	}), nil
}
