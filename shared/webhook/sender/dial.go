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

// publicOnly refuses every address that is not of the public internet. The dialer asks it for each address that it is about to
// connect to, after the look-up: so it does not matter how the address was written or what a name said a moment ago.
func publicOnly() func(network, address string, _ syscall.RawConn) error {
	return ssrf.New(ssrf.WithAnyPort()).Safe
}

// refused reports whether publicOnly said no.
func refused(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) || errors.Is(err, ssrf.ErrInvalidHostPort)
}

var errDialledAgain = errors.New("sender: an attempt has one connection")

// singleDial lets an attempt connect once. HTTP/2 would begin again, on a new connection, when a server refuses a stream.
type singleDial struct {
	dialer *net.Dialer
	used   atomic.Bool
}

func (d *singleDial) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.used.Swap(true) {
		return nil, errDialledAgain
	}
	return d.dialer.DialContext(ctx, network, asWritten(address)) //nolint:wrapcheck // it is sorted into a sentence
}

// How far an attempt came. The transport's errors don't say.
const (
	connecting int32 = iota
	securing
	exchanging // over HTTP/1.1, without a byte of an answer
	answering  // over HTTP/1.1, of which a first byte came
	streaming  // over HTTP/2
)

type stage struct{ reached atomic.Int32 }

func (s *stage) get() int32 { return s.reached.Load() }

// withStage follows the attempt. The hooks may still be called after the attempt is over, hence the atomic.
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
