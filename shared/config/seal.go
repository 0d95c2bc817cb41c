package config

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
)

// ErrDamaged reports that sealed data was changed, or was sealed for another purpose or with other additional data.
var ErrDamaged = errors.New("config: damaged sealed data")

// Seal encrypts data with AES-256-GCM, with a key for a purpose that is derived from the ring's current key. keyID is
// the ID of the current key, which must be stored with the sealed data. Open needs the same additional data, which
// binds the sealed data to its place, for example an ID. Error: ErrUnavailable.
func (k *Keys) Seal(
	ctx context.Context, purpose string, data, additional []byte,
) (keyID string, sealed []byte, err error) {
	keyID, key, err := k.Current(ctx, purpose)
	if err != nil {
		return "", nil, err
	}
	return keyID, newAEAD(key).Seal(nil, nil, data, additional), nil //nolint:gosec // without a nonce, it generates one
}

// Open decrypts data that Seal has sealed with the key keyID. Errors: ErrDamaged, ErrUnknownKey, ErrUnavailable.
func (k *Keys) Open(ctx context.Context, purpose, keyID string, sealed, additional []byte) ([]byte, error) {
	found, err := k.find(ctx, keyID)
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
