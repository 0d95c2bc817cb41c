package mail

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"devplatform/shared/config"
)

const (
	// sealPurpose is the label with which the keys that seal mails are derived from the key ring.
	sealPurpose = "mail"
	// sealUnit is the number of bytes of which the size of a sealed message is a multiple. So the size of an item reveals
	// neither the kind of the mail, nor whether the recipient has an account. An item of one unit is smaller than 1 KB,
	// which is one write unit.
	sealUnit = 768
)

// sealedBox seals messages with AES-256-GCM. The additional data is the ID of the mail. The whole message is sealed,
// because its token and its code give access to an account.
type sealedBox struct{ keys *config.Keys }

// seal seals a message. keyID is the ID of the ring's key. Error: config.ErrUnavailable.
func (b sealedBox) seal(ctx context.Context, mailID string, m Message) (keyID string, sealed []byte, err error) {
	keyID, key, err := b.keys.Current(ctx, sealPurpose)
	if err != nil {
		return "", nil, fmt.Errorf("mail: sealing: %w", err)
	}
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return "", nil, fmt.Errorf("mail: encoding: %w", err)
	}
	units := (len(text) + sealUnit - 1) / sealUnit
	padding := bytes.Repeat([]byte(" "), units*sealUnit-len(text))                 // JSON ignores spaces at the end
	sealed = newAEAD(key).Seal(nil, nil, append(text, padding...), []byte(mailID)) //nolint:gosec // generates a nonce
	return keyID, sealed, nil
}

// open returns the message of a record. Errors: ErrUnreadable, config.ErrUnavailable.
func (b sealedBox) open(ctx context.Context, r record) (m Message, err error) {
	key, err := b.keys.KeyToDecrypt(ctx, r.KeyID, sealPurpose)
	switch {
	case errors.Is(err, config.ErrUnknownKey):
		return m, fmt.Errorf("%w: %w", ErrUnreadable, err)
	case err != nil:
		return m, fmt.Errorf("mail: opening: %w", err)
	}
	text, err := newAEAD(key).Open(nil, nil, r.Sealed, []byte(r.ID))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return Message{}, fmt.Errorf("%w: it was damaged", ErrUnreadable) // the decoder's error may contain values
	}
	return m, nil
}

// newAEAD returns AES-256-GCM with a random nonce, which precedes the ciphertext. The keys of the ring have 32 bytes,
// so it cannot fail.
func newAEAD(key []byte) cipher.AEAD {
	block, _ := aes.NewCipher(key)
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	return aead
}
