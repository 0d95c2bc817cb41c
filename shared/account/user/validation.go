package user

import (
	"crypto/rand"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"devplatform/shared/workspace"
)

// Limits of an e-mail address and a username.
const (
	MaxEmailBytes     = 254 // RFC 5321 §4.5.3.1.3, without the angle brackets
	maxLocalPartBytes = 64

	MinUsernameBytes = 2
	MaxUsernameBytes = 64
)

// NormalizeEmail returns the form in which an address is stored and looked up. Addresses are ASCII (see CheckEmail), so
// that two different letters never become equal.
func NormalizeEmail(email string) string {
	return strings.ToLower(email)
}

// NormalizeEmail implements workspace.People.
func (Store) NormalizeEmail(email string) (normalized, rule string) {
	return NormalizeEmail(email), CheckEmail(email)
}

// wellFormedEmail returns the pattern of the dot-atom form of RFC 5322 §3.4.1, in ASCII. Its first group is the local
// part, and its second group is the last label of the domain. It is compiled at the first use, because most functions
// never use it.
var wellFormedEmail = sync.OnceValue(func() *regexp.Regexp {
	const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
	const label = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
	return regexp.MustCompile(`^(` + atom + `(?:\.` + atom + `)*)@(?:` + label + `\.)+(` + label + `)$`)
})

// CheckEmail returns the rule that an address breaks, or "". It accepts the dot-atom form with a domain of at least two
// labels that is not an IPv4 address. It rejects quoted local parts, address literals and comments. The RFC allows
// them, but in a sign-up form they are usually typing errors or attacks.
func CheckEmail(email string) string {
	switch {
	case email == "":
		return "is required"
	case len(email) > MaxEmailBytes:
		return "must be at most 254 characters long"
	}
	parts := wellFormedEmail().FindStringSubmatch(email)
	if parts == nil || len(parts[1]) > maxLocalPartBytes || strings.Trim(parts[2], "0123456789") == "" {
		return "must be a valid e-mail address"
	}
	return ""
}

func isASCIILetterOrDigit(r rune) bool {
	return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')
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
	case strings.EqualFold(username, workspace.DeletedUser):
		return "is reserved"
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
	if name := strings.TrimRight(b.String(), "-"); CheckUsername(name) == "" {
		return name
	}
	return "user"
}

// Printable returns at most limit bytes of s, without unprintable characters. Clients choose s, and control characters
// could change how a page or a log looks.
func Printable(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			continue
		}
		if b.Len()+len(string(r)) > limit {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
