package config

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
	"devplatform/shared/metric"
)

// Secrets reads secrets from Secrets Manager.
//
// It does not use the SDK's client, but only its signer. The client initializes the schemas of all operations and its
// table of endpoints, which costs every cold start 0.6 ms and 0.5 MB: a fifth of the cold start of an empty handler.
type Secrets struct {
	now      clock.Clock
	logger   *slog.Logger
	metrics  *metric.Metrics
	aws      AWS
	endpoint string
	client   *http.Client
	signer   *v4.Signer
}

// maxResponse is the maximum size of a response in bytes. A secret has at most 64 KiB.
const maxResponse = 256 << 10

// metricUnreadable counts the reads of secrets that failed.
const metricUnreadable = "SecretsUnreadable"

// NewSecrets returns a client configured by Lambda's environment. It does not access the network. The logger and the
// metrics report the reads that failed.
func NewSecrets(cfg AWS, metrics Metrics, now clock.Clock, logger *slog.Logger) *Secrets {
	suffix := ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		suffix += ".cn"
	}
	endpoint := cmp.Or(cfg.SecretsEndpoint, cfg.Endpoint, "https://secretsmanager."+cfg.Region+suffix)
	return &Secrets{
		now: now, logger: logger, metrics: metric.New(logger, metrics.Namespace, now),
		aws: cfg, endpoint: endpoint, client: &http.Client{}, signer: v4.NewSigner(),
	}
}

// Keys returns the key ring in the secret with that name or ARN. It begins to read the ring in the background, so that
// the first request that needs it waits less.
func (s *Secrets) Keys(name string) *Keys {
	keys := NewKeys(s.Fetch(name), s.now)
	keys.cache.report = s.reporter(name)
	keys.cache.mu.Lock()
	defer keys.cache.mu.Unlock()
	keys.cache.startRead()
	return keys
}

// Credentials returns the credentials in the secret with that name or ARN.
func (s *Secrets) Credentials(name string) *Credentials {
	credentials := NewCredentials(s.Fetch(name), s.now)
	credentials.cache.report = s.reporter(name)
	return credentials
}

// reporter returns the function that reports a failed read of a secret. The log line is only a warning, because the
// last value is used for an hour.
func (s *Secrets) reporter(name string) func(error) {
	return func(err error) {
		s.logger.Warn("a secret is unreadable", "secret", name, "cause", err)
		s.metrics.Put(context.Background(), metric.Value{Name: metricUnreadable, Unit: metric.Count, Values: []float64{1}})
	}
}

// Fetch returns the function that fetches the current version of the secret with that name or ARN.
func (s *Secrets) Fetch(name string) Fetch {
	return func(ctx context.Context) (string, error) { return s.getSecretValue(ctx, name) }
}

// getSecretValue calls https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html.
func (s *Secrets) getSecretValue(ctx context.Context, name string) (string, error) {
	body, err := json.Marshal(map[string]string{"SecretId": name})
	if err != nil {
		return "", fmt.Errorf("request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("request: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "secretsmanager.GetSecretValue")
	sum := sha256.Sum256(body)
	credentials := aws.Credentials{
		AccessKeyID: s.aws.AccessKeyID, SecretAccessKey: s.aws.SecretAccessKey, SessionToken: s.aws.SessionToken,
	}
	// The signature needs the real time, not the time of a test clock, because AWS rejects any other time.
	err = s.signer.SignHTTP(
		ctx, credentials, r, hex.EncodeToString(sum[:]), "secretsmanager", s.aws.Region, clock.System())
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return "", fmt.Errorf("send: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	return parseSecret(response.StatusCode, data)
}

// parseSecret returns the secret in a response. Errors do not contain the response, which may contain the secret.
func parseSecret(status int, data []byte) (string, error) {
	var out struct {
		SecretString *string `json:"SecretString"`
		Type         string  `json:"__type"`
	}
	err := json.Unmarshal(data, &out)
	switch {
	case status != http.StatusOK:
		return "", fmt.Errorf("status %d %.64q", status, out.Type)
	case err != nil:
		return "", errors.New("the response is not JSON")
	case out.SecretString == nil:
		return "", errors.New("the secret has no text")
	}
	return *out.SecretString, nil
}

// Credentials are the fields of a JSON object in Secrets Manager, which the operator writes. The object is read when a
// credential is first needed, and then as often as the key ring.
type Credentials struct{ cache *cache[map[string]string] }

// NewCredentials returns the credentials in a secret. fetch returns the text of the secret.
func NewCredentials(fetch Fetch, now clock.Clock) *Credentials {
	return &Credentials{cache: newCache(fetch, now, parseCredentials)}
}

// Field returns the credential in a field.
func (c *Credentials) Field(name string) *Credential { return &Credential{field: name, cache: c.cache} }

// A Credential is a secret that this service shares with another service, such as the API key at a provider.
type Credential struct {
	field string
	cache *cache[map[string]string]
}

// Get returns the credential, "" if the object has no such field. Errors: ErrUnavailable.
func (c *Credential) Get(ctx context.Context) (string, error) {
	fields, err := c.cache.get(ctx)
	if err != nil {
		return "", err
	}
	return fields[c.field], nil
}

func parseCredentials(text string) (map[string]string, error) {
	var fields map[string]string
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil, errors.New("the secret of a provider is not a JSON object of strings")
	}
	return fields, nil
}
