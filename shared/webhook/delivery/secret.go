package delivery

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
)

const (
	// secretPurpose is the label with which the sealing keys are derived from the key ring.
	secretPurpose = "webhook-secret"
	// secretOverlap is how long a secret stays valid after it was replaced.
	secretOverlap = 24 * time.Hour
	// maxPrevious is the maximum number of replaced secrets that stay valid. Every attempt opens all of them, and each
	// adds 48 bytes to a header. Endpoints accept about 8 KB of headers.
	maxPrevious = 20
)

// Secrets seals, opens and rotates the secrets of webhooks.
//
// A sealed secret is text: the ID of the ring's key, a dot, and the base64url encoding of the nonce and the AES-256-GCM
// ciphertext. The additional data is the ID of the webhook, so a secret cannot be opened for another webhook.
type Secrets struct{ Keys *config.Keys }

var sealedEncoding = base64.RawURLEncoding.Strict()

// errNotSealed reports that the stored text is not a sealed secret of the webhook.
var errNotSealed = errors.New("delivery: a stored secret cannot be opened")

// Seal seals a secret for a webhook. Error: config.ErrUnavailable.
func (s Secrets) Seal(ctx context.Context, webhookID, secret string) (string, error) {
	keyID, sealed, err := s.Keys.Seal(ctx, secretPurpose, []byte(secret), []byte(webhookID))
	if err != nil {
		return "", fmt.Errorf("delivery: sealing a secret: %w", err)
	}
	return keyID + "." + sealedEncoding.EncodeToString(sealed), nil
}

// KeyID returns the ID of the ring's key with which a secret was sealed.
func KeyID(sealed string) string {
	keyID, _, _ := strings.Cut(sealed, ".")
	return keyID
}

// Open opens a secret that was sealed for a webhook. Errors: errNotSealed, config.ErrUnknownKey, config.ErrUnavailable.
func (s Secrets) Open(ctx context.Context, webhookID, sealed string) (string, error) {
	_, text, _ := strings.Cut(sealed, ".")
	data, err := sealedEncoding.DecodeString(text)
	if err != nil {
		return "", errNotSealed
	}
	secret, err := s.Keys.Open(ctx, secretPurpose, KeyID(sealed), data, []byte(webhookID))
	switch {
	case errors.Is(err, config.ErrDamaged):
		return "", errNotSealed
	case err != nil:
		return "", fmt.Errorf("delivery: opening a secret: %w", err)
	}
	return string(secret), nil
}

// isLost reports whether a secret cannot be opened: its key was removed from the ring, or the stored text was changed.
func isLost(err error) bool {
	return errors.Is(err, errNotSealed) || errors.Is(err, config.ErrUnknownKey)
}

// Live returns the secrets that sign the deliveries of a webhook: the current one, and then the replaced ones that are
// still valid, newest first. A replaced secret that is lost is omitted. Errors: the errors of Open.
func (s Secrets) Live(ctx context.Context, w Webhook, now time.Time) (secrets []string, _ error) {
	for i, valid := range append([]PreviousSecret{{Sealed: w.Secret}}, validPrevious(w.Previous, now)...) {
		secret, err := s.Open(ctx, w.ID, valid.Sealed)
		isReplaced := i > 0
		if isReplaced && isLost(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// Rotate returns the webhook with a new secret, and false if secret is already the current one. The replaced secret
// stays valid for secretOverlap. Secrets that were replaced earlier keep their expiry. No secret is stored twice, and
// lost secrets are dropped. Error: config.ErrUnavailable.
func (s Secrets) Rotate(ctx context.Context, w Webhook, secret string, now time.Time) (Webhook, bool, error) {
	replaced := PreviousSecret{Sealed: w.Secret, Until: clock.Stamp(now.Add(secretOverlap))}
	var kept []PreviousSecret
	for i, previous := range append([]PreviousSecret{replaced}, validPrevious(w.Previous, now)...) {
		opened, err := s.Open(ctx, w.ID, previous.Sealed)
		switch {
		case isLost(err):
		case err != nil:
			return w, false, err
		case opened == secret && i == 0:
			return w, false, nil
		case opened != secret && len(kept) < maxPrevious:
			kept = append(kept, previous)
		}
	}
	sealed, err := s.Seal(ctx, w.ID, secret)
	if err != nil {
		return w, false, err
	}
	w.Secret, w.Previous = sealed, kept
	return w, true, nil
}

// validPrevious returns the replaced secrets that are still valid.
func validPrevious(all []PreviousSecret, now time.Time) []PreviousSecret {
	return slices.DeleteFunc(slices.Clone(all), func(p PreviousSecret) bool { return !p.Until.Time().After(now) })
}
