package delivery

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
)

// The faults that a faultInjector injects.
const (
	faultCallLost         = "a call is lost"
	faultResponseLost     = "a response is lost"
	faultKilled           = "a function is killed"
	faultPanic            = "a killed function panics"
	faultRecordsReplayed  = "a batch of stream records is replayed"
	faultMessagesRepeated = "messages are delivered twice"
	faultMessagesLost     = "messages are lost"
	faultEndpointFails    = "an endpoint fails"
	faultEndpointSlow     = "an endpoint is slow"
)

// faultInjector is a transport between the functions and AWS that injects random faults.
type faultInjector struct {
	next   http.RoundTripper
	mu     sync.Mutex
	random *rand.Rand
	off    bool
	counts map[string]int // of the injected faults
}

// inject decides at random whether a fault occurs, with the given probability. It counts the faults.
func (i *faultInjector) inject(fault string, probability float64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	occurs := !i.off && i.random.Float64() < probability
	if occurs {
		i.counts[fault]++
	}
	return occurs
}

// randomInt returns a random number from 0 to n-1.
func (i *faultInjector) randomInt(n int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.random.IntN(n)
}

// killable is an invocation of a function that may be killed. After that, its calls fail.
type killable struct {
	mu        sync.Mutex
	stepsLeft int // until it is killed; 0: it is not killed
	cancel    context.CancelFunc
	killed    bool
}

type killableKey struct{}

// killableOf returns the invocation to which a context belongs; nil if there is none.
func killableOf(ctx context.Context) *killable {
	v, _ := ctx.Value(killableKey{}).(*killable)
	return v
}

var errKilled = errors.New("the function was killed")

// step counts a step of the invocation. There is one step before and one after each call. step returns errKilled if the
// function was killed. A nil killable is never killed.
func (v *killable) step() error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stepsLeft--; v.stepsLeft == 0 {
		v.killed = true
		v.cancel()
	}
	if v.killed {
		return errKilled
	}
	return nil
}

// invoke runs a function that may be killed after some steps. It reports whether the function completed.
func (i *faultInjector) invoke(ctx context.Context, probability float64, run func(context.Context)) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &killable{cancel: cancel}
	if i.inject(faultKilled, probability) {
		v.stepsLeft = 1 + i.randomInt(60)
	}
	run(context.WithValue(ctx, killableKey{}, v))
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.killed
}

func (i *faultInjector) RoundTrip(r *http.Request) (*http.Response, error) {
	v := killableOf(r.Context())
	if err := v.step(); err != nil {
		return nil, err
	}
	if i.inject(faultCallLost, 0.02) {
		return nil, errors.New(faultCallLost)
	}
	response, err := i.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	lost := i.inject(faultResponseLost, 0.02)
	if v.step() != nil || lost {
		_ = response.Body.Close()
		return nil, errors.New(faultResponseLost)
	}
	return response, nil
}
