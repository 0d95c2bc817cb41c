package sender

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"

	"code.dny.dev/ssrf"
)

// publicOnly returns a check that rejects every address that is not public. The dialer calls it for each address before
// it connects, after the DNS lookup. So neither an unusual notation of the address nor a later change of the DNS record
// can bypass the check.
func publicOnly() func(network, address string, _ syscall.RawConn) error {
	return ssrf.New(ssrf.WithAnyPort()).Safe
}

// isNotPublic reports whether publicOnly rejected the address.
func isNotPublic(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) ||
		errors.Is(err, ssrf.ErrInvalidHostPort)
}

var errSecondDial = errors.New("sender: an attempt may open only one connection")

// singleDial allows an attempt to connect once. HTTP/2 would retry on a new connection if the server refuses a stream.
type singleDial struct {
	dialer *net.Dialer
	used   atomic.Bool
}

func (d *singleDial) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.used.Swap(true) {
		return nil, errSecondDial
	}
	return d.dialer.DialContext(ctx, network, normalizeIPv4(address)) //nolint:wrapcheck // becomes a message
}

// The stages of an attempt. The errors of the transport do not contain the stage.
const (
	stageConnect int32 = iota
	stageTLS
	stageRequest  // over HTTP/1.1, before the first byte of the response
	stageResponse // over HTTP/1.1, after the first byte of the response
	stageHTTP2    // over HTTP/2
)

// stage is the latest stage that an attempt reached.
type stage struct{ reached atomic.Int32 }

func (s *stage) get() int32 { return s.reached.Load() }

// withStage returns a context that records the stage of the request that uses it. The stage is atomic because the hooks
// can run after the attempt has ended.
func withStage(ctx context.Context) (context.Context, *stage) {
	s := new(stage)
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
