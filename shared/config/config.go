// Package config is the typed configuration of the functions: what the environment says,
// what the two secrets hold, and the keys derived from them.
// Fragments are small, so that each function composes the ones it needs into its own struct and loads
// it with Load. Defaults of the domain (limits, life times) stay with the domain that uses them.
package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/caarlos0/env/v11"
)

// AWS is what Lambda puts into every function's environment, and the endpoints that the local platform sets.
// The SDK's own loader, which would find the same, costs every cold start 4 ms.
type AWS struct {
	Region          string `env:"AWS_REGION" envDefault:"us-east-1"`
	AccessKeyID     string `env:"AWS_ACCESS_KEY_ID"`
	SecretAccessKey string `env:"AWS_SECRET_ACCESS_KEY"`
	SessionToken    string `env:"AWS_SESSION_TOKEN"`

	Endpoint         string `env:"AWS_ENDPOINT_URL"`
	DynamoDBEndpoint string `env:"AWS_ENDPOINT_URL_DYNAMODB"`
	SQSEndpoint      string `env:"AWS_ENDPOINT_URL_SQS"`
	SecretsEndpoint  string `env:"AWS_ENDPOINT_URL_SECRETS_MANAGER"`
	// BedrockEndpoint does not fall back to Endpoint as the others do: on the local platform that is DynamoDB and SQS, and no model.
	BedrockEndpoint string `env:"AWS_ENDPOINT_URL_BEDROCK_RUNTIME"`
}

// Tables names the DynamoDB tables that hold people and what they own.
type Tables struct {
	Accounts string `env:"ACCOUNTS_TABLE,required,notEmpty"`
	Projects string `env:"PROJECTS_TABLE,required,notEmpty"`
}

// ProjectTables names the DynamoDB tables that hold what is in projects, and what happened to it.
type ProjectTables struct {
	Contents string `env:"CONTENTS_TABLE,required,notEmpty"`
	Events   string `env:"EVENTS_TABLE,required,notEmpty"`
}

// ConversationsTable names the DynamoDB table that holds what people and the assistant said to each other.
type ConversationsTable struct {
	Conversations string `env:"CONVERSATIONS_TABLE,required,notEmpty"`
}

// WebhooksTable names the DynamoDB table that holds webhooks and their deliveries.
type WebhooksTable struct {
	Webhooks string `env:"WEBHOOKS_TABLE,required,notEmpty"`
}

// Metrics is where a function's own metrics belong.
type Metrics struct {
	// Namespace is theirs in CloudWatch; without one there are none.
	Namespace string `env:"METRICS_NAMESPACE"`
}

// SecretNames names the two secrets (name or ARN).
type SecretNames struct {
	Keys      string `env:"KEYS_SECRET,required,notEmpty"`
	Providers string `env:"PROVIDERS_SECRET,required,notEmpty"`
}

// Edge is how clients reach the service.
type Edge struct {
	// AppURL is the origin at which people's browsers reach it; empty: the gateway's own.
	AppURL Origin `env:"APP_URL"`
	// AllowedOrigins are same-site origins whose pages may call it.
	AllowedOrigins []Origin `env:"ALLOWED_ORIGINS"`
	// CookiePlainHTTP also sets the session cookie's twin for clients on plain http. Only the local platform does.
	CookiePlainHTTP bool `env:"COOKIE_PLAIN_HTTP"`
}

// Origin is a web origin: scheme, host and, unless it is the scheme's own, port. No path, no wildcard.
type Origin string

// defaultPort of a scheme: browsers leave it out, so an origin with it would never match.
var defaultPort = map[string]string{"http": "80", "https": "443"}

// UnmarshalText implements encoding.TextUnmarshaler. Anything but an http or https origin
// as browsers write it, in lower case and without a default port, is an error.
func (o *Origin) UnmarshalText(text []byte) error {
	u, err := url.Parse(string(text))
	if err != nil {
		return fmt.Errorf("config: an origin: %w", err)
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host}
	switch {
	case u.Scheme != "https" && u.Scheme != "http",
		u.Hostname() == "", strings.ContainsAny(u.Host, "*%"), // nor a zone, which no browser sends
		defaultPort[u.Scheme] == u.Port(),
		bare.String() != string(text), strings.ToLower(string(text)) != string(text):
		return fmt.Errorf("config: %q is not an origin such as https://app.example.com", text)
	}
	*o = Origin(text)
	return nil
}

// Load fills a T, a struct of fragments with env tags, from the environment.
// The error names every variable that is missing or can't be read.
func Load[T any]() (T, error) {
	cfg, err := env.ParseAs[T]()
	if err != nil {
		return cfg, fmt.Errorf("config: %w", err)
	}
	return cfg, nil
}
