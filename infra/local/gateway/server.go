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
	// readHeaderTimeout is how long a client may take for the TLS handshake and its headers.
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 350 * time.Second // like API Gateway
	// maxWireHeaders is above API Gateway's limit, so that too large headers get a gateway response.
	maxWireHeaders = 64 << 10
)

// NewServer returns a server for handler with time-outs against slow clients. tlsConfig is nil for plain http. With
// TLS, the server offers HTTP/2. There is no write time-out: a streamed response may take as long as its route allows.
func NewServer(handler http.Handler, tlsConfig *tls.Config, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		TLSConfig:                    tlsConfig,
		ReadHeaderTimeout:            readHeaderTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxWireHeaders,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // the API refuses OPTIONS *
		ConnState:                    trackState,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if one := connOf(c); one != nil && one.refused {
				return context.WithValue(ctx, refusedKey{}, true)
			}
			return ctx
		},
	}
}

// refusedKey marks the context of a connection above the limit.
type refusedKey struct{}

// Listener wraps a listener. Its connections count towards the limit of connections. Requests that net/http refuses
// before it calls the handler (a malformed request line or header, an unknown transfer coding or expectation) get a
// gateway response instead of net/http's text. On TLS connections, net/http's own response remains.
func (g *Gateway) Listener(inner net.Listener) net.Listener {
	return &listener{Listener: inner, gateway: g, closed: make(chan struct{})}
}

type listener struct {
	net.Listener

	gateway *Gateway
	close   sync.Once
	closed  chan struct{}
}

// Accept waits for a free slot, and returns the next connection. After an error because of too many open files,
// net/http waits and calls it again.
func (l *listener) Accept() (net.Conn, error) {
	connections := l.gateway.connections
	select {
	case connections.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	inner, err := l.Listener.Accept()
	if err != nil {
		<-connections.slots
		if !errors.Is(err, net.ErrClosed) {
			connections.warn("can't accept connections", slog.Any("error", err))
		}
		return nil, err
	}
	c := &conn{Conn: inner, gateway: l.gateway}
	connections.add(c)
	return c, nil
}

// Close closes the listener, also while Accept waits for a slot.
func (l *listener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type conn struct {
	net.Conn

	gateway *Gateway
	close   sync.Once
	refused bool // set before the connection is used

	// Guarded by the mutex of the connLimiter.
	idle    *list.Element // in connLimiter.idle; nil while the connection is busy
	removed bool
}

// Close closes the connection, and stops counting it.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.close.Do(func() { c.gateway.connections.remove(c) })
	return err
}

// CloseWrite lets net/http close a refused connection without losing the response.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ownResponse matches the head of a response that net/http itself wrote. Responses of the handler have request ids.
var ownResponse = regexp.MustCompile(`^HTTP/1\.[01] (\d{3}) [^\r]*\r\n` +
	`(?:Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n` +
	`|Connection: close\r\nDate: [^\r]+\r\n(?:Content-Length: 0\r\n)?\r\n$)`)

// Write replaces the responses with which net/http refuses requests. It writes each in one piece.
func (c *conn) Write(b []byte) (int, error) {
	out := b
	if bytes.HasPrefix(b, []byte("HTTP/1.")) && len(b) > 9 && b[9] >= '4' { // a status of 400 or more
		if own := ownResponse.FindSubmatch(b); own != nil {
			out = c.gateway.refusal(string(own[1]), c.RemoteAddr())
		}
	}
	n, err := c.Conn.Write(out)
	if err == nil {
		n = len(b)
	}
	return n, err
}

// refusal returns the response to a request that net/http refused with a status.
func (g *Gateway) refusal(status string, peer net.Addr) []byte {
	f := errBadRequest
	if status == strconv.Itoa(http.StatusRequestHeaderFieldsTooLarge) {
		f = errHeadersTooLong
	}
	now := g.options.Now().UTC()
	q := &request{
		Request: &http.Request{Header: http.Header{}}, ids: newRequestIDs(now, ""), received: now,
		sourceIP: sourceIP(peer.String()),
	}
	w := &MemoryWriter{Headers: http.Header{
		"Date":           {now.Format(http.TimeFormat)},
		"Connection":     {"close"},
		headerRequestID:  {q.ids.request},
		headerExtendedID: {q.ids.extended},
	}}
	g.fail(w, q, f)
	g.options.Logger.Info("request",
		"status", w.Status, "bytes", w.Body.Len(), "requestId", q.ids.request, "error", f.message)

	var out bytes.Buffer
	out.WriteString("HTTP/1.1 " + strconv.Itoa(w.Status) + " " + http.StatusText(w.Status) + "\r\n")
	_ = w.Headers.Write(&out) // writing to a buffer does not fail
	out.WriteString("\r\n")
	out.Write(w.Body.Bytes())
	return out.Bytes()
}

// MemoryWriter is an [http.ResponseWriter] that holds a response in memory.
type MemoryWriter struct {
	Headers http.Header
	Status  int
	Body    bytes.Buffer
}

// Header implements http.ResponseWriter.
func (m *MemoryWriter) Header() http.Header { return m.Headers }

// WriteHeader implements http.ResponseWriter.
func (m *MemoryWriter) WriteHeader(status int) { m.Status = status }

// Write implements http.ResponseWriter.
func (m *MemoryWriter) Write(b []byte) (int, error) {
	m.Body.Write(b)
	return len(b), nil
}
