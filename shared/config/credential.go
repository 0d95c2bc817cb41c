package config

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// Credentials are the fields of a JSON object in Secrets Manager, which the operator writes. The object is read when a
// credential is first needed, and then as often as the key ring.
type Credentials struct{ cache *cache[map[string]string] }

// NewCredentials returns the credentials in a secret. fetch returns the text of the secret.
func NewCredentials(fetch Fetch, now clock.Clock) *Credentials {
	return &Credentials{cache: newCache(fetch, now, parseCredentials)}
}

// Field returns the credential in a field.
func (c *Credentials) Field(name string) *Credential { return &Credential{field: name, cache: c.cache} }

// A Credential is a secret that this service and another one share, such as the API key at a provider.
type Credential struct {
	field string
	cache *cache[map[string]string]
}

// Get returns the credential. It returns "" if none is set. Errors: ErrUnavailable.
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
