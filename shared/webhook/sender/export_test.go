package sender

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// Functions that the tests of this package call directly.
var (
	Printable = printable
	ParseIPv4 = parseIPv4
)

// NewWithPublic returns a Sender that treats the addresses in public as public. Tests use it to have a public address
// on the loopback interface.
func NewWithPublic(o Options, public ...netip.Prefix) *Sender {
	s := New(o)
	s.dialer.Control = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(public...)).Safe
	return s
}
