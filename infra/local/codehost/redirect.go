package codehost

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

const maxRedirect = 2048 // bytes of a redirect URI

// redirects are the registered callback URLs of the client.
type redirects []*url.URL

func parseRedirects(prefixes []string) (redirects, error) {
	if len(prefixes) == 0 {
		return nil, errors.New("codehost: RedirectPrefixes must not be empty")
	}
	registered := make(redirects, 0, len(prefixes))
	for _, prefix := range prefixes {
		u, err := parseRedirect(prefix)
		if err != nil {
			return nil, fmt.Errorf("codehost: redirect prefix %q %w", prefix, err)
		}
		if u.RawQuery != "" || u.ForceQuery {
			return nil, fmt.Errorf("codehost: redirect prefix %q must not have a query", prefix)
		}
		registered = append(registered, u)
	}
	return registered, nil
}

// allow reports whether raw is a valid redirect URI.
func (rs redirects) allow(raw string) bool {
	u, err := parseRedirect(raw)
	if err != nil {
		return false
	}
	for _, registered := range rs {
		if sameOrigin(registered, u) && below(registered.EscapedPath(), u.EscapedPath()) {
			return true
		}
	}
	return false
}

// parseRedirect accepts absolute http and https URLs that all parsers read in the same way. It refuses user names,
// backslashes, dot segments and encoded slashes: where parsers differ, a comparison of prefixes does not protect.
func parseRedirect(raw string) (*url.URL, error) {
	if len(raw) > maxRedirect || strings.ContainsAny(raw, "\\ #") {
		return nil, errors.New("is too long, or has a fragment, a space or a backslash")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return nil, errors.New("is not an absolute http or https URL without a user")
	}
	path := strings.ToLower(u.EscapedPath())
	for _, encoded := range []string{"%2e", "%2f", "%5c", "%00"} {
		if strings.Contains(path, encoded) {
			return nil, errors.New("has a path with an encoded dot, slash, backslash or NUL")
		}
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return nil, errors.New("has a path with a dot segment")
		}
	}
	return u, nil
}

func sameOrigin(registered, u *url.URL) bool {
	if registered.Scheme != u.Scheme || !strings.EqualFold(registered.Hostname(), u.Hostname()) {
		return false
	}
	if port(registered) == port(u) {
		return true
	}
	ip := net.ParseIP(registered.Hostname())
	return u.Scheme == "http" && ip != nil && ip.IsLoopback()
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

func below(registered, path string) bool {
	registered = strings.TrimRight(registered, "/")
	return path == registered || strings.HasPrefix(path, registered+"/")
}

// withQuery adds parameters to a redirect URI that [redirects.allow] accepts. It keeps the URI's own parameters
// (RFC 6749 §3.1.2).
func withQuery(redirectURI string, add url.Values) string {
	separator := "?"
	if strings.Contains(redirectURI, "?") {
		separator = "&"
	}
	return redirectURI + separator + add.Encode()
}

// originOf returns the scheme and the host of a URI that [redirects.allow] accepts.
func originOf(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return redirectURI
	}
	return u.Scheme + "://" + u.Host
}
