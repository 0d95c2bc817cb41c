package sender

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// Functions that the tests of this package call directly.
var (
	Printable   = printable
	ParseNumber = parseNumber
)

// NewWithPublic is New for a machine on which these addresses, too, are public: the only way to have a public address
// and a private one without a network.
func NewWithPublic(o Options, public ...netip.Prefix) *Sender {
	s := New(o)
	s.dialer.Control = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(public...)).Safe
	return s
}
