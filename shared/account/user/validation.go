package user

import (
	"crypto/rand"
	"strings"
	"unicode/utf8"
)

// Limits of an e-mail address and a username.
const (
	MaxEmailBytes       = 254 // RFC 5321 §4.5.3.1.3, without the angle brackets
	maxLocalPartBytes   = 64
	maxDomainLabelBytes = 63

	MinUsernameBytes = 2
	MaxUsernameBytes = 64
)

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

// UsernameCandidates returns usernames for a new account that resemble the user's name at a code host, the preferred
// one first. The last one has a random suffix, because all others can be taken.
func UsernameCandidates(login string) []string {
	name := usernameFrom(login)
	random := name + "-" + strings.ToLower(rand.Text()[:8])
	return []string{name, name + "-2", name + "-3", name + "-4", name + "-5", random}
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
