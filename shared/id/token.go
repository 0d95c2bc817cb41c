package id

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/oklog/ulid/v2"
)

// NewToken returns a new secret token that belongs to the object with an ID. It consists of the ULID of the ID and 256
// random bits, so no second item is needed to find the object.
func NewToken(objectID string) string {
	var random [sha256.Size]byte
	_, _ = rand.Read(random[:]) // never returns an error
	_, objectULID, _ := strings.Cut(objectID, "_")
	return objectULID + base64.RawURLEncoding.EncodeToString(random[:])
}

// OfToken returns the ID of kind k to which a token belongs. It reports false if the token does not begin with a ULID.
func (k Kind) OfToken(token string) (objectID string, ok bool) {
	if len(token) <= ulid.EncodedSize {
		return "", false
	}
	objectID = string(k) + "_" + token[:ulid.EncodedSize]
	return objectID, k.Valid(objectID)
}

// HashToken returns the SHA-256 of a token, in hexadecimal. The hash is stored instead of the token.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
