// Package runtime is Lambda on one machine. It starts functions' bootstrap binaries as child processes, serves the
// Lambda Runtime API to them, and handles Lambda's Invoke API.
//
// It contains the execution environments, the queue in front of them, the Runtime API (2018-06-01), and the operations
// of Lambda's REST API that invoke functions. It must not contain a product's HTTP routing, API Gateway's
// events, templates or event sources: these call [Runtime.Invoke].
//
// Invoke puts a call into the queue of the function's pool. The pool assigns it to the first instance that is idle or
// has just started. The instance's long poll of /next takes it, and the response that the function posts goes to the
// caller, as a whole or as a stream.
//
// The package needs a Unix system: process groups and non-blocking pipes.
package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

// latest is the only version of a function. It is also published as firstVersion.
const (
	latest       = "$LATEST"
	firstVersion = "1"
)

// Runtime runs functions. It is an http.Handler for Lambda's REST API.
type Runtime struct {
	opts     Options
	began    time.Time
	pools    map[string]*pool
	starter  *starter
	children sync.WaitGroup
	stopReap func()

	mu       sync.Mutex
	closed   bool
	inFlight int
	drained  chan struct{} // closed when closed is true and inFlight is 0
}

// New returns a Runtime without any instance. The caller must call Close.
func New(options Options) *Runtime {
	options.setDefaults()
	r := &Runtime{opts: options, began: options.Now(), pools: map[string]*pool{}, drained: make(chan struct{})}
	for _, f := range options.Functions {
		f.setDefaults()
		p := &pool{rt: r, function: f, arn: r.arn(f.Name), all: map[*instance]struct{}{}}
		p.env = sync.OnceValue(p.environment)
		r.pools[f.Name] = p
	}
	r.starter = newStarter()
	r.stopReap = r.reap()
	return r
}

func (r *Runtime) arn(function string) string {
	return "arn:aws:lambda:" + r.opts.Region + ":" + r.opts.Account + ":function:" + function
}

// qualified returns an ARN with a qualifier, if any.
func qualified(arn, qualifier string) string {
	if qualifier == "" {
		return arn
	}
	return arn + ":" + qualifier
}

// find returns the pool of a function. qualifier is "" or one of the function's versions and aliases.
func (r *Runtime) find(function, qualifier string) (*pool, error) {
	p := r.pools[function]
	if p == nil || qualifier != "" && qualifier != latest && qualifier != firstVersion && qualifier != p.function.Alias {
		return nil, fmt.Errorf("%w: %s", ErrFunctionNotFound, qualified(r.arn(function), qualifier))
	}
	return p, nil
}

// reap stops idle instances from time to time until stop is called.
func (r *Runtime) reap() (stop func()) {
	ticker, done := time.NewTicker(max(r.opts.IdleTimeout/4, time.Millisecond)), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				for _, p := range r.pools {
					p.reap(r.opts.Now().Add(-r.opts.IdleTimeout))
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// Invoke runs a function once and returns its response. It returns ErrFunctionNotFound, ErrThrottled,
// ErrPayloadTooLarge, ErrClosed, or the context's error. If ctx ends, Invoke returns, but the function continues.
func (r *Runtime) Invoke(ctx context.Context, inv Invocation) (*Response, error) {
	p, err := r.find(inv.Function, inv.Qualifier)
	if err != nil {
		return nil, err
	}
	if len(inv.Payload) > MaxPayload {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrPayloadTooLarge, MaxPayload)
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	if inv.RequestID == "" {
		inv.RequestID = uuid.NewString()
	}
	if inv.TraceID == "" {
		inv.TraceID = NewTraceID(r.opts.Now())
	}
	c := newCall(r, inv, qualified(p.arn, inv.Qualifier))
	p.enqueue(c)
	select {
	case o := <-c.result:
		return o.response, o.err
	case <-ctx.Done():
		if p.withdraw(c) {
			c.refuse(ctx.Err())
		}
		go c.discard() // after the response, or the time limit of the function
		return nil, fmt.Errorf("wait for function %s: %w", inv.Function, context.Cause(ctx))
	}
}

// Waits reports whether a call of the function waits for an instance.
func (r *Runtime) Waits(function string) bool {
	p := r.pools[function]
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Len() > 0
}

// NewTraceID returns an X-Ray tracing header of a request that is not sampled.
func NewTraceID(now time.Time) string {
	var id [20]byte
	_, _ = rand.Read(id[:]) // never fails
	return "Root=1-" + strconv.FormatInt(now.Unix(), 16) + "-" + hex.EncodeToString(id[:12]) +
		";Parent=" + hex.EncodeToString(id[12:]) + ";Sampled=0"
}

// Replace makes a function run the binary that is on disk now. Calls that begin after Replace use new instances. Idle
// instances stop, busy ones stop after their call. It returns ErrFunctionNotFound for an unknown function.
//
// The new binary must be a new file at the path of the old one (written elsewhere and renamed): a system may refuse to
// write to a file that is running.
func (r *Runtime) Replace(function string) error {
	p, err := r.find(function, "")
	if err != nil {
		return err
	}
	p.replace()
	return nil
}

// enter counts a call as in flight, until leave.
func (r *Runtime) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.inFlight++
	return nil
}

func (r *Runtime) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight--
	if r.closed && r.inFlight == 0 {
		close(r.drained)
	}
}

// Close refuses new calls, waits until the calls in flight have finished or ctx ends, and ends all processes. The error
// contains the number of calls that were in flight when ctx ended.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	if r.inFlight == 0 {
		close(r.drained)
	}
	r.mu.Unlock()
	r.stopReap()
	var err error
	select {
	case <-r.drained:
	case <-ctx.Done():
		r.mu.Lock()
		if r.inFlight > 0 {
			err = fmt.Errorf("%d calls in flight were interrupted: %w", r.inFlight, ctx.Err())
		}
		r.mu.Unlock()
	}
	for _, p := range r.pools {
		p.close()
	}
	r.children.Wait()
	r.starter.stop()
	return err
}
