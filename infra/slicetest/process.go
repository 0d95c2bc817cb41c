package slicetest

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"devplatform/infra/testmode"
	"devplatform/shared/awsclient"
)

// Transfers is an HTTP client like the client of the functions that transfer objects.
var Transfers = awsclient.TransferHTTP()

// DoFunc is a function that the SDK's clients can use as their HTTP client.
type DoFunc func(r *http.Request) (*http.Response, error)

// Do calls the function.
func (do DoFunc) Do(r *http.Request) (*http.Response, error) { return do(r) }

// Process is the HTTP client of a process. Its function At runs before or after one of its calls to AWS.
type Process struct {
	// Step is the number of the call at which At runs, counted from 1. 0 means never.
	Step int
	// RunsAfter reports whether At runs after AWS has executed the call, instead of before the call.
	RunsAfter bool
	// At runs at the step. If it returns an error, the process is killed: this call and all later calls get no
	// response.
	At func() error
	// LosesResponse reports whether an error of At only loses the response to this call. Then the process is not
	// killed.
	LosesResponse bool

	mu     sync.Mutex
	calls  int
	killed error
}

var errKilled = errors.New("the process was killed")

// Kill is the function At that kills the process.
func Kill() error { return errKilled }

// Do sends a request, unless the process was killed.
func (p *Process) Do(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.calls++
	isStep, killed := p.calls == p.Step, p.killed
	p.mu.Unlock()
	if killed != nil {
		return nil, killed
	}
	if isStep && !p.RunsAfter {
		if err := p.reach(); err != nil {
			return nil, err
		}
	}
	response, err := Transfers.Do(r) //nolint:gosec // the SDK made the request
	if isStep && p.RunsAfter {
		if killed := p.reach(); killed != nil {
			if err == nil {
				_ = response.Body.Close()
			}
			return nil, killed
		}
	}
	return response, err
}

func (p *Process) reach() error {
	err := p.At()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.LosesResponse {
		p.killed = err
	}
	return err
}

// HasReachedStep reports whether the process made the call with the number Step.
func (p *Process) HasReachedStep() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls >= p.Step
}

// IsKilled reports whether the process was killed.
func (p *Process) IsKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed != nil
}

// Steps calls do for each call of a process, once before and once after it, until the process makes no more calls. It
// fails the test if the process makes fewer calls than atLeast. A kill before a call has the same effect as a kill
// after the previous call. So the steps before a call run only in make nightly without the race detector.
func Steps(t *testing.T, atLeast int, do func(p *Process)) {
	t.Helper()
	for step := 1; ; step++ {
		reached := false
		for _, runsAfter := range []bool{true, false} {
			if (!testmode.IsNightly() || testmode.HasRaceDetector) && !runsAfter {
				break
			}
			p := &Process{Step: step, RunsAfter: runsAfter}
			do(p)
			reached = reached || p.HasReachedStep()
			if t.Failed() {
				t.Fatalf("failed at step %d, after the call: %v", step, runsAfter)
			}
		}
		if !reached {
			if step <= atLeast {
				t.Errorf("the process made %d calls, want at least %d", step-1, atLeast)
			}
			return
		}
	}
}
