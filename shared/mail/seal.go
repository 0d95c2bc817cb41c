package mail

import (
	"bytes"
	"context"
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

// seal encrypts a message with the key ring. The additional data is the ID of the mail. The whole message is encrypted,
// because its token and its code give access to an account. keyID is the ID of the ring's key. Error:
// config.ErrUnavailable.
func seal(ctx context.Context, keys *config.Keys, mailID string, m Message) (keyID string, sealed []byte, err error) {
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return "", nil, fmt.Errorf("mail: encoding: %w", err)
	}
	units := (len(text) + sealUnit - 1) / sealUnit
	padding := bytes.Repeat([]byte(" "), units*sealUnit-len(text)) // JSON ignores spaces at the end
	keyID, sealed, err = keys.Seal(ctx, sealPurpose, append(text, padding...), []byte(mailID))
	if err != nil {
		return "", nil, fmt.Errorf("mail: sealing: %w", err)
	}
	return keyID, sealed, nil
}

// open returns the message of a record. Errors: ErrUnreadable, config.ErrUnavailable.
func open(ctx context.Context, keys *config.Keys, r record) (m Message, err error) {
	text, err := keys.Open(ctx, sealPurpose, r.KeyID, r.Sealed, []byte(r.ID))
	switch {
	case errors.Is(err, config.ErrUnknownKey), errors.Is(err, config.ErrDamaged):
		return m, fmt.Errorf("%w: %w", ErrUnreadable, err)
	case err != nil:
		return m, fmt.Errorf("mail: opening: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return Message{}, fmt.Errorf("%w: it is not valid", ErrUnreadable) // the decoder's error may contain values
	}
	return m, nil
}
