package config

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// providersAge is the age at which the providers' secret is fetched again when it is needed.
const providersAge = 5 * time.Minute

// Providers is the secret with the credentials that external providers issued. The operator writes it. It is fetched
// when it is first needed. Later, it is fetched again if it is needed and the last fetch began at least five minutes
// ago.
type Providers struct{ cache *cache[providers] }

type providers struct {
	OAuthClientSecret string `json:"oauthClientSecret"`
	OpenAIKey         string `json:"openaiApiKey"`
}

// NewProviders returns the providers' secret. fetch returns its text.
func NewProviders(fetch Fetch, now clock.Clock) *Providers {
	return &Providers{cache: newCache(fetch, now, parseProviders)}
}

// OAuthClientSecret returns the secret of this service's OAuth application at the code host, "" if none is set. Errors:
// ErrUnavailable.
func (p *Providers) OAuthClientSecret(ctx context.Context) (string, error) {
	values, err := p.get(ctx)
	return values.OAuthClientSecret, err
}

// OpenAIKey returns the API key for the OpenAI-compatible model provider, "" if none is set. Errors: ErrUnavailable.
func (p *Providers) OpenAIKey(ctx context.Context) (string, error) {
	values, err := p.get(ctx)
	return values.OpenAIKey, err
}

func (p *Providers) get(ctx context.Context) (providers, error) {
	values, err := p.cache.get(ctx)
	if err != nil {
		return values, err
	}
	if refreshed, err := p.cache.refresh(ctx, providersAge); err == nil {
		return refreshed, nil
	}
	return values, nil // the previous values, while Secrets Manager is unavailable
}

func parseProviders(text string) (providers, error) {
	var p providers
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, errors.New("the providers' secret is not a JSON object of strings")
	}
	return p, nil
}
