package workspace_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// wire stands between the slice and DynamoDB, and does to the next requests of an operation what a test tells it to.
type wire struct {
	proxy     *httputil.ReverseProxy
	mu        sync.Mutex
	operation string
	times     int
	lose      bool // the request is carried out and its reply lost; else it is refused
	hit       int
	between   func() // runs once, before the next such request
}

func newWire(t *testing.T, endpoint string) (*wire, string) {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{proxy: httputil.NewSingleHostReverseProxy(target)}
	w.proxy.ErrorLog = log.New(io.Discard, "", 0) // requests are given up when another fails beside them
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	return w, server.URL
}

// refuse has the next requests of an operation answered with 500.
func (w *wire) refuse(operation string, times int) { w.set(operation, times, false, nil) }

// loseReplies has the replies to the next requests of an operation go missing.
func (w *wire) loseReplies(operation string, times int) { w.set(operation, times, true, nil) }

// before runs f in front of the next request of an operation.
func (w *wire) before(operation string, f func()) { w.set(operation, 0, false, f) }

func (w *wire) set(operation string, times int, lose bool, between func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.operation, w.times, w.lose, w.hit, w.between = operation, times, lose, 0, between
}

func (w *wire) hits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hit
}

func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	mine := w.operation != "" && strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+w.operation)
	var between func()
	if mine {
		between, w.between = w.between, nil
	}
	broken := mine && w.times > 0
	lose := w.lose
	if broken {
		w.times--
		w.hit++
	}
	w.mu.Unlock()
	if between != nil {
		between()
	}
	switch {
	case !broken:
		w.proxy.ServeHTTP(out, r)
	case lose:
		w.proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler) // the connection is cut
	default:
		out.WriteHeader(http.StatusInternalServerError)
	}
}
