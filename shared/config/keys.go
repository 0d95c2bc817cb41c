package config

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// ErrUnknownKey reports that the ring has no key with that ID.
var ErrUnknownKey = errors.New("config: unknown key")

const (
	currentName   = "current"
	keyBytes      = 32          // bytes of a derived key
	minKeyLength  = 32          // characters of a key in the ring
	minDistinct   = 8           // different characters of a key in the ring
	maxKidLength  = 64          // characters of a key's ID
	refetchWindow = time.Minute // the minimum time between two fetches that unknown IDs cause
)

// Keys is the key ring: a secret such as {"current":"k1","k1":"<random>"}. New signatures and encryptions use the
// current key. An older key must stay in the ring as long as data that was signed or encrypted with it is in use. The
// key for each purpose is derived from a key of the ring with HKDF-SHA256, so that a leak of one derived key
// reveals nothing about the others.
type Keys struct{ cache *cache[ring] }

type ring struct {
	current string
	secrets map[string][]byte
}

// NewKeys returns a key ring. fetch returns its text.
func NewKeys(fetch Fetch, now clock.Clock) *Keys {
	return &Keys{cache: newCache(fetch, now, parseRing)}
}

// Start begins to fetch the ring in the background, so that the first request that needs it waits less.
func (k *Keys) Start() { k.cache.start() }

// Current derives a key of 32 bytes for a purpose from the ring's current key. kid is the ID of the current key,
// which must be stored with the data that the derived key signs or encrypts. Errors: ErrUnavailable.
func (k *Keys) Current(ctx context.Context, purpose string) (kid string, key []byte, err error) {
	r, err := k.cache.get(ctx)
	if err != nil {
		return "", nil, err
	}
	key, err = derive(r.secrets[r.current], purpose)
	return r.current, key, err
}

// Derive derives a key of 32 bytes for a purpose from the ring's key whose ID is kid. If the ring has no key with that
// ID, Derive fetches the ring again, at most once a minute. Errors: ErrUnknownKey, ErrUnavailable.
func (k *Keys) Derive(ctx context.Context, kid, purpose string) ([]byte, error) {
	r, err := k.cache.get(ctx)
	if err != nil {
		return nil, err
	}
	if secret, ok := r.secrets[kid]; ok {
		return derive(secret, purpose)
	}
	if !validKid(kid) {
		return nil, ErrUnknownKey
	}
	if r, err = k.cache.refresh(ctx, refetchWindow); err != nil {
		return nil, err
	}
	if secret, ok := r.secrets[kid]; ok {
		return derive(secret, purpose)
	}
	return nil, ErrUnknownKey
}

func derive(secret []byte, purpose string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "devplatform/"+purpose, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("config: derive: %w", err)
	}
	return key, nil
}

// parseRing parses a ring strictly: it returns an error for weak keys and duplicate names. Errors do not contain keys.
func parseRing(text string) (ring, error) {
	var fields map[string]string
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return ring{}, errors.New("the key ring is not a JSON object whose values are strings and whose names are unique")
	}
	r := ring{current: fields[currentName], secrets: map[string][]byte{}}
	delete(fields, currentName)
	for kid, secret := range fields {
		if !validKid(kid) {
			return ring{}, errors.New("the key ring has an invalid key ID: use 1 to 64 of the characters A-Z a-z 0-9 _ -")
		}
		if len(secret) < minKeyLength || distinct(secret) < minDistinct {
			return ring{}, fmt.Errorf("the key ring's key %q is weak: use at least %d random characters", kid, minKeyLength)
		}
		r.secrets[kid] = []byte(secret)
	}
	if _, ok := r.secrets[r.current]; !ok {
		return ring{}, errors.New(`the key ring's "current" does not name one of its keys`)
	}
	return r, nil
}

func validKid(kid string) bool {
	return kid != "" && len(kid) <= maxKidLength && strings.Trim(kid,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func distinct(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}
