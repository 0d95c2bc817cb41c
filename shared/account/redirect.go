package account

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxRedirectBytes = 2048

// cleanRedirect reads the place inside the app to which a sign-in comes back. It must be a path of this origin: anything
// that a browser could take for another one ("//host", "/\host", a scheme, control characters that browsers drop) is
// refused, also where it only shows after decoding. Empty means the root.
func cleanRedirect(raw string) (string, bool) {
	if raw == "" {
		return "/", true
	}
	if len(raw) > maxRedirectBytes || raw[0] != '/' || suspicious(raw) {
		return "", false
	}
	u, err := url.Parse(raw)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	decoded := u.Path
	for range 3 { // some servers and proxies decode once more than they should
		if suspicious(decoded) || !strings.HasPrefix(decoded, "/") || strings.Contains(decoded, "//") {
			return "", false
		}
		again, err := url.PathUnescape(decoded)
		if err != nil || again == decoded {
			break
		}
		decoded = again
	}
	return u.String(), true
}

func suspicious(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}
