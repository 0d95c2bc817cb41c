package gateway_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"devplatform/infra/local/gateway"
)

// TestBeside has two gateways with one limit of connections: a new connection of one closes an idle connection of the
// other. The second gateway has its own domain name in events.
func TestBeside(t *testing.T) {
	t.Parallel()
	rested := make(chan struct{}, 10)
	start := func(g *gateway.Gateway) *httptest.Server {
		server := httptest.NewUnstartedServer(nil)
		server.Config = gateway.NewServer(g, nil, slog.New(slog.DiscardHandler))
		rests := server.Config.ConnState
		server.Config.ConnState = func(c net.Conn, state http.ConnState) {
			rests(c, state)
			if state == http.StateIdle {
				rested <- struct{}{}
			}
		}
		server.Listener = g.Listener(server.Listener)
		server.Start()
		t.Cleanup(server.Close)
		return server
	}
	f := &function{answer: buffered(ok)}
	first := newGateway(t, &function{answer: buffered(ok)}, gateway.Options{API: apiOf(anyRoute("/x")), MaxConnections: 1})
	second := newGateway(t, f, gateway.Options{
		API: apiOf(anyRoute("/x")), Beside: first, DomainName: func(host string) string { return "name of " + host },
	})
	idle := dial(t, start(first))
	if status, _, _ := ask(t, idle); status != http.StatusOK {
		t.Fatalf("got the status %d", status)
	}
	<-rested
	if status, _, _ := ask(t, dial(t, start(second))); status != http.StatusOK {
		t.Errorf("got the status %d for a connection of the other gateway", status)
	}
	if left, err := io.ReadAll(idle); isTimeout(err) || len(left) > 0 {
		t.Errorf("the idle connection is still open: %q, %v", left, err)
	}
	if got := fmt.Sprint(at(t, f.event(t), "requestContext")["domainName"]); got != "name of x" {
		t.Errorf("got the domain name %s", got)
	}
}
