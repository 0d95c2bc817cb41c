package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"devplatform/shared/id"
)

// The token of an invitation to an address consists of the ULID of the workspace and 256 random bits. So the item with
// the invitations of the workspace is enough to find the invitation. It has the SHA-256 of the token.

// ulidChars is the length of the ULID in an ID.
const ulidChars = 26

// newToken returns a new token of an invitation to a workspace.
func newToken(workspaceID string) string {
	var random [sha256.Size]byte
	_, _ = rand.Read(random[:]) // never returns an error
	_, ulid, _ := strings.Cut(workspaceID, "_")
	return ulid + base64.RawURLEncoding.EncodeToString(random[:])
}

// workspaceOf returns the ID of the workspace of a token. It reports false if the token does not begin with the ULID of
// an ID.
func workspaceOf(token string) (workspaceID string, ok bool) {
	if len(token) <= ulidChars {
		return "", false
	}
	workspaceID = string(id.Workspace) + "_" + token[:ulidChars]
	return workspaceID, id.Workspace.Valid(workspaceID)
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
