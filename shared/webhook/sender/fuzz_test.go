package sender_test

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"devplatform/shared/webhook/sender"
)

// FuzzRetryAfter: whatever a receiver asks for, the wait is none or one that can be planned.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{
		"120", "0", "-1", "99999999999999999999", "1e3", "Fri, 31 Dec 1999 23:59:59 GMT", "Sun Nov  6 08:49:37 1994", "Sunday, 06-Nov-94 08:49:37 GMT",
		"Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 30 Jan 2026 13:25:33 GMT", " 5", "5 ", "٣",
	} {
		f.Add(seed, int64(1769779530))
	}
	f.Fuzz(func(t *testing.T, value string, unix int64) {
		now := time.Unix(unix%(1<<37), 0)
		wait := sender.ParseRetryAfter(value, now)
		const longest = 365 * 24 * time.Hour
		if wait < 0 || wait > longest {
			t.Fatalf("%q at %s: %s", value, now, wait)
		}
		if seconds, err := strconv.ParseUint(value, 10, 64); err == nil && wait != min(longest, time.Duration(min(seconds, 1e9))*time.Second) {
			t.Fatalf("%q: %s", value, wait)
		}
		if at, err := http.ParseTime(value); err == nil && at.After(now) != (wait > 0) {
			t.Fatalf("%q at %s: %s", value, now, wait)
		}
	})
}

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
