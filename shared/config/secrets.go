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
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// Secrets fetches secrets from Secrets Manager. It touches the network only when one is fetched.
//
// It signs the one request it knows itself: the SDK's client, with the schemas of every operation, costs each
// cold start half a millisecond and half a megabyte.
type Secrets struct {
	aws      AWS
	endpoint string
	client   *http.Client
	signer   *v4.Signer
}

// maxSecret is the largest answer that is read; Secrets Manager keeps 64 KiB a secret.
const maxSecret = 256 << 10

// NewSecrets makes the client from Lambda's environment.
func NewSecrets(cfg AWS) *Secrets {
	suffix := ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		suffix += ".cn"
	}
	endpoint := cmp.Or(cfg.SecretsEndpoint, cfg.Endpoint, "https://secretsmanager."+cfg.Region+suffix)
	return &Secrets{aws: cfg, endpoint: endpoint, client: &http.Client{}, signer: v4.NewSigner()}
}

// Fetch gets the current version of the secret with that name or ARN.
func (s *Secrets) Fetch(name string) Fetch {
	return func(ctx context.Context) (string, error) {
		text, err := s.getSecretValue(ctx, name)
		if err != nil {
			return "", fmt.Errorf("secret %s: %w", name, err)
		}
		return text, nil
	}
}

// getSecretValue is https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html.
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
	who := aws.Credentials{AccessKeyID: s.aws.AccessKeyID, SecretAccessKey: s.aws.SecretAccessKey, SessionToken: s.aws.SessionToken}
	// Signed with the machine's time: AWS refuses any other.
	err = s.signer.SignHTTP(ctx, who, r, hex.EncodeToString(sum[:]), "secretsmanager", s.aws.Region, clock.System())
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return "", fmt.Errorf("send: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxSecret))
	if err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	return readSecret(answer.StatusCode, data)
}

// readSecret takes the text out of an answer. No error quotes the answer, which may be the secret.
func readSecret(status int, data []byte) (string, error) {
	var out struct {
		SecretString *string `json:"SecretString"`
		Type         string  `json:"__type"`
	}
	err := json.Unmarshal(data, &out)
	switch {
	case status != http.StatusOK:
		return "", fmt.Errorf("status %d %.64q", status, out.Type)
	case err != nil:
		return "", errors.New("the answer is not JSON")
	case out.SecretString == nil:
		return "", errors.New("it has no text")
	}
	return *out.SecretString, nil
}

// providersAge is how long what the operator changed in the providers' secret may go unseen.
const providersAge = 5 * time.Minute

// Providers is the secret with the credentials that outside providers gave us.
// The operator fills it in; it is fetched when first needed and looked at again every five minutes.
type Providers struct{ source *source[providers] }

type providers struct {
	OAuthClientSecret string `json:"oauthClientSecret"`
	OpenAIKey         string `json:"openaiApiKey"`
}

// NewProviders makes the secret that is fetched with fetch.
func NewProviders(fetch Fetch, now clock.Clock) *Providers {
	return &Providers{source: newSource(fetch, now, parseProviders)}
}

// OAuthClientSecret is this service's secret at the code host, empty while none is set. Error: ErrUnavailable.
func (p *Providers) OAuthClientSecret(ctx context.Context) (string, error) {
	known, err := p.get(ctx)
	return known.OAuthClientSecret, err
}

// OpenAIKey is this service's key at the OpenAI-compatible model provider, empty while none is set. Error: ErrUnavailable.
func (p *Providers) OpenAIKey(ctx context.Context) (string, error) {
	known, err := p.get(ctx)
	return known.OpenAIKey, err
}

func (p *Providers) get(ctx context.Context) (providers, error) {
	known, err := p.source.get(ctx)
	if err != nil {
		return known, err
	}
	if fresh, err := p.source.refresh(ctx, providersAge); err == nil {
		known = fresh // else what is known stays good for as long as Secrets Manager is not to be had
	}
	return known, nil
}

func parseProviders(text string) (providers, error) {
	var p providers
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, errors.New("the providers' secret is not a JSON object of strings")
	}
	return p, nil
}
