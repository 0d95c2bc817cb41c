package gateway

import (
	"container/list"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// maxConnections is the limit if the process may open enough files. An idle connection needs about 20 KB.
	maxConnections = 16384
	// otherFiles are reserved for tables, functions' pipes, and their connections.
	otherFiles = 4096
	// spareConnections above the limit are accepted, to refuse them with a gateway response.
	spareConnections = 256
	// warnInterval is the minimum time between two warnings.
	warnInterval = 10 * time.Second
)

// connLimiter limits the connections of all listeners, so that there are enough files to serve them. A new connection
// above the limit closes the connection that has been idle for the longest time. If all are busy, the new connection is
// refused. Above the spare connections, they wait in the backlog of the operating system.
type connLimiter struct {
	limit  int
	slots  chan struct{} // one for each open connection, and each listener that waits for one
	logger *slog.Logger
	now    func() time.Time
	warned atomic.Int64 // when, in Unix nanoseconds

	mu   sync.Mutex
	open int
	idle list.List // of *conn, the longest idle first
}

func newConnLimiter(o Options) *connLimiter {
	limit := o.MaxConnections
	if limit == 0 {
		var files syscall.Rlimit
		_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
		limit = int(min(files.Cur-min(files.Cur/2, otherFiles), maxConnections))
	}
	return &connLimiter{limit: limit, slots: make(chan struct{}, limit+spareConnections), logger: o.Logger, now: o.Now}
}

// add counts a connection. It marks it as refused if the limit is reached and no other connection is idle.
func (l *connLimiter) add(c *conn) {
	l.mu.Lock()
	l.open++
	if l.open <= l.limit {
		l.mu.Unlock()
		return
	}
	var longest *conn
	if first := l.idle.Front(); first != nil {
		longest = l.idle.Remove(first).(*conn)
		longest.idle = nil
	}
	l.mu.Unlock()
	if longest != nil {
		_ = longest.Close()
		return
	}
	c.refused = true
	l.warn("too many connections are open; new ones are refused", slog.Int("limit", l.limit))
}

// remove stops counting a connection.
func (l *connLimiter) remove(c *conn) {
	l.mu.Lock()
	l.open--
	l.setBusy(c)
	c.removed = true
	l.mu.Unlock()
	<-l.slots
}

func (l *connLimiter) setIdle(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setBusy(c)
	if !c.removed {
		c.idle = l.idle.PushBack(c)
	}
}

// setBusy is called with mu held.
func (l *connLimiter) setBusy(c *conn) {
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
}

// warn logs a warning, unless it has logged one within warnInterval.
func (l *connLimiter) warn(message string, attributes ...any) {
	now, last := l.now().UnixNano(), l.warned.Load()
	if now-last >= int64(warnInterval) && l.warned.CompareAndSwap(last, now) {
		l.logger.Warn(message, attributes...)
	}
}

// trackState is the ConnState hook of the server.
func trackState(inner net.Conn, state http.ConnState) {
	c := connOf(inner)
	if c == nil {
		return
	}
	l := c.gateway.connections
	switch state { // connections are counted when they are accepted and closed
	case http.StateIdle:
		l.setIdle(c)
	case http.StateActive:
		l.mu.Lock()
		l.setBusy(c)
		l.mu.Unlock()
	}
}

// connOf returns the connection of [Gateway.Listener], nil if another listener accepted it.
func connOf(inner net.Conn) *conn {
	if secure, ok := inner.(*tls.Conn); ok {
		inner = secure.NetConn()
	}
	c, _ := inner.(*conn)
	return c
}
