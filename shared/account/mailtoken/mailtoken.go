// Package mailtoken stores the mails to the users of accounts: mails that report a change, and mails with a link. It
// contains the tokens in these links, and the codes that users can type instead: how they are made, stored, found and
// ended. It must not decide when to send a mail, and must not know what a token allows.
//
// The tokens of a user and a kind of mail are one item, a Set, in the partition of the user. A request reads the set
// with the user, decides, and writes the set in its transaction, on the condition that its version is still the same.
// This condition has three effects. Of two requests with the same token, one fails. Each wrong code is counted before
// the next one is compared, in every instance of the function. All tokens of a user end in one transaction.
//
// A token contains the ID of its user, so no second item is needed to find it.
package mailtoken

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

// The limits of the tokens and codes of one user and kind of mail.
const (
	MaxValid   = 3  // tokens of any kind but mail.Undo: a further token ends the oldest one
	MaxUndo    = 10 // tokens of the kind mail.Undo: a change of the address that needs a further token is rejected
	MaxGuesses = 5  // after this number of wrong codes, a code ends, but the link with its token does not
)

// Life returns the time for which a token of a kind is valid.
func Life(kind mail.Kind) time.Duration {
	switch kind {
	case mail.Confirm:
		return 24 * time.Hour
	case mail.Undo:
		return 7 * 24 * time.Hour
	default:
		return 30 * time.Minute
	}
}

// Token is a token with its code. The attribute names are part of the data format.
type Token struct {
	Hash      string          `dynamodbav:"hash"`            // SHA-256 of the token, which has 256 random bits
	KeyID     string          `dynamodbav:"keyId,omitempty"` // of the ring's key; empty if the token has no code
	Code      string          `dynamodbav:"code,omitempty"`  // HMAC of the code with that key
	Guesses   int             `dynamodbav:"guesses"`         // the number of wrong codes since the token was issued
	Email     string          `dynamodbav:"email"`           // the address that the token is about
	IssuedAt  clock.Timestamp `dynamodbav:"issuedAt"`
	ExpiresAt int64           `dynamodbav:"expiresAt"` // in seconds since 1970
	Used      bool            `dynamodbav:"used,omitempty"`
}

// Secret is a token and a code in clear text, for the mail.
type Secret struct {
	Token, Code string
	ExpiresAt   time.Time
}

const (
	alphabet  = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // Crockford's base32, without the letters I, L, O and U
	codeChars = 8
)

// newSecret returns a random token of a user, and a random code.
func newSecret(userID string) Secret {
	var chars [codeChars]byte
	_, _ = rand.Read(chars[:]) // never returns an error
	for i, b := range chars {
		chars[i] = alphabet[int(b)%len(alphabet)]
	}
	return Secret{Token: id.NewToken(userID), Code: string(chars[:])}
}

// UserOf returns the ID of the user of a token, or the ID of a user who does not exist.
func UserOf(token string) string {
	if userID, ok := id.User.OfToken(token); ok {
		return userID
	}
	return UnknownUser(token)
}

// UnknownUser returns the ID of a user who does not exist. A request for an unknown address stores the same items under
// this ID as a request for a known address stores under the user's ID. No user has this ID, because its time is 1970.
// text is an address or a token.
func UnknownUser(text string) string {
	sum := sha256.Sum256([]byte(text))
	return id.User.From(time.Unix(0, 0), [10]byte(sum[:10]))
}

// normalizeCode returns a code as it was generated. It ignores case, spaces and hyphens, and accepts letters that look
// like digits.
func normalizeCode(code string) string {
	return strings.NewReplacer("O", "0", "I", "1", "L", "1", "-", "", " ", "").Replace(strings.ToUpper(code))
}
