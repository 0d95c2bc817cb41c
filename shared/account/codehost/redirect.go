package codehost

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/config"
)

const maxRedirectBytes = 2048

// cleanRedirect returns the path or URL to which the browser returns after a sign-in, and reports whether raw is
// allowed. raw must be a path of this origin, or a URL of one of the origins. If raw is empty, the path is "/".
func cleanRedirect(raw string, origins []config.Origin) (string, bool) {
	if raw == "" {
		return "/", true
	}
	if len(raw) > maxRedirectBytes || hasUnsafeCharacter(raw) {
		return "", false
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Opaque != "" {
		return "", false
	}
	var origin config.Origin
	if u.IsAbs() {
		if err := origin.UnmarshalText([]byte(u.Scheme + "://" + u.Host)); err != nil || !slices.Contains(origins, origin) {
			return "", false
		}
		u.Scheme, u.Host = "", ""
		if u.Path == "" {
			u.Path = "/"
		}
	}
	if u.Host != "" || !isSafePath(u.Path) {
		return "", false
	}
	return string(origin) + u.String(), true
}

// withError returns a result of cleanRedirect whose query has the parameter error with a code. The parameter replaces
// other parameters with the name error. The code needs no escaping.
func withError(redirect, code string) string {
	beforeFragment, fragment, hasFragment := strings.Cut(redirect, "#")
	path, query, _ := strings.Cut(beforeFragment, "?")
	params := slices.DeleteFunc(strings.Split(query, "&"), func(param string) bool {
		name, _, _ := strings.Cut(param, "=")
		unescaped, err := url.QueryUnescape(name)
		return param == "" || err == nil && unescaped == "error"
	})
	result := path + "?" + strings.Join(append(params, "error="+code), "&")
	if hasFragment {
		result += "#" + fragment
	}
	return result
}

// originOf returns the origin of a URL, or "" if the URL is relative or not valid.
func originOf(rawURL string) config.Origin {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return ""
	}
	return config.Origin(u.Scheme + "://" + u.Host)
}

// isSafePath reports whether a path begins with "/", and no browser could read it as the URL of another origin. It also
// rejects "//host", "/\host", and control characters, which browsers remove, if they appear only after decoding.
func isSafePath(path string) bool {
	for range 3 { // some servers and proxies decode a path more than once
		if hasUnsafeCharacter(path) || !strings.HasPrefix(path, "/") || strings.Contains(path, "//") {
			return false
		}
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			break
		}
		path = decoded
	}
	return true
}

// hasUnsafeCharacter reports whether s contains a character that browsers remove or read as a slash.
func hasUnsafeCharacter(s string) bool {
	return !utf8.ValidString(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}
