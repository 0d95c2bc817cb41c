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

// DoFunc is a function as the HTTP client of the SDK's clients.
type DoFunc func(r *http.Request) (*http.Response, error)

// Do calls the function.
func (do DoFunc) Do(r *http.Request) (*http.Response, error) { return do(r) }

// Process is the HTTP client of a process. Its function At runs before or after one of its calls to AWS.
type Process struct {
	// Step is the number of the call at which At runs, counted from 1. 0 means never.
	Step int
	// Executes reports whether At runs after the call, which AWS has then executed, instead of before it.
	Executes bool
	// At runs at the step. If it returns an error, the process is killed: this call and all later ones get no
	// response.
	At func() error
	// Loses reports whether the error of At affects only its call, whose response is lost.
	Loses bool

	mu     sync.Mutex
	calls  int
	killed error
}

var errKilled = errors.New("the process was killed")

// Kill is a function At that kills the process.
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
	if isStep && !p.Executes {
		if err := p.reach(); err != nil {
			return nil, err
		}
	}
	response, err := Transfers.Do(r) //nolint:gosec // the SDK made the request
	if isStep && p.Executes {
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
	if !p.Loses {
		p.killed = err
	}
	return err
}

// Reached reports whether the process made the call with the number Step.
func (p *Process) Reached() bool {
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
// fails the test if the process makes fewer calls than atLeast. It leaves out the steps before a call, except in make
// nightly without the race detector, because a call that is not made is like a kill after the call before it.
func Steps(t *testing.T, atLeast int, do func(p *Process)) {
	t.Helper()
	for step := 1; ; step++ {
		reached := false
		for _, executes := range []bool{true, false} {
			if (!testmode.IsNightly() || testmode.HasRaceDetector) && !executes {
				break
			}
			p := &Process{Step: step, Executes: executes}
			do(p)
			reached = reached || p.Reached()
			if t.Failed() {
				t.Fatalf("failed at step %d, executed: %v", step, executes)
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
