package delivery

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"

	"devplatform/infra/local/dynamodb/dynamotest"
)

// wire is the connection of the functions to DynamoDB and SQS. It counts the calls by operation, and can fail.
type wire struct {
	next   http.RoundTripper
	mu     sync.Mutex
	counts map[string]int
	fault  func(operation, body string) callOutcome // nil: no call fails
}

// callOutcome is what happens to a call.
type callOutcome int

const (
	callPasses   callOutcome = iota
	callRefused              // it is not executed
	responseLost             // it is executed
)

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.counts[dynamotest.Operation(r)]++
	fault := w.fault
	w.mu.Unlock()
	outcome := callPasses
	if fault != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		outcome = fault(dynamotest.Operation(r), string(body))
	}
	if outcome == callRefused {
		return nil, errors.New("connection lost")
	}
	response, err := w.next.RoundTrip(r)
	if outcome == responseLost && err == nil {
		_ = response.Body.Close()
		return nil, errors.New("response lost")
	}
	return response, err
}

// takeCalls returns the number of calls since the previous takeCalls.
func (f *fixture) takeCalls() map[string]int {
	f.wire.mu.Lock()
	defer f.wire.mu.Unlock()
	counts := maps.Clone(f.wire.counts)
	clear(f.wire.counts)
	return counts
}

// breakCalls sets the function that decides what happens to each further call; nil: no call fails.
func (f *fixture) breakCalls(fault func(operation, body string) callOutcome) {
	f.wire.mu.Lock()
	defer f.wire.mu.Unlock()
	f.wire.fault = fault
}

// refuse refuses the next n calls of an operation.
func (f *fixture) refuse(operation string, n int32) { f.breakNext(operation, n, callRefused) }

// loseResponses loses the responses to the next n updates, which are executed.
func (f *fixture) loseResponses(n int32) { f.breakNext("UpdateItem", n, responseLost) }

func (f *fixture) breakNext(operation string, n int32, outcome callOutcome) {
	var mu sync.Mutex
	f.breakCalls(func(called, _ string) callOutcome {
		mu.Lock()
		defer mu.Unlock()
		if called != operation || n == 0 {
			return callPasses
		}
		n--
		return outcome
	})
}

// refuseAll refuses every call of the operations.
func refuseAll(operations ...string) func(operation, body string) callOutcome {
	refused := map[string]bool{}
	for _, operation := range operations {
		refused[operation] = true
	}
	return func(operation, _ string) callOutcome {
		if refused[operation] {
			return callRefused
		}
		return callPasses
	}
}
