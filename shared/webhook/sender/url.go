package sender

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// MaxURL is how many characters a webhook's url may have.
const MaxURL = 2048

// What is wrong with a url, to be read after the field's name.
var (
	errURLLength      = errors.New("must have at most 2,048 characters")
	errURLCharacters  = errors.New("must not contain spaces or control characters")
	errURLForm        = errors.New("must be an absolute https URL")
	errURLFormPrivate = errors.New("must be an absolute https or http URL")
	errURLCredentials = errors.New("must not contain a user name or password")
	errURLHost        = errors.New("must name a valid host")
	errURLPort        = errors.New("must have a port from 1 to 65535, or none")
)

// CheckURL says what is wrong with the url of a webhook, in words that follow the field's name ("must be an absolute https URL").
// It does not look at what address the host has: that may change at any time and is decided at each attempt.
// allowPrivate lets http through.
func CheckURL(raw string, allowPrivate bool) error {
	if utf8.RuneCountInString(raw) > MaxURL {
		return errURLLength
	}
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return errURLCharacters
	}
	u, err := url.Parse(raw)
	if allowPrivate && (err != nil || u.Scheme != "https" && u.Scheme != "http") {
		return errURLFormPrivate
	}
	if err != nil || u.Scheme != "https" && !allowPrivate {
		return errURLForm
	}
	if u.User != nil {
		return errURLCredentials
	}
	if !validHost(u.Hostname()) {
		return errURLHost
	}
	if strings.HasSuffix(u.Host, ":") || u.Port() != "" && !validPort(u.Port()) {
		return errURLPort
	}
	return nil
}

// encodeURL has the request line be ASCII, as HTTP wants it: what of path and query is not is percent-encoded as UTF-8, and all
// else stays as it is, what is encoded already included. (A path that is not in RawPath is encoded by the url package.)
func encodeURL(u *url.URL) {
	u.RawPath, u.RawQuery = encodeNonASCII(u.RawPath), encodeNonASCII(u.RawQuery)
}

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

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// validHost takes an address or a name of DNS, also one in another script. Underscores are let through: they are used, although
// host names should have none.
func validHost(host string) bool {
	if strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	if !isASCII(host) {
		ascii, err := idna.Lookup.ToASCII(host) // as the transport does
		if err != nil {
			return false
		}
		host = ascii
	}
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
