// Package inprocess passes the requests of tests to servers in the same process, without a network. A call then costs
// about half of the CPU time. Anything but the transport between a test's client and its servers does not belong here.
package inprocess

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// handlers are the handlers of the running servers, by host.
var handlers sync.Map

// NewServer starts an HTTP server on a loopback address. Clients with Transport call its handler directly, and other
// clients use the network. The caller must call the returned function to stop it.
func NewServer(t testing.TB, handler http.Handler) (url string, stop func()) {
	t.Helper()
	server := httptest.NewServer(handler)
	host := strings.TrimPrefix(server.URL, "http://")
	var running sync.RWMutex
	handlers.Store(host, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		running.RLock()
		defer running.RUnlock()
		handler.ServeHTTP(out, r)
	}))
	return server.URL, func() {
		handlers.Delete(host)
		server.Close()
		running.Lock() // waits for the calls in progress
		defer running.Unlock()
	}
}

// Serves reports whether the URL is the URL of a running server of NewServer.
func Serves(url string) bool {
	_, ok := handlers.Load(strings.TrimPrefix(url, "http://"))
	return ok
}

// network is not http.DefaultTransport, because each Close of an httptest.Server closes the idle connections of
// http.DefaultTransport. A request of another test that is about to use such a connection would fail.
var network = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // nothing replaces it

// Transport passes requests to the handlers of the servers that NewServer has started. It passes all other requests to
// the network. If the context of a request ends during the call, the response is lost, as in a network.
var Transport http.RoundTripper = transport{}

type transport struct{}

func (transport) RoundTrip(r *http.Request) (*http.Response, error) {
	handler, ok := handlers.Load(r.URL.Host)
	if !ok {
		return network.RoundTrip(r)
	}
	if err := r.Context().Err(); err != nil {
		return nil, fmt.Errorf("inprocess: %w", err)
	}
	received := r.Clone(r.Context())
	received.Host = r.URL.Host
	if received.Body == nil {
		received.Body = http.NoBody
	}
	response := httptest.NewRecorder()
	handler.(http.HandlerFunc).ServeHTTP(response, received)
	if err := r.Context().Err(); err != nil {
		return nil, fmt.Errorf("inprocess: %w", err)
	}
	return response.Result(), nil
}
