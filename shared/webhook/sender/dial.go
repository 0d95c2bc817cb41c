package sender

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
)

var errSecondDial = errors.New("sender: an attempt may open only one connection")

// singleDial dials at most one connection for an attempt. Without this limit, the HTTP/2 transport would open a new
// connection and send the request again if the server refused a stream.
type singleDial struct {
	dialer *net.Dialer
	stages *stageTracker
	used   atomic.Bool
}

func (d *singleDial) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.used.Swap(true) {
		return nil, errSecondDial
	}
	conn, err := d.dialer.DialContext(ctx, network, normalizeIPv4(address))
	if err != nil {
		return nil, err
	}
	return &limitedConn{Conn: conn, stages: d.stages}, nil
}

var (
	// errHandshakeSize reports that an endpoint sent more than maxHandshake bytes in the TLS handshake.
	errHandshakeSize = errors.New("sender: the TLS handshake is too large")
	errReceived      = errors.New("sender: the endpoint sent too much")
)

// limitedConn is a connection that fails after it has received maxHandshake bytes in the TLS handshake, or maxReceived
// bytes in total. crypto/tls accepts 256 KiB of certificates, and the parsed form of hostile certificates is more than
// 20 times as large. An HTTP/2 endpoint can send frames without a response until the attempt times out.
type limitedConn struct {
	net.Conn

	stages   *stageTracker
	received int // bytes
}

func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received += n
	switch {
	case c.received > maxHandshake && c.stages.reached.Load() == stageTLS:
		return 0, errHandshakeSize
	case c.received > maxReceived:
		return 0, errReceived
	}
	return n, err
}

// The stages of an attempt. Send needs the stage to choose the message for an error, because the errors of the
// transport do not contain it.
const (
	stageConnect  int32 = iota // DNS lookup and TCP connection
	stageTLS                   // TLS handshake
	stageRequest               // HTTP/1.1, before the first byte of the response
	stageResponse              // HTTP/1.1, after the first byte of the response
	stageHTTP2                 // HTTP/2, both before and after the first byte of the response
)

// stageTracker records the latest stage that an attempt reached. It is atomic because hooks of httptrace can run after
// the attempt has ended.
type stageTracker struct{ reached atomic.Int32 }

// trackStage returns a context for a request, and the tracker that records the stages of this request.
func trackStage(ctx context.Context) (context.Context, *stageTracker) {
	s := new(stageTracker)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { s.reached.Store(stageTLS) },
		GotConn: func(got httptrace.GotConnInfo) {
			s.reached.Store(stageRequest)
			if secured, ok := got.Conn.(*tls.Conn); ok && secured.ConnectionState().NegotiatedProtocol == "h2" {
				s.reached.Store(stageHTTP2)
			}
		},
		GotFirstResponseByte: func() { s.reached.CompareAndSwap(stageRequest, stageResponse) },
	}), s
}

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
