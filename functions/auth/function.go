// Command auth is the Lambda function that serves /api/auth.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"devplatform/shared/account"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn/apigateway"
	"devplatform/shared/mail"
	"devplatform/shared/objectstore"
	"devplatform/shared/queue/signal"
)

func main() { apigateway.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS    config.AWS
	Tables config.Tables
	// Keys is the name or ARN of the secret with the key ring.
	Keys string `env:"KEYS_SECRET,required,notEmpty"`
	// CodeHostSecret is the name or ARN of the secret whose field oauthClientSecret is the client secret at the code host.
	// Its field proxySecret is the secret of a CDN.
	CodeHostSecret string `env:"CODEHOST_SECRET,required,notEmpty"`
	Edge           config.Edge
	Metrics        config.Metrics
	Limits         attempt.Limits
	Mail           mail.Settings
	OAuth          oauth.Config
	Bucket         config.FilesBucket
	// Jobs is the URL of the queue of exports.
	Jobs string `env:"JOBS_QUEUE,required,notEmpty"`
	// ClientAddressHeader is the header in which a CDN in front of the gateway sends the client's address, "" if there is
	// none.
	ClientAddressHeader string `env:"CLIENT_ADDRESS_HEADER"`
}

// newHandler builds the function's handler. It returns an error if a setting is invalid. The keys are fetched and the
// service is built in the background, while the function waits for its first event.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	secrets := config.NewSecrets(cfg.AWS, cfg.Metrics, now, logger)
	credentials := secrets.Credentials(cfg.CodeHostSecret)
	provider, err := newProvider(cfg.OAuth, credentials.Field("oauthClientSecret"))
	if err != nil {
		return nil, err
	}
	keys := secrets.Keys(cfg.Keys)
	proxy := httpapi.Proxy{AddressHeader: cfg.ClientAddressHeader, Secret: credentials.Field("proxySecret").Get}
	return httpapi.Lazy(func() http.Handler {
		return proxy.Handler(account.New(account.Deps{
			DB: db.New(cfg.AWS, now), Tables: cfg.Tables, Keys: keys, Provider: provider,
			IDs: id.NewGenerator(now, rand.Reader), Clock: now, Logger: logger, Limits: cfg.Limits,
			Mail: cfg.Mail, Edge: cfg.Edge,
			Bucket: objectstore.New(cfg.AWS).Bucket(cfg.Bucket.Files), Send: signal.New(cfg.AWS, cfg.Jobs, now).Send,
		}).Router())
	}), nil
}

// newProvider returns the code host that cfg describes, or nil if none is configured. The client secret is read from
// Secrets Manager unless the environment contains it.
func newProvider(cfg oauth.Config, clientSecret *config.Credential) (*oauth.Provider, error) {
	if !cfg.Enabled() {
		return nil, nil // sign-in with a code host is optional
	}
	if cfg.ClientSecret == "" {
		cfg.Secret = func(ctx context.Context) (string, error) {
			secret, err := clientSecret.Get(ctx)
			if err == nil && secret == "" {
				err = errors.New("the secret of the code host has no field oauthClientSecret")
			}
			return secret, err
		}
	}
	provider, err := oauth.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("sign-in with a code host: %w", err)
	}
	return provider, nil
}
