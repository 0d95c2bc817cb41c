package sender

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// normalizeIPv4 converts the host to dotted-decimal notation if it is an IPv4 address in another notation of inet_aton:
// 2130706433, 0x7f.1 and 0177.0.0.1 become 127.0.0.1. Browsers and C libraries accept these notations, and Go does not.
// After the conversion, the address is checked and dialed like any other.
func normalizeIPv4(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip, ok := parseIPv4(strings.TrimSuffix(host, "."))
	if !ok {
		return address
	}
	return net.JoinHostPort(ip.String(), port)
}

// parseIPv4 parses an IPv4 address in a notation of inet_aton: one to four numbers, each decimal, octal (0…) or
// hexadecimal (0x…). The last number fills the remaining bytes.
func parseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	last := len(parts) - 1
	if last > 3 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		bits := 8
		if i == last {
			bits = 8 * (4 - last)
		}
		digits, base := part, 10
		if hex, ok := strings.CutPrefix(strings.ToLower(part), "0x"); ok {
			digits, base = hex, 16
		} else if len(part) > 1 && part[0] == '0' {
			digits, base = part[1:], 8
		}
		n, err := strconv.ParseUint(digits, base, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	var bytes [4]byte
	binary.BigEndian.PutUint32(bytes[:], uint32(value)) // the parts have 32 bits in total
	return netip.AddrFrom4(bytes), true
}
