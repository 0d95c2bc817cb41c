// Package loopback decides which Host headers the ports of the local platform accept. It keeps out web pages that reach
// this machine under a name of their own (DNS rebinding): for the browser, such a page has the same origin as the port.
//
// What may not enter: how a port responds to a request that is not accepted.
package loopback

import (
	"net"
	"regexp"
	"slices"
	"strings"
)

// names are the names of this machine that no other machine has.
var names = []string{"localhost", "127.0.0.1", "::1"}

// Accepts reports whether a Host header, with any port, names this machine, or is one of the other hosts.
func Accepts(host string, others ...string) bool {
	name := Name(host)
	isName := func(other string) bool { return name != "" && name == Name(other) }
	return slices.Contains(names, name) || slices.ContainsFunc(others, isName)
}

// belowLocalhost matches names of this machine that have at least one label before localhost.
var belowLocalhost = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+localhost$`)

// IsBelowLocalhost reports whether a Host header, with any port, is a name such as a.localhost. Browsers resolve these
// names to this machine, and treat each of them as a site of its own.
func IsBelowLocalhost(host string) bool { return belowLocalhost.MatchString(Name(host)) }

// Name returns a Host header without its port and without the brackets of an IPv6 address, in lower case.
func Name(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}
