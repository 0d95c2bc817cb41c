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

// maxPrevious bounds how many replaced secrets are kept: each is opened for every attempt and adds 48 bytes to a header of it, and
// endpoints take some 8 KB of headers. Who rotates more often than that within a day has no use for the first ones.
const maxPrevious = 20

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
	return kid + "." + sealedText.EncodeToString(aead.Seal(nil, nil, []byte(secret), []byte(webhookID))), nil //nolint:gosec // without a nonce it makes one
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

// lost reports that a secret can't be opened, today or ever: its key has left the ring, or it is not what was stored.
func lost(err error) bool { return errors.Is(err, errSealed) || errors.Is(err, config.ErrUnknownKey) }

// liveSecrets are what deliveries of a webhook are signed with: the newest secret, then those before it that are still good,
// newest first. A replaced one that is lost is left out: the newest signs all the same. Errors are those of open.
func (s sealer) liveSecrets(ctx context.Context, w Webhook, now time.Time) ([]string, error) {
	newest, err := s.open(ctx, w.ID, w.Secret)
	if err != nil {
		return nil, err
	}
	secrets := []string{newest}
	for _, old := range livePrevious(w.Previous, now) {
		secret, err := s.open(ctx, w.ID, old.Sealed)
		if lost(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// rotate is a webhook with another secret; false if it is the one that it has. The replaced one stays good for secretOverlap, as
// do those before it for the rest of their time; none is kept twice, nor one that is lost: a new secret is the way out of that.
// Error: config.ErrUnavailable.
func (s sealer) rotate(ctx context.Context, w Webhook, secret string, now time.Time) (Webhook, bool, error) {
	replaced := append([]oldSecret{{Sealed: w.Secret, Until: clock.Stamp(now.Add(secretOverlap))}}, livePrevious(w.Previous, now)...)
	var kept []oldSecret
	for i, old := range replaced {
		opened, err := s.open(ctx, w.ID, old.Sealed)
		switch {
		case lost(err):
		case err != nil:
			return w, false, err
		case opened == secret && i == 0:
			return w, false, nil
		case opened != secret && len(kept) < maxPrevious:
			kept = append(kept, old)
		}
	}
	sealed, err := s.seal(ctx, w.ID, secret)
	if err != nil {
		return w, false, err
	}
	w.Secret, w.Previous = sealed, kept
	return w, true, nil
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
