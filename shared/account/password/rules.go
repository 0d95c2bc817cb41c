package password

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	minChars = 8
	maxChars = 128
	// maxLoginBytes is the maximum length of the e-mail address of a login, and of any password.
	maxLoginBytes = 1024
)

// commonPasswords lists the most common passwords that have at least minChars characters, one per line, in
// lower case.
//
//go:embed common_passwords.txt
var commonPasswords string

// normalize returns the form of a password that is checked and hashed: Unicode normal form C (NFC). Some
// keyboards and systems send a letter such as é as one code point, and others as two.
func normalize(password string) string { return norm.NFC.String(password) }

// Check returns the rule that a new password breaks, or "". The password must differ from the account's email and
// username. Comparisons ignore case. The number of characters is limited after normalization, and the number of bytes
// before it, as in a login.
func Check(password, email, username string) string {
	normalized := normalize(password)
	chars := utf8.RuneCountInString(normalized)
	switch {
	case password == "":
		return "is required"
	case chars < minChars || chars > maxChars:
		return "must be 8 to 128 characters long"
	case len(password) > maxLoginBytes:
		return "must be at most 1,024 bytes long"
	case !utf8.ValidString(password):
		return "must be valid UTF-8"
	case isCommon(normalized):
		return "must not be one of the most common passwords"
	case strings.EqualFold(normalized, email) || strings.EqualFold(normalized, username):
		return "must not be the e-mail address or the username"
	case strings.TrimFunc(normalized, unicode.IsSpace) == "":
		return "must not be blank"
	}
	return ""
}

// isCommon reports whether a password is one of commonPasswords. A map would need memory, and work at each cold start.
// The list is so short that a scan takes a small part of the time of a hash.
func isCommon(password string) bool {
	lower := strings.ToLower(password)
	for common := range strings.SplitSeq(commonPasswords, "\n") {
		if lower == common {
			return true
		}
	}
	return false
}

// checkLength returns the rule that the e-mail address or the password of a login breaks, or "". The length is the only
// rule: any other incorrect value is rejected as a wrong password.
func checkLength(s string) string {
	if len(s) > maxLoginBytes {
		return "must be at most 1,024 bytes long"
	}
	return ""
}
