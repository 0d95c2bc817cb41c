package gateway

import (
	"bytes"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

const (
	// readHeaderTimeout is how long a client may take to send its headers, the TLS handshake included.
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 350 * time.Second // as API Gateway's front door keeps connections
	// maxWireHeaders leaves room to answer headers beyond API Gateway's limit with a gateway response.
	maxWireHeaders = 64 << 10
)

// NewServer returns a server for handler that slow and noisy clients can't wear out. tlsConfig is nil for plain http; with
// one, HTTP/2 is offered. There is no write time-out: a streamed answer may take as long as its route allows.
func NewServer(handler http.Handler, tlsConfig *tls.Config, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		TLSConfig:                    tlsConfig,
		ReadHeaderTimeout:            readHeaderTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxWireHeaders,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // OPTIONS * is for the API to refuse
		ConnState:                    follow,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if one := ours(c); one != nil && one.refused {
				return context.WithValue(ctx, refusedKey{}, true)
			}
			return ctx
		},
	}
}

// refusedKey marks the context of a connection that is one too many.
type refusedKey struct{}

// Listener wraps a listener, plain or to be wrapped in TLS, so that its connections are counted and limited together with
// those of the gateway's other listeners, and so that what net/http refuses before the handler (a broken request line or
// percent-encoding, headers beyond its limit, an unknown transfer coding or expectation) is answered in
// the shape of the API's gateway responses, and not as text. On TLS connections net/http's own answer stands.
func (g *Gateway) Listener(inner net.Listener) net.Listener {
	return &listener{Listener: inner, gateway: g, closed: make(chan struct{})}
}

type listener struct {
	net.Listener

	gateway *Gateway
	close   sync.Once
	closed  chan struct{}
}

// Accept wraps the next connection, once there is room for it. An error for want of files is one that net/http waits
// after, and tries again.
func (l *listener) Accept() (net.Conn, error) {
	crowd := l.gateway.crowd
	select {
	case crowd.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	inner, err := l.Listener.Accept()
	if err != nil {
		<-crowd.places
		if !errors.Is(err, net.ErrClosed) {
			crowd.complain("can't accept connections", slog.Any("error", err))
		}
		return nil, err //nolint:wrapcheck // net/http looks at the error itself
	}
	one := &conn{Conn: inner, gateway: l.gateway}
	crowd.enter(one)
	return one, nil
}

// Close ends the listener, also while it waits for room.
func (l *listener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close() //nolint:wrapcheck // as in Accept
}

type conn struct {
	net.Conn

	gateway *Gateway
	close   sync.Once
	refused bool // set before it is used

	// Guarded by crowd.mu.
	resting *list.Element // in crowd.idle; nil while it is busy
	left    bool          // it was counted out
}

// Close ends the connection and counts it out.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.close.Do(func() { c.gateway.crowd.leave(c) })
	return err //nolint:wrapcheck // as in Accept
}

// plainRefusal is how the head of an answer ends that net/http wrote itself: the handler's always have a date.
var plainRefusal = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// unexpected is all of net/http's own answer to an Expect that it doesn't know: the handler's always have request ids.
var unexpected = regexp.MustCompile(`^HTTP/1\.[01] 417 Expectation Failed\r\nConnection: close\r\nDate: [^\r]+\r\n(Content-Length: 0\r\n)?\r\n$`)

// Write replaces net/http's own refusals, which it writes in one piece.
func (c *conn) Write(b []byte) (int, error) {
	status, own := ownRefusal(b)
	if !own {
		return c.Conn.Write(b) //nolint:wrapcheck // a net.Conn's errors are looked at by net/http
	}
	if _, err := c.Conn.Write(c.gateway.refusal(status, c.RemoteAddr())); err != nil {
		return 0, err //nolint:wrapcheck // as above
	}
	return len(b), nil
}

// ownRefusal tells whether net/http refuses a request with b, and the status that it has for it.
func ownRefusal(b []byte) (status int, own bool) {
	if !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return 0, false
	}
	line, _, found := bytes.Cut(b, []byte("\r\n"))
	if !found || len(line) < len("HTTP/1.1 400") {
		return 0, false
	}
	status, err := strconv.Atoi(string(line[len("HTTP/1.1 "):len("HTTP/1.1 400")]))
	if err != nil {
		return 0, false
	}
	return status, bytes.HasPrefix(b[len(line):], plainRefusal) || status == http.StatusExpectationFailed && unexpected.Match(b)
}

// CloseWrite lets net/http end a refused connection without losing the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal is the whole answer to a request that could not be read.
func (g *Gateway) refusal(status int, peer net.Addr) []byte {
	f := errBadRequest
	if status == http.StatusRequestHeaderFieldsTooLarge {
		f = errHeadersTooLong
	}
	now := g.now().UTC()
	q := &request{
		Request: &http.Request{Header: http.Header{}}, ids: newRequestIDs(now, ""), received: now, sourceIP: sourceIP(peer.String()),
	}
	w := &memoryWriter{header: http.Header{
		"Date":           {now.Format(http.TimeFormat)},
		"Connection":     {"close"},
		headerRequestID:  {q.ids.request},
		headerExtendedID: {q.ids.extended},
	}}
	sent := g.fail(w, q, f)
	g.logger.Info("request", "status", sent, "requestId", q.ids.request, "error", f.message)

	var out bytes.Buffer
	out.WriteString("HTTP/1.1 " + strconv.Itoa(sent) + " " + http.StatusText(sent) + "\r\n")
	_ = w.header.Write(&out) // a buffer takes everything
	out.WriteString("\r\n")
	out.Write(w.body)
	return out.Bytes()
}

// memoryWriter keeps a small response.
type memoryWriter struct {
	header http.Header
	body   []byte
}

// Header returns the response's headers.
func (m *memoryWriter) Header() http.Header { return m.header }

// WriteHeader does nothing: the gateway response's status is known from elsewhere.
func (m *memoryWriter) WriteHeader(int) {}

// Write appends to the body.
func (m *memoryWriter) Write(b []byte) (int, error) {
	m.body = append(m.body, b...)
	return len(b), nil
}
