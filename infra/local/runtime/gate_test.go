package runtime_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// gate blocks functions until the test lets them continue, one for each pass.
type gate struct {
	url     string
	arrived chan string // the request's query
	passes  chan struct{}
	open    func() // lets all functions continue from now on
}

func newGate(t testing.TB) *gate {
	t.Helper()
	g := &gate{arrived: make(chan string, 1000), passes: make(chan struct{}, 1000)}
	opened := make(chan struct{})
	g.open = sync.OnceFunc(func() { close(opened) })
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		g.arrived <- r.URL.RawQuery
		select {
		case <-g.passes:
		case <-opened:
		case <-r.Context().Done():
		}
	}))
	g.url = server.URL
	t.Cleanup(func() {
		g.open()
		server.Close()
	})
	return g
}

func (g *gate) pass() { g.passes <- struct{}{} }
