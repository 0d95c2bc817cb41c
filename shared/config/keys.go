package config

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/clock"
)

// ErrUnknownKey reports that the ring has no key with that ID, or that the key must not be used for signatures.
var ErrUnknownKey = errors.New("config: unknown key")

const (
	keyBytes     = 32          // bytes of a derived key
	minKeyLength = 32          // characters of a key in the ring
	minDistinct  = 8           // different characters of a key in the ring
	maxKidLength = 64          // characters of a key's ID
	rereadPeriod = time.Minute // in which unknown IDs cause at most one read
)

// Keys is the key ring: a secret such as {"current":"k2","k1":"<random>","k2":"<random>","decryptOnly":["k1"]}. New
// signatures and encryptions use the current key. The signatures of an older key are valid unless decryptOnly lists the
// key, for example because it has leaked. An older key must stay in the ring as long as data that was encrypted with it
// is in use. The key for each purpose is derived from a key of the ring with HKDF-SHA256, so that a leak of one derived
// key reveals nothing about the others.
//
// A ring that is older than five minutes (± one minute) is read again beside the request, and a ring that is older than
// ten minutes before it is used. While the secret cannot be read, the ring is used for an hour after its last read.
type Keys struct{ cache *cache[ring] }

type ring struct {
	current string
	keys    map[string]ringKey // by ID
}

type ringKey struct {
	secret      []byte
	decryptOnly bool
}

// NewKeys returns a key ring. fetch returns its text.
func NewKeys(fetch Fetch, now clock.Clock) *Keys {
	return &Keys{cache: newCache(fetch, now, parseRing)}
}

// Current derives a key of 32 bytes for a purpose from the ring's current key. kid is the ID of the current key,
// which must be stored with the data that the derived key signs or encrypts. Errors: ErrUnavailable.
func (k *Keys) Current(ctx context.Context, purpose string) (kid string, key []byte, err error) {
	r, err := k.cache.get(ctx)
	if err != nil {
		return "", nil, err
	}
	key, err = derive(r.keys[r.current].secret, purpose)
	return r.current, key, err
}

// KeyToVerify derives a key of 32 bytes for a purpose from the ring's key whose ID is kid, to verify a signature.
// Errors: ErrUnknownKey, also for a key that can only decrypt; ErrUnavailable.
func (k *Keys) KeyToVerify(ctx context.Context, kid, purpose string) ([]byte, error) {
	key, err := k.find(ctx, kid)
	if err != nil {
		return nil, err
	}
	if key.decryptOnly {
		return nil, ErrUnknownKey
	}
	return derive(key.secret, purpose)
}

// find returns the key with an ID. If the ring has no key with that ID, find reads the ring again, at most once a
// minute. Errors: ErrUnknownKey, ErrUnavailable.
func (k *Keys) find(ctx context.Context, kid string) (ringKey, error) {
	r, err := k.cache.get(ctx)
	if err != nil {
		return ringKey{}, err
	}
	if key, ok := r.keys[kid]; ok {
		return key, nil
	}
	if !validKid(kid) {
		return ringKey{}, ErrUnknownKey
	}
	if r, err = k.cache.getNewerThan(ctx, rereadPeriod); err != nil {
		return ringKey{}, err
	}
	if key, ok := r.keys[kid]; ok {
		return key, nil
	}
	return ringKey{}, ErrUnknownKey
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
	var fields struct {
		Current     string            `json:"current"`
		DecryptOnly []string          `json:"decryptOnly"`
		Keys        map[string]string `json:",embed"`
	}
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return ring{}, errors.New("the key ring is not a JSON object of strings with unique names, and a list decryptOnly")
	}
	r := ring{current: fields.Current, keys: map[string]ringKey{}}
	for kid, secret := range fields.Keys {
		if !validKid(kid) {
			return ring{}, errors.New("the key ring has an invalid key ID: use 1 to 64 of the characters A-Z a-z 0-9 _ -")
		}
		if len(secret) < minKeyLength || distinct(secret) < minDistinct {
			return ring{}, fmt.Errorf("the key ring's key %q is weak: use at least %d random characters", kid, minKeyLength)
		}
		r.keys[kid] = ringKey{secret: []byte(secret), decryptOnly: slices.Contains(fields.DecryptOnly, kid)}
	}
	for _, kid := range fields.DecryptOnly {
		if _, ok := r.keys[kid]; !ok {
			return ring{}, errors.New(`the key ring's "decryptOnly" names a key that the ring does not have`)
		}
	}
	switch current, ok := r.keys[r.current]; {
	case !ok:
		return ring{}, errors.New(`the key ring's "current" does not name one of its keys`)
	case current.decryptOnly:
		return ring{}, errors.New(`the key ring's "decryptOnly" names the current key`)
	}
	return r, nil
}

func validKid(kid string) bool {
	return kid != "" && len(kid) <= maxKidLength && strings.Trim(kid,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// distinct returns the number of different characters of a text.
func distinct(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

// ErrDamaged reports that sealed data was changed, or was sealed for another purpose or with other additional data.
var ErrDamaged = errors.New("config: damaged sealed data")

// Seal encrypts data with AES-256-GCM, with a key for a purpose that is derived from the ring's current key. kid is the
// ID of the current key, which must be stored with the sealed data. Open needs the same additional data, which binds
// the sealed data to its place, for example an ID. Error: ErrUnavailable.
func (k *Keys) Seal(
	ctx context.Context, purpose string, data, additional []byte,
) (kid string, sealed []byte, err error) {
	kid, key, err := k.Current(ctx, purpose)
	if err != nil {
		return "", nil, err
	}
	return kid, newAEAD(key).Seal(nil, nil, data, additional), nil //nolint:gosec // without a nonce, it generates one
}

// Open decrypts data that Seal has sealed with the key kid. Errors: ErrDamaged, ErrUnknownKey, ErrUnavailable.
func (k *Keys) Open(ctx context.Context, purpose, kid string, sealed, additional []byte) ([]byte, error) {
	found, err := k.find(ctx, kid)
	if err != nil {
		return nil, err
	}
	key, err := derive(found.secret, purpose)
	if err != nil {
		return nil, err
	}
	data, err := newAEAD(key).Open(nil, nil, sealed, additional)
	if err != nil {
		return nil, ErrDamaged
	}
	return data, nil
}

// newAEAD returns AES-256-GCM with a random nonce, which precedes the ciphertext. It cannot fail, because derived keys
// have 32 bytes.
func newAEAD(key []byte) cipher.AEAD {
	block, _ := aes.NewCipher(key)
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	return aead
}
