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

// ErrUnknownKey says that no key of that id is in the ring.
var ErrUnknownKey = errors.New("config: unknown key")

const (
	currentName   = "current"
	keyBytes      = 32          // of a derived key
	minKeyLength  = 32          // characters of a ring's key
	minDistinct   = 8           // different characters of a ring's key
	maxKidLength  = 64          // characters of a key's id
	refetchWindow = time.Minute // an unknown id makes the ring be fetched at most this often
)

// Keys is the key ring: a secret such as {"current":"k1","k1":"<random>"}. New work uses the current key; older
// ones stay in the ring for as long as anything was signed or sealed with them. No key is used as it is: each use
// derives its own with HKDF-SHA256 under a label, so that a leak of one use tells nothing about another.
type Keys struct{ source *source[ring] }

type ring struct {
	current string
	secrets map[string][]byte
}

// NewKeys makes a ring that is fetched with fetch; Start does so before anybody needs it.
func NewKeys(fetch Fetch, now clock.Clock) *Keys {
	return &Keys{source: newSource(fetch, now, parseRing)}
}

// Start begins to fetch the ring in the background. Requests that need no key are not held up.
func (k *Keys) Start() { k.source.start() }

// Current derives the current key for a purpose: its id, which goes with what it signs or seals, and 32 bytes.
// It waits for the ring if need be. Error: ErrUnavailable.
func (k *Keys) Current(ctx context.Context, purpose string) (kid string, key []byte, err error) {
	r, err := k.source.get(ctx)
	if err != nil {
		return "", nil, err
	}
	key, err = derive(r.secrets[r.current], purpose)
	return r.current, key, err
}

// Derive derives the key with that id for a purpose, 32 bytes. An id that the ring does not have
// makes it be fetched again, at most once a minute. Errors: ErrUnknownKey, ErrUnavailable.
func (k *Keys) Derive(ctx context.Context, kid, purpose string) ([]byte, error) {
	r, err := k.source.get(ctx)
	if err != nil {
		return nil, err
	}
	if secret, ok := r.secrets[kid]; ok {
		return derive(secret, purpose)
	}
	if !validKid(kid) {
		return nil, ErrUnknownKey
	}
	if r, err = k.source.refresh(ctx, refetchWindow); err != nil {
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

// parseRing reads a ring strictly: a weak or ambiguous one must not go unnoticed.
// Its errors name ids and rules, never a key.
func parseRing(text string) (ring, error) {
	var fields map[string]string
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return ring{}, errors.New("the key ring is not a flat JSON object of strings, each name once")
	}
	r := ring{current: fields[currentName], secrets: map[string][]byte{}}
	delete(fields, currentName)
	for kid, secret := range fields {
		if !validKid(kid) {
			return ring{}, errors.New("the key ring has a key whose id is not made of A-Z a-z 0-9 _ -")
		}
		if len(secret) < minKeyLength || distinct(secret) < minDistinct {
			return ring{}, fmt.Errorf("the key ring's key %q is weak: %d random characters are the least", kid, minKeyLength)
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
