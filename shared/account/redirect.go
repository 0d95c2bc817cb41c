package account

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxRedirectBytes = 2048

// cleanRedirect returns the path to which the browser returns after a sign-in, and reports whether raw is allowed. raw
// must be a path of this origin. If raw is empty, the path is "/". cleanRedirect rejects values that a browser could
// read as another origin, even if they appear only after decoding: "//host", "/\host", a scheme, and control
// characters, which browsers remove.
func cleanRedirect(raw string) (string, bool) {
	if raw == "" {
		return "/", true
	}
	if len(raw) > maxRedirectBytes || raw[0] != '/' || hasUnsafeCharacter(raw) {
		return "", false
	}
	u, err := url.Parse(raw)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	decoded := u.Path
	for range 3 { // some servers and proxies decode a path more than once
		if hasUnsafeCharacter(decoded) || !strings.HasPrefix(decoded, "/") || strings.Contains(decoded, "//") {
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

// hasUnsafeCharacter reports whether s contains a character that browsers remove or read as a slash.
func hasUnsafeCharacter(s string) bool {
	return !utf8.ValidString(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}
