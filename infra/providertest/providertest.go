// Package providertest helps to test model providers. It contains a server that records its requests, and a recorder
// that checks the order of the parts of an answer.
package providertest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"devplatform/shared/assistant/model"
)

// T is a *testing.T or a *rapid.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
}

// Server is a server that records its requests.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []Request
}

// Request is a request that a Server received.
type Request struct {
	Method string
	Path   string // with the query, as it was sent
	Header http.Header
	Body   string
}

// Serve starts a server that handles the n-th request, counted from 0, with handle.
func Serve(t T, handle func(w http.ResponseWriter, r *http.Request, n int)) *Server {
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read a request: %v", err)
		}
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, Request{r.Method, r.URL.RequestURI(), r.Header.Clone(), string(body)})
		s.mu.Unlock()
		handle(w, r, n)
	}))
	t.Cleanup(s.Close)
	return s
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// CheckRequests checks the number of requests.
func (s *Server) CheckRequests(t T, want int) {
	t.Helper()
	if got := len(s.Requests()); got != want {
		t.Errorf("got %d requests, want %d", got, want)
	}
}

// Answer is an answer whose parts were passed to Emit.
type Answer struct {
	Text     string
	Calls    []model.Call
	Sequence string // the order of texts and calls: t for a text, c for a call
	Thinking int    // number of thinking parts

	isCallOpen bool
	orderError string // describes the last part that was out of order
}

// Emit records a part.
func (a *Answer) Emit(p model.Part) error {
	if p == (model.Part{Kind: model.Thinking}) {
		a.Thinking++
		return nil
	}
	last := len(a.Calls) - 1
	switch isInCall := a.isCallOpen && p.CallID == a.Calls[last].ID; {
	case p.Kind == model.Text && !a.isCallOpen && p.Text != "":
		a.Text += p.Text
		if !strings.HasSuffix(a.Sequence, "t") {
			a.Sequence += "t"
		}
	case p.Kind == model.CallStart && !a.isCallOpen && p.CallID != "":
		a.Calls = append(a.Calls, model.Call{ID: p.CallID, Name: p.Name})
		a.isCallOpen = true
		a.Sequence += "c"
	case p.Kind == model.CallDelta && isInCall && p.Text != "":
		a.Calls[last].Input += p.Text
	case p.Kind == model.CallEnd && isInCall:
		a.isCallOpen = false
	default:
		a.orderError = fmt.Sprintf("%+v after %q, call open: %t", p, a.Sequence, a.isCallOpen)
	}
	return nil
}

// Check fails the test if parts were out of order. err is the error of the answer.
func (a *Answer) Check(t T, err error) {
	t.Helper()
	if a.orderError != "" {
		t.Errorf("a part was out of order: %s", a.orderError)
	}
	if err == nil && a.isCallOpen {
		t.Errorf("the answer is complete, but its last call has not ended")
	}
}

// CheckIDs fails the test if two calls have the same ID.
func (a *Answer) CheckIDs(t T) {
	t.Helper()
	ids := map[string]bool{}
	for _, call := range a.Calls {
		if ids[call.ID] {
			t.Errorf("two calls have the ID %q", call.ID)
		}
		ids[call.ID] = true
	}
}

// Transcript describes an answer in lines, for a golden file. It replaces call IDs of nine characters, because they are
// random: the package for the provider chooses them if the response has none.
func (a *Answer) Transcript(outcome model.Outcome, err error) string {
	var b strings.Builder
	if a.Text != "" {
		fmt.Fprintf(&b, "text %q\n", a.Text)
	}
	for _, c := range a.Calls {
		if len(c.ID) == 9 {
			c.ID = "(random)"
		}
		fmt.Fprintf(&b, "call %s %s %s\n", c.ID, c.Name, c.Input)
	}
	fmt.Fprintf(&b, "order %s, %d thinking\n", a.Sequence, a.Thinking)
	fmt.Fprintf(&b, "outcome %s %s %d %d\n", outcome.Stop, outcome.Model, outcome.Usage.Input, outcome.Usage.Output)
	if err != nil {
		fmt.Fprintf(&b, "error %s\n", err)
	}
	return b.String()
}

// CheckFault checks that err is a *model.Error with this fault, and returns it.
func CheckFault(t T, err error, want model.Fault) *model.Error {
	t.Helper()
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Fault != want {
		t.Fatalf("got error %v, want the fault %q", err, want)
	}
	return failed
}
