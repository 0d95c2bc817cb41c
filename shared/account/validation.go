package account

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of the fields of a sign-up.
const (
	MaxEmailBytes       = 254 // RFC 5321 §4.5.3.1.3, without the angle brackets
	maxLocalPartBytes   = 64
	maxDomainLabelBytes = 63

	MinUsernameBytes = 2
	MaxUsernameBytes = 64

	MinPasswordChars = 8
	MaxPasswordChars = 128
	// MaxLoginBytes bounds the e-mail address and the password of a login.
	MaxLoginBytes = 1024
)

// commonPasswords lists the most common passwords that have at least MinPasswordChars characters, one per line, in
// lower case.
//
//go:embed common_passwords.txt
var commonPasswords string

// NormalizeEmail returns the form in which an address is stored and looked up. Addresses are ASCII (see CheckEmail), so
// that two different letters never become equal.
func NormalizeEmail(email string) string {
	return strings.ToLower(email)
}

// CheckEmail returns the rule that an address breaks, or "". It accepts the dot-atom form of RFC 5322 §3.4.1 with a
// domain of at least two labels, in ASCII. It rejects quoted local parts, address literals and comments. The RFC allows
// them, but in a sign-up form they are usually typing errors or attacks.
func CheckEmail(email string) string {
	local, domain, found := strings.Cut(email, "@")
	switch {
	case email == "":
		return "is required"
	case len(email) > MaxEmailBytes:
		return "must be at most 254 characters long"
	case !found, !validLocalPart(local), !validDomain(domain):
		return "must be a valid e-mail address"
	}
	return ""
}

func validLocalPart(s string) bool {
	if s == "" || len(s) > maxLocalPartBytes {
		return false
	}
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.IndexFunc(atom, func(r rune) bool { return !isAtomChar(r) }) >= 0 {
			return false
		}
	}
	return true
}

// isAtomChar reports whether r is an atext character of RFC 5322 §3.2.3.
func isAtomChar(r rune) bool {
	return isASCIILetterOrDigit(r) || (r < utf8.RuneSelf && strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r))
}

func isASCIILetterOrDigit(r rune) bool {
	return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')
}

func validDomain(s string) bool {
	labels := strings.Split(s, ".")
	if len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if !validDomainLabel(label) {
			return false
		}
	}
	top := labels[len(labels)-1]
	return strings.IndexFunc(top, func(r rune) bool { return r < '0' || r > '9' }) >= 0 // not an IPv4 address
}

func validDomainLabel(label string) bool {
	if label == "" || len(label) > maxDomainLabelBytes || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return strings.IndexFunc(label, func(r rune) bool { return r != '-' && !isASCIILetterOrDigit(r) }) < 0
}

// CheckUsername returns the rule that a username breaks, or "".
func CheckUsername(username string) string {
	switch {
	case username == "":
		return "is required"
	case len(username) < MinUsernameBytes || len(username) > MaxUsernameBytes:
		return "must be 2 to 64 characters long"
	case strings.IndexFunc(username, func(r rune) bool { return !isUsernameChar(r) }) >= 0:
		return "may contain only A-Z, a-z, 0-9, '.', '-' and '_'"
	case !isASCIILetterOrDigit(rune(username[0])):
		return "must start with a letter or a digit"
	}
	return ""
}

func isUsernameChar(r rune) bool {
	return isASCIILetterOrDigit(r) || r == '.' || r == '-' || r == '_'
}

// normalizePassword returns the form of a password that is checked and hashed: Unicode normal form C (NFC). Some
// keyboards and systems send a letter such as é as one code point, and others as two.
func normalizePassword(password string) string { return norm.NFC.String(password) }

// CheckPassword returns the rule that a new password breaks, or "". It must differ from the account's email and
// username. Comparisons ignore case. The number of characters is limited after normalization, and the number of bytes
// before it, as in a login.
func CheckPassword(password, email, username string) string {
	normalized := normalizePassword(password)
	chars := utf8.RuneCountInString(normalized)
	switch {
	case password == "":
		return "is required"
	case chars < MinPasswordChars || chars > MaxPasswordChars:
		return "must be 8 to 128 characters long"
	case len(password) > MaxLoginBytes:
		return "must be at most 1,024 bytes long"
	case !utf8.ValidString(password):
		return "must be valid UTF-8"
	case isCommonPassword(normalized):
		return "must not be one of the most common passwords"
	case strings.EqualFold(normalized, email) || strings.EqualFold(normalized, username):
		return "must not be the e-mail address or the username"
	case strings.TrimFunc(normalized, unicode.IsSpace) == "":
		return "must not be blank"
	}
	return ""
}

// isCommonPassword reports whether a password is one of commonPasswords. The list is so short that a scan, which needs
// no memory and no work at the start, takes a small part of the time of a hash.
func isCommonPassword(password string) bool {
	lower := strings.ToLower(password)
	for common := range strings.SplitSeq(commonPasswords, "\n") {
		if lower == common {
			return true
		}
	}
	return false
}

// usernameFrom returns a valid username that resembles the user's name at a code host. Characters that usernames cannot
// contain become "-". The result leaves room for a suffix that makes it unique.
func usernameFrom(login string) string {
	const suffixBytes = 16
	var b strings.Builder
	for _, r := range login {
		if b.Len() >= MaxUsernameBytes-suffixBytes {
			break
		}
		switch {
		case b.Len() == 0 && !isASCIILetterOrDigit(r): // skipped: a username starts with a letter or a digit
		case isUsernameChar(r):
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	if name := strings.TrimRight(b.String(), "-"); len(name) >= MinUsernameBytes {
		return name
	}
	return "user"
}
