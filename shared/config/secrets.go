package config

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// Secrets fetches secrets from Secrets Manager. It touches the network only when one is fetched.
type Secrets struct{ sdk *secretsmanager.Client }

// NewSecrets makes the client from Lambda's environment.
func NewSecrets(cfg AWS) *Secrets {
	endpoint := cfg.SecretsEndpoint
	if endpoint == "" {
		endpoint = cfg.Endpoint
	}
	options := secretsmanager.Options{
		Region:           cfg.Region,
		Credentials:      credentials.NewStaticCredentialsProvider(cfg.AccessKeyID, cfg.SecretAccessKey, cfg.SessionToken),
		RetryMaxAttempts: 1, // a source repeats on its own
	}
	if endpoint != "" {
		options.BaseEndpoint = aws.String(endpoint)
	}
	return &Secrets{sdk: secretsmanager.New(options)}
}

// Fetch gets the current version of the secret with that name or ARN.
func (s *Secrets) Fetch(name string) Fetch {
	return func(ctx context.Context) (string, error) {
		out, err := s.sdk.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
		if err != nil {
			return "", fmt.Errorf("secret %s: %w", name, err)
		}
		return aws.ToString(out.SecretString), nil
	}
}

// providersAge is how long what the operator changed in the providers' secret may go unseen.
const providersAge = 5 * time.Minute

// Providers is the secret with the credentials that outside providers gave us.
// The operator fills it in; it is fetched when first needed and looked at again every five minutes.
type Providers struct{ source *source[providers] }

type providers struct {
	OAuthClientSecret string `json:"oauthClientSecret"`
}

// NewProviders makes the secret that is fetched with fetch.
func NewProviders(fetch Fetch, now clock.Clock) *Providers {
	return &Providers{source: newSource(fetch, now, parseProviders)}
}

// OAuthClientSecret is this service's secret at the code host, empty while none is set. Error: ErrUnavailable.
func (p *Providers) OAuthClientSecret(ctx context.Context) (string, error) {
	known, err := p.source.get(ctx)
	if err != nil {
		return "", err
	}
	if fresh, err := p.source.refresh(ctx, providersAge); err == nil {
		known = fresh // else what is known stays good for as long as Secrets Manager is not to be had
	}
	return known.OAuthClientSecret, nil
}

func parseProviders(text string) (providers, error) {
	var p providers
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, errors.New("the providers' secret is not a JSON object of strings")
	}
	return p, nil
}
