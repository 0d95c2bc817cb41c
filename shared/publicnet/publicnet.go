// Package publicnet restricts outgoing connections to public IP addresses, for URLs that do not come from the code of
// the service itself. It imports no other package of the project.
package publicnet

import (
	"errors"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// Control returns a function for net.Dialer.Control that returns an error for every address that is not public. The
// dialer calls it after the DNS lookup, for each IP address that it is about to connect to. So neither an unusual
// notation of the address nor a later change of the DNS record can bypass the check.
func Control() func(network, address string, _ syscall.RawConn) error { return guardian.Safe }

// IsPublic reports whether the function that Control returns accepts an address.
func IsPublic(address netip.Addr) bool {
	return guardian.SafeAddr(address.Unmap()) == nil // a connection to an IPv4-mapped address uses IPv4
}

var guardian = ssrf.New(ssrf.WithAnyPort())

// IsRejected reports whether the function that Control returns rejected an address with err.
func IsRejected(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) ||
		errors.Is(err, ssrf.ErrInvalidHostPort)
}
