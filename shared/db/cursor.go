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

// ErrCursor says: a cursor that was not made here, or for another list.
var ErrCursor = errors.New("db: no cursor of this list")

// cursorPurpose is what the ring's keys are derived for.
const cursorPurpose = "cursor"

const (
	// maxPosition is how long a position may be, in bytes: no sort key is longer.
	maxPosition = maxSK
	// maxCursor is how long a cursor can be, in characters: the length and text of the longest kid, MAC and position.
	maxCursor = (1 + 255 + sha256.Size + maxPosition + 2) / 3 * 4
)

// cursorText is how a cursor is written: characters that need no escaping in a URL.
var cursorText = base64.RawURLEncoding.Strict()

// Cursors makes and checks the cursors of lists: where a list goes on, signed, so that no client can make one up, and
// bound to one list, so that none can carry it elsewhere.
//
// A cursor is the base64url text of: the length of the signing key's id in one byte, that id, the HMAC-SHA-256 of scope
// and position, the position. The position can be read by whoever has the cursor: nothing secret belongs in it.
type Cursors struct{ keys *config.Keys }

// NewCursors signs with a key derived from the ring.
func NewCursors(keys *config.Keys) *Cursors { return &Cursors{keys: keys} }

// Seal makes the cursor at which the list named by scope goes on behind position, at most 1,024 bytes. A scope names
// the list and whatever decides what is in it: ids, filters, the user.
// Errors: config.ErrUnavailable.
func (c *Cursors) Seal(ctx context.Context, scope, position string) (string, error) {
	kid, key, err := c.keys.Current(ctx, cursorPurpose)
	if err != nil {
		return "", fmt.Errorf("db: cursor: %w", err)
	}
	if len(position) > maxPosition {
		return "", fmt.Errorf("db: cursor: a position of %d bytes", len(position))
	}
	raw := append([]byte{byte(len(kid))}, kid...) //nolint:gosec // the ring's ids have at most 64 characters
	raw = append(raw, cursorMAC(key, scope, position)...)
	return cursorText.EncodeToString(append(raw, position...)), nil
}

// Open is the position of a cursor of the list named by scope; no cursor, "", is the beginning, "". A cursor has one spelling:
// any other is none. Errors: ErrCursor, config.ErrUnavailable.
func (c *Cursors) Open(ctx context.Context, scope, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	kid, mac, position, ok := splitCursor(cursor)
	if !ok {
		return "", ErrCursor
	}
	key, err := c.keys.Derive(ctx, kid, cursorPurpose)
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

func splitCursor(cursor string) (kid string, mac []byte, position string, ok bool) {
	if len(cursor) > maxCursor {
		return "", nil, "", false
	}
	raw, err := cursorText.DecodeString(cursor)
	// The decoder skips line breaks.
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

// cursorMAC covers scope and position so that no part of one can pass for a part of the other.
func cursorMAC(key []byte, scope, position string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(scope))))
	mac.Write([]byte(scope))
	mac.Write([]byte(position))
	return mac.Sum(nil)
}
