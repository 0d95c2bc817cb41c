package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listeners are the sockets of one port: on IPv4 loopback and, if the machine has it, on IPv6 loopback, because a
// browser may use either for "localhost".
type listeners struct {
	port int
	all  []net.Listener
}

// listen opens the ports.
func (p *Platform) listen(context.Context) (err error) {
	for _, open := range []struct {
		at      **listeners
		port    int
		setting string
	}{
		{&p.http, p.config.Port, "PORT"},
		{&p.https, p.config.httpsPort(), "PORT (https is at PORT+443)"},
		{&p.sites, p.config.SitesPort, "SITES_PORT"},
		{&p.aws, p.config.AWSPort, "AWS_PORT"},
		{&p.console, p.config.ConsolePort, "CONSOLE_PORT"},
	} {
		if *open.at, err = listen(open.port, open.setting); err != nil {
			return err
		}
	}
	p.URL, p.HTTPS = fmt.Sprintf("http://localhost:%d", p.http.port), fmt.Sprintf("https://localhost:%d", p.https.port)
	p.Sites, p.AWS = "http://localhost"+portSuffix(p.sites.port), fmt.Sprintf("http://127.0.0.1:%d", p.aws.port)
	p.Console = fmt.Sprintf("http://localhost:%d", p.console.port)
	return nil
}

// portSuffix returns ":" and the port of an HTTP origin, or "" for the default port 80, which an origin omits.
func portSuffix(port int) string {
	if port == 80 {
		return ""
	}
	return ":" + strconv.Itoa(port)
}

// listen opens a loopback port, or any free port for 0. setting is the variable that selects the port. Errors name it.
func listen(port int, setting string) (*listeners, error) {
	v4, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // does not block
	if err != nil {
		return nil, listenError(err, port, setting)
	}
	l := &listeners{port: v4.Addr().(*net.TCPAddr).Port, all: []net.Listener{v4}}
	v6, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(l.port))) //nolint:noctx // does not block
	switch {
	case err == nil:
		l.all = append(l.all, v6)
	case errors.Is(err, syscall.EADDRINUSE) && port != 0:
		l.close()
		return nil, listenError(err, port, setting)
	}
	return l, nil
}

func listenError(err error, port int, setting string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is in use: end what listens there, or choose another with %s", port, setting)
	}
	return fmt.Errorf("port %d (%s): %w", port, setting, err)
}

// close closes the sockets. It accepts nil.
func (l *listeners) close() {
	if l == nil {
		return
	}
	for _, ln := range l.all {
		_ = ln.Close()
	}
}
