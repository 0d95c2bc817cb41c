package config

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// credentialAge is the age at which a credential is fetched again when it is needed.
const credentialAge = 5 * time.Minute

// A Credential is a secret that an external provider issued. It is a field of a JSON object in Secrets Manager, which
// the operator writes. The object is fetched when the credential is first needed. Later, it is fetched again if the
// credential is needed and the last fetch began at least five minutes ago.
type Credential struct {
	field string
	cache *cache[map[string]string]
}

// NewCredential returns the credential in a field of a secret. fetch returns the text of the secret.
func NewCredential(field string, fetch Fetch, now clock.Clock) *Credential {
	return &Credential{field: field, cache: newCache(fetch, now, parseCredentials)}
}

// Get returns the credential, "" if none is set. Errors: ErrUnavailable.
func (c *Credential) Get(ctx context.Context) (string, error) {
	fields, err := c.cache.get(ctx)
	if err != nil {
		return "", err
	}
	if refreshed, err := c.cache.refresh(ctx, credentialAge); err == nil {
		fields = refreshed // otherwise the previous fields, while Secrets Manager is unavailable
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
