package sender

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"devplatform/shared/publicnet"
)

// MaxURL is the maximum number of characters of a webhook's URL.
const MaxURL = 2048

// The rules that a URL can violate. Each text continues a sentence that begins with the name of the field.
var (
	errURLLength      = errors.New("must be at most 2,048 characters long")
	errURLCharacters  = errors.New("must not contain spaces or control characters")
	errURLForm        = errors.New("must be an absolute https URL, such as https://example.com/hooks")
	errURLHTTP        = errors.New("must begin with https, not http")
	errURLEscape      = errors.New("must have two hexadecimal digits after each %")
	errURLCredentials = errors.New("must not contain a user name or password")
	errURLHost        = errors.New("must contain a valid host name or IP address, and any port must be from 1 to 65535")
	errURLNotPublic   = errors.New("must have a public host: not localhost, and not a private or reserved IP address")
)

// CheckURL returns an error with the rule that the URL of a webhook violates, or nil. The text continues a sentence
// that begins with the name of the field ("must begin with https, not http"). If the host is an IP address, the
// sender must be allowed to connect to it. The addresses of a host name can change at any time, so each attempt checks
// them. allowPrivate allows http and private addresses.
func CheckURL(raw string, allowPrivate bool) error {
	u, err := checkForm(raw, allowPrivate)
	if err == nil && !allowPrivate && isNotPublic(u.Hostname()) {
		return errURLNotPublic
	}
	return err
}

// checkForm makes all checks of CheckURL except the check of the address, and returns the parsed URL. An attempt checks
// the address when it connects.
func checkForm(raw string, allowPrivate bool) (*url.URL, error) {
	if utf8.RuneCountInString(raw) > MaxURL {
		return nil, errURLLength
	}
	invisible := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, invisible) {
		return nil, errURLCharacters
	}
	scheme, rest, isAbsolute := strings.Cut(raw, "://")
	if !isAbsolute || !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		return nil, errURLForm
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	if strings.Contains(authority, "@") {
		return nil, errURLCredentials
	}
	u, err := url.Parse(raw)
	if _, ok := errors.AsType[url.EscapeError](err); ok && !strings.Contains(authority, "%") {
		return nil, errURLEscape
	}
	if err != nil || !hasValidHost(u) {
		return nil, errURLHost
	}
	if u.Scheme == "http" && !allowPrivate {
		return nil, errURLHTTP
	}
	return u, nil
}

// hasValidHost reports whether a URL has a valid host, and a valid port if it has one.
func hasValidHost(u *url.URL) bool {
	_, isValid := asciiHost(u.Hostname())
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	return isValid && !strings.HasSuffix(u.Host, ":") && err == nil && port > 0
}

// encodeNonASCII percent-encodes the characters that are not ASCII. It changes nothing else.
func encodeNonASCII(s string) string {
	if isASCII(s) {
		return s
	}
	var encoded strings.Builder
	for _, b := range []byte(s) {
		if b < utf8.RuneSelf {
			encoded.WriteByte(b)
			continue
		}
		fmt.Fprintf(&encoded, "%%%02X", b)
	}
	return encoded.String()
}

// isNotPublic reports whether a host is an IP address, in any notation, to which the sender does not connect, or a name
// that always has a loopback address. The host has a valid form.
func isNotPublic(host string) bool {
	name, _ := asciiHost(host)
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	address, isIPv4 := parseIPv4(name)
	if !isIPv4 {
		var err error
		if address, err = netip.ParseAddr(name); err != nil {
			return false
		}
	}
	return !publicnet.IsPublic(address)
}

// asciiHost returns the ASCII form of a host. It reports whether the host is an IP address or a DNS name, which may be
// internationalized. It accepts underscores, because existing names contain them.
func asciiHost(host string) (ascii string, valid bool) {
	if strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host)
		return host, err == nil
	}
	if !isASCII(host) {
		ascii, err := idna.Lookup.ToASCII(host) // as the transport does
		if err != nil {
			return "", false
		}
		host = ascii
	}
	return host, isValidName(host)
}

func isValidName(host string) bool {
	name := strings.TrimSuffix(host, ".")
	const longestName, longestLabel = 253, 63
	if len(name) > longestName {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > longestLabel || strings.Trim(label, labelCharacters) != "" {
			return false
		}
	}
	return true
}

const labelCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
