package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listeners are the sockets of one port: IPv4 loopback and, where the machine has it, IPv6 loopback,
// because a browser may take "localhost" for either.
type listeners struct {
	port int
	all  []net.Listener
}

// listen opens a loopback port; 0 takes a free one. setting is the variable that chooses the port: an error names it.
func listen(port int, setting string) (*listeners, error) {
	v4, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // at start, never waits
	if err != nil {
		return nil, taken(err, port, setting)
	}
	l := &listeners{port: v4.Addr().(*net.TCPAddr).Port, all: []net.Listener{v4}}
	v6, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(l.port))) //nolint:noctx // at start, never waits
	switch {
	case err == nil:
		l.all = append(l.all, v6)
	case errors.Is(err, syscall.EADDRINUSE) && port != 0:
		l.close()
		return nil, taken(err, port, setting)
	}
	return l, nil
}

func taken(err error, port int, setting string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is in use: end what listens there, or choose another with %s", port, setting)
	}
	return fmt.Errorf("port %d (%s): %w", port, setting, err)
}

func (l *listeners) close() {
	for _, ln := range l.all {
		_ = ln.Close()
	}
}
