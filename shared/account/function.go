package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// Config is what the auth function reads from its environment.
type Config struct {
	AWS     config.AWS
	Tables  config.Tables
	Secrets config.SecretNames
	Edge    config.Edge
	Limits  Limits
	OAuth   oauth.Config
}

// Function builds the auth function. It checks the configuration and leaves everything that takes time to the
// background: the function asks for its first event meanwhile.
func Function(cfg Config, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	if err := cfg.Limits.check(); err != nil {
		return nil, err
	}
	secrets := config.NewSecrets(cfg.AWS)
	keys := config.NewKeys(secrets.Fetch(cfg.Secrets.Keys), now)
	keys.Start()
	provider, err := newProvider(cfg.OAuth, config.NewProviders(secrets.Fetch(cfg.Secrets.Providers), now))
	if err != nil {
		return nil, err
	}
	return httpapi.Lazy(func() http.Handler {
		return Router(cfg.Edge, New(Deps{
			DB:               db.New(cfg.AWS, now),
			Tables:           cfg.Tables,
			Keys:             keys,
			Provider:         provider,
			IDs:              id.NewGenerator(now, rand.Reader),
			Clock:            now,
			Logger:           logger,
			Limits:           cfg.Limits,
			PlainHTTPCookies: cfg.Edge.CookiePlainHTTP,
		}))
	}), nil
}

// Router is the HTTP handler of accounts.
func Router(edge config.Edge, s *Service) http.Handler {
	return httpapi.NewRouter(httpapi.Config{

		Edge: edge, Logger: s.logger, Auth: s.Sessions(), Clock: s.now,
	}, s.Register)
}

// newProvider is the configured code host, nil if there is none. Its client secret comes from the environment (a
// laptop's) or, where that is empty, from Secrets Manager.
func newProvider(cfg oauth.Config, providers *config.Providers) (*oauth.Provider, error) {
	if cfg.ClientSecret == "" {
		cfg.Secret = func(ctx context.Context) (string, error) {
			secret, err := providers.OAuthClientSecret(ctx)
			if err == nil && secret == "" {
				err = errors.New("the secret with the providers' credentials has no oauthClientSecret")
			}
			return secret, err
		}
	}
	provider, err := oauth.New(cfg)
	if errors.Is(err, oauth.ErrNotConfigured) {
		return nil, nil //nolint:nilnil // no provider is a configuration, too
	}
	if err != nil {
		return nil, fmt.Errorf("sign-in with a code host: %w", err)
	}
	return provider, nil
}
