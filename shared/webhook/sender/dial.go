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
// it connects, after the DNS lookup. So neither the spelling of the address nor a change of the DNS record matters.
func publicOnly() func(network, address string, _ syscall.RawConn) error {
	return ssrf.New(ssrf.WithAnyPort()).Safe
}

// refused reports whether publicOnly rejected the address.
func refused(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) ||
		errors.Is(err, ssrf.ErrInvalidHostPort)
}

var errDialledAgain = errors.New("sender: an attempt makes one connection")

// singleDial allows an attempt to connect once. HTTP/2 would retry on a new connection if the server refuses a stream.
type singleDial struct {
	dialer *net.Dialer
	used   atomic.Bool
}

func (d *singleDial) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.used.Swap(true) {
		return nil, errDialledAgain
	}
	return d.dialer.DialContext(ctx, network, asWritten(address)) //nolint:wrapcheck // converted into a message
}

// The stage that an attempt reached. The transport's errors do not contain it.
const (
	connecting int32 = iota
	securing
	exchanging // over HTTP/1.1, before the first byte of the response
	answering  // over HTTP/1.1, after the first byte of the response
	streaming  // over HTTP/2
)

type stage struct{ reached atomic.Int32 }

func (s *stage) get() int32 { return s.reached.Load() }

// withStage returns a context that records the stage. It is atomic because the hooks may run after the attempt has
// ended.
func withStage(ctx context.Context) (context.Context, *stage) {
	s := new(stage)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { s.reached.Store(securing) },
		GotConn: func(got httptrace.GotConnInfo) {
			s.reached.Store(exchanging)
			if secured, ok := got.Conn.(*tls.Conn); ok && secured.ConnectionState().NegotiatedProtocol == "h2" {
				s.reached.Store(streaming)
			}
		},
		GotFirstResponseByte: func() { s.reached.CompareAndSwap(exchanging, answering) },
	}), s
}
