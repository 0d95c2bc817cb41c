package sender_test

import (
	"net/netip"
	"strings"
	"testing"

	"devplatform/shared/webhook/sender"
)

// FuzzParseIPv4 checks that every accepted notation is a valid IPv4 address, and that dotted-decimal addresses keep
// their value.
func FuzzParseIPv4(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "08.0.0.1", "1.2.3.4.5", "0x", "", "1..2", "256.1",
		"4294967296", "0X7F000001", "+1", "1_0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		ip, ok := sender.ParseIPv4(host)
		if want, err := netip.ParseAddr(host); err == nil && want.Is4() && (!ok || ip != want) {
			t.Fatalf("ParseIPv4(%q): got %s, %t, want %s", host, ip, ok, want)
		}
		if !ok {
			return
		}
		if strings.Trim(strings.ToLower(host), "0123456789abcdefx.") != "" || !ip.Is4() {
			t.Fatalf("ParseIPv4(%q): got %s, want no address", host, ip)
		}
		if parsed, ok := sender.ParseIPv4(ip.String()); !ok || parsed != ip {
			t.Fatalf("ParseIPv4(%q): got %s, %t", ip, parsed, ok)
		}
	})
}
