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
	// mostConnections is what the gateway serves at a time where there are files enough: a connection that waits costs it
	// about 20 KB.
	mostConnections = 16384
	// otherFiles are left to everything else that the process opens: tables, functions' pipes, and their connections.
	otherFiles = 4096
	// spareConnections beyond the most are still accepted, to be refused in words.
	spareConnections = 256
	// complaintInterval is the least time between two lines about the same.
	complaintInterval = 10 * time.Second
)

// crowd holds the connections of all the gateway's listeners to a number, so that a flood of them leaves files for what
// answers them. One more than that takes the place of the one that has been idle for longest; where all are busy, it is
// refused by a gateway response, and those beyond the spare ones wait in the system's backlog.
type crowd struct {
	most       int
	places     chan struct{} // one for each open connection, and each listener that waits for one
	logger     *slog.Logger
	now        func() time.Time
	complained atomic.Int64 // when, in Unix nanoseconds

	mu   sync.Mutex
	open int
	idle list.List // of *conn, the longest idle first
}

func newCrowd(o Options) *crowd {
	most := o.MaxConnections
	if most == 0 {
		most = connectionsFor(openFiles())
	}
	return &crowd{most: most, places: make(chan struct{}, most+spareConnections), logger: o.Logger, now: o.Now}
}

// connectionsFor is how many connections a process serves that may have so many files open.
func connectionsFor(files uint64) int {
	return int(min(files-min(files/2, otherFiles), mostConnections))
}

// openFiles is how many files the process may have open.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}

// enter counts a connection in. It is refused where it is too many and none of the others is idle.
func (c *crowd) enter(one *conn) {
	c.mu.Lock()
	c.open++
	if c.open <= c.most {
		c.mu.Unlock()
		return
	}
	var longest *conn
	if first := c.idle.Front(); first != nil {
		longest = c.idle.Remove(first).(*conn)
		longest.resting = nil
	}
	c.mu.Unlock()
	if longest != nil {
		_ = longest.Close()
		return
	}
	one.refused = true
	c.complain("too many connections are open: refusing more", slog.Int("most", c.most))
}

// leave counts a connection out.
func (c *crowd) leave(one *conn) {
	c.mu.Lock()
	c.open--
	c.wake(one)
	one.left = true
	c.mu.Unlock()
	<-c.places
}

// rest notes that a connection waits for its next request, and wake that it doesn't.
func (c *crowd) rest(one *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake(one)
	if !one.left {
		one.resting = c.idle.PushBack(one)
	}
}

// wake is called with mu held.
func (c *crowd) wake(one *conn) {
	if one.resting != nil {
		c.idle.Remove(one.resting)
		one.resting = nil
	}
}

// complain logs a line, unless there was one just now.
func (c *crowd) complain(message string, attributes ...any) {
	now, last := c.now().UnixNano(), c.complained.Load()
	if now-last >= int64(complaintInterval) && c.complained.CompareAndSwap(last, now) {
		c.logger.Warn(message, attributes...)
	}
}

// follow is told by net/http what a connection does.
func follow(c net.Conn, state http.ConnState) {
	one := ours(c)
	if one == nil {
		return
	}
	crowd := one.gateway.crowd
	switch state { //nolint:exhaustive // a new connection is counted when it is accepted, an ended one when it is closed
	case http.StateIdle:
		crowd.rest(one)
	case http.StateActive:
		crowd.mu.Lock()
		crowd.wake(one)
		crowd.mu.Unlock()
	}
}

// ours finds the connection that the gateway's listener made; nil where another did.
func ours(c net.Conn) *conn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	one, _ := c.(*conn)
	return one
}
