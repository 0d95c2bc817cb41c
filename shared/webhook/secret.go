package webhook

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// secretPurpose is what the ring's keys are derived for.
const secretPurpose = "webhook-secret"

// maxPrevious bounds how many replaced secrets are kept: whoever rotates every minute has no use for the first ones.
const maxPrevious = 4

// sealer seals the secrets of webhooks, and opens them.
//
// A sealed secret is text: the id of the ring's key, a dot, and the base64url of nonce and ciphertext of AES-256-GCM, whose
// additional data is the webhook's id: what is sealed for one webhook opens for no other.
type sealer struct{ keys *config.Keys }

var sealedText = base64.RawURLEncoding.Strict()

// errSealed says that what is stored is no sealed secret of that webhook.
var errSealed = errors.New("webhook: a stored secret can't be opened")

// seal seals a secret for a webhook. Error: config.ErrUnavailable.
func (s sealer) seal(ctx context.Context, webhookID, secret string) (string, error) {
	kid, key, err := s.keys.Current(ctx, secretPurpose)
	if err != nil {
		return "", fmt.Errorf("webhook: sealing: %w", err)
	}
	aead, err := aeadOf(key)
	if err != nil {
		return "", err
	}
	return kid + "." + sealedText.EncodeToString(aead.Seal(nil, nil, []byte(secret), []byte(webhookID))), nil
}

// open is the secret that was sealed for a webhook. Errors: errSealed, config.ErrUnknownKey, config.ErrUnavailable.
func (s sealer) open(ctx context.Context, webhookID, sealed string) (string, error) {
	kid, text, _ := strings.Cut(sealed, ".")
	data, err := sealedText.DecodeString(text)
	if err != nil {
		return "", errSealed
	}
	key, err := s.keys.Derive(ctx, kid, secretPurpose)
	if err != nil {
		return "", fmt.Errorf("webhook: opening a secret: %w", err)
	}
	aead, err := aeadOf(key)
	if err != nil {
		return "", err
	}
	secret, err := aead.Open(nil, nil, data, []byte(webhookID))
	if err != nil {
		return "", errSealed
	}
	return string(secret), nil
}

// liveSecrets are what deliveries of a webhook are signed with: the newest secret, then those before it that are still good,
// newest first. Errors are those of open.
func (s sealer) liveSecrets(ctx context.Context, w Webhook, now time.Time) ([]string, error) {
	live := livePrevious(w.Previous, now)
	secrets := make([]string, 0, 1+len(live))
	for _, sealed := range append([]oldSecret{{Sealed: w.Secret}}, live...) {
		secret, err := s.open(ctx, w.ID, sealed.Sealed)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// rotated is a webhook with a new secret, sealed. The one that it replaces is good for secretOverlap more. If the new one was
// replaced itself a while ago, which same tells of a sealed one, it is not kept twice.
func (w Webhook) rotated(sealed string, now time.Time, same func(sealed string) bool) Webhook {
	previous := []oldSecret{{Sealed: w.Secret, Until: clock.Stamp(now.Add(secretOverlap))}}
	for _, old := range livePrevious(w.Previous, now) {
		if len(previous) < maxPrevious && !same(old.Sealed) {
			previous = append(previous, old)
		}
	}
	w.Secret, w.Previous = sealed, previous
	return w
}

// livePrevious are the replaced secrets that are still good.
func livePrevious(all []oldSecret, now time.Time) []oldSecret {
	return slices.DeleteFunc(slices.Clone(all), func(old oldSecret) bool { return !old.Until.Time().After(now) })
}

// aeadOf is AES-256-GCM with a random nonce, which stands in front of the ciphertext.
func aeadOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	return aead, nil
}
