package sender_test

import (
	"net/netip"
	"strings"
	"testing"

	"devplatform/shared/webhook/sender"
)

// FuzzParseNumber: an address in an old spelling is the one that it is in the usual one.
func FuzzParseNumber(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "08.0.0.1", "1.2.3.4.5", "0x", "", "1..2", "256.1", "4294967296", "0X7F000001", "+1", "1_0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		ip, ok := sender.ParseNumber(host)
		if usual, err := netip.ParseAddr(host); err == nil && usual.Is4() && (!ok || ip != usual) {
			t.Fatalf("%q is %s, %v", host, ip, ok)
		}
		if !ok {
			return
		}
		if strings.Trim(strings.ToLower(host), "0123456789abcdefx.") != "" || !ip.Is4() {
			t.Fatalf("%q is taken for %s", host, ip)
		}
		if again, ok := sender.ParseNumber(ip.String()); !ok || again != ip {
			t.Fatalf("%s is %s, %v", ip, again, ok)
		}
	})
}
