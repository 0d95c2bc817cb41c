package db

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"devplatform/shared/config"
)

// ErrCursor reports a cursor that is not valid, or that belongs to another list.
var ErrCursor = errors.New("db: not a cursor of this list")

// cursorPurpose is the purpose for which the signing keys are derived from the key ring.
const cursorPurpose = "cursor"

const (
	// maxPosition is the maximum length of a position in bytes: the maximum length of a sort key.
	maxPosition = maxSK
	// maxCursor is the maximum length of a cursor in characters.
	maxCursor = (1 + 255 + sha256.Size + maxPosition + 2) / 3 * 4
)

// cursorText is the encoding of cursors. Its characters need no escaping in a URL.
var cursorText = base64.RawURLEncoding.Strict()

// Cursors makes and checks cursors. A cursor is the position at which the next page of a list begins. It is signed,
// so that clients cannot make one, and bound to one list, so that they cannot use it for another.
//
// A cursor is the base64url encoding of: the length of the signing key's ID (one byte), that ID, the HMAC-SHA-256 of
// scope and position (see Seal), and the position. The position is not encrypted, so it must not be secret.
type Cursors struct{ keys *config.Keys }

// NewCursors returns Cursors that sign with a key derived from the ring.
func NewCursors(keys *config.Keys) *Cursors { return &Cursors{keys: keys} }

// Seal returns the cursor of the page that begins after position, which has at most 1,024 bytes. scope identifies the
// list and everything that its contents depend on: IDs, filters, the user. Errors: config.ErrUnavailable.
func (c *Cursors) Seal(ctx context.Context, scope, position string) (string, error) {
	kid, key, err := c.keys.Current(ctx, cursorPurpose)
	if err != nil {
		return "", fmt.Errorf("db: cursor: %w", err)
	}
	if len(position) > maxPosition {
		return "", fmt.Errorf("db: cursor: the position has %d bytes, more than %d", len(position), maxPosition)
	}
	raw := append([]byte{byte(len(kid))}, kid...) //nolint:gosec // key IDs have at most 64 characters
	raw = append(raw, cursorMAC(key, scope, position)...)
	return cursorText.EncodeToString(append(raw, position...)), nil
}

// Open returns the position of a cursor of the list that scope identifies. The position of the empty cursor is "",
// which is the first page. Only the exact text that Seal returned is valid. Errors: ErrCursor, config.ErrUnavailable.
func (c *Cursors) Open(ctx context.Context, scope, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	kid, mac, position, ok := splitCursor(cursor)
	if !ok {
		return "", ErrCursor
	}
	key, err := c.keys.KeyToVerify(ctx, kid, cursorPurpose)
	switch {
	case errors.Is(err, config.ErrUnknownKey):
		return "", ErrCursor
	case err != nil:
		return "", fmt.Errorf("db: cursor: %w", err)
	case !hmac.Equal(mac, cursorMAC(key, scope, position)):
		return "", ErrCursor
	}
	return position, nil
}

// splitCursor returns the parts of a cursor. It reports false if the cursor is malformed. It does not check the MAC.
func splitCursor(cursor string) (kid string, mac []byte, position string, ok bool) {
	if len(cursor) > maxCursor {
		return "", nil, "", false
	}
	raw, err := cursorText.DecodeString(cursor)
	// The decoder ignores line breaks, so the length must match, too.
	if err != nil || len(raw) == 0 || cursorText.EncodedLen(len(raw)) != len(cursor) {
		return "", nil, "", false
	}
	afterKid := 1 + int(raw[0])
	afterMAC := afterKid + sha256.Size
	if len(raw) < afterMAC {
		return "", nil, "", false
	}
	return string(raw[1:afterKid]), raw[afterKid:afterMAC], string(raw[afterMAC:]), true
}

// cursorMAC returns the MAC of scope and position. It includes the length of scope, because otherwise "a" and "bc"
// would have the same MAC as "ab" and "c".
func cursorMAC(key []byte, scope, position string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(scope))))
	mac.Write([]byte(scope))
	mac.Write([]byte(position))
	return mac.Sum(nil)
}
