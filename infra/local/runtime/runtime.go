package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// latest is the one version that every function has here. It is also published, as firstVersion.
const (
	latest       = "$LATEST"
	firstVersion = "1"
)

// isVersion reports whether a qualifier selects the version of a function. "" selects the latest version.
func isVersion(qualifier string) bool {
	return qualifier == "" || qualifier == latest || qualifier == firstVersion
}

// Runtime runs functions. It is an http.Handler for Lambda's REST API.
type Runtime struct {
	opts     Options
	now      func() time.Time
	began    time.Time
	pools    map[string]*pool
	names    []string // sorted
	starter  *starter
	events   events
	children sync.WaitGroup
	stopReap func()

	mu       sync.Mutex
	closed   bool
	inFlight int
	drained  chan struct{} // closed when closed and nothing is in flight
}

// New checks the functions and returns a Runtime without any instance. The caller must Close it.
func New(options Options) (*Runtime, error) {
	if options.Now == nil {
		return nil, errors.New("runtime: Options.Now is missing")
	}
	setDefaults(&options)
	r := &Runtime{
		opts: options, now: options.Now, began: options.Now(), pools: make(map[string]*pool, len(options.Functions)),
		starter: newStarter(), drained: make(chan struct{}),
	}
	if err := r.configure(); err != nil {
		r.starter.stop()
		return nil, err
	}
	r.events.init(r)
	r.stopReap = r.reap()
	return r, nil
}

func setDefaults(o *Options) {
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, 16)
	o.MaxWait = cmp.Or(o.MaxWait, 10*time.Second)
	o.Patience = cmp.Or(o.Patience, 5*time.Millisecond)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 15*time.Minute)
	o.InitTimeout = cmp.Or(o.InitTimeout, 10*time.Second)
	o.RetryDelay = cmp.Or(o.RetryDelay, time.Minute)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
}

func (r *Runtime) configure() error {
	for _, f := range r.opts.Functions {
		if !functionName.MatchString(f.Name) {
			return fmt.Errorf("function %q: the name must be 1 to 64 letters, digits, hyphens and underscores", f.Name)
		}
		if r.pools[f.Name] != nil {
			return fmt.Errorf("function %s stands twice", f.Name)
		}
		if err := checkEnvironment(f.Env); err != nil {
			return fmt.Errorf("function %s: %w", f.Name, err)
		}
		bootstrap, err := filepath.Abs(f.Bootstrap)
		if err != nil {
			return fmt.Errorf("function %s: %w", f.Name, err)
		}
		f.Bootstrap = bootstrap
		f.RuntimeName = cmp.Or(f.RuntimeName, "provided.al2023")
		f.Architecture = cmp.Or(f.Architecture, "x86_64")
		f.MemoryMB = cmp.Or(f.MemoryMB, 128)
		f.Timeout = cmp.Or(f.Timeout, 3*time.Second)
		if f.MaxConcurrency <= 0 || f.MaxConcurrency > r.opts.MaxConcurrency {
			f.MaxConcurrency = r.opts.MaxConcurrency
		}
		p := &pool{rt: r, function: f, arn: r.arn(f.Name), all: make(map[*instance]struct{})}
		p.env = sync.OnceValue(p.environment)
		r.pools[f.Name] = p
		r.names = append(r.names, f.Name)
	}
	slices.Sort(r.names)
	return nil
}

func (r *Runtime) arn(function string) string {
	return "arn:aws:lambda:" + r.opts.Region + ":" + r.opts.Account + ":function:" + function
}

// reap ends idle instances until the function returned is called.
func (r *Runtime) reap() (stop func()) {
	ticker, done := time.NewTicker(max(r.opts.IdleTimeout/4, time.Millisecond)), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				for _, p := range r.pools {
					p.reap(r.now().Add(-r.opts.IdleTimeout))
				}
			case <-done:
				ticker.Stop()
				return
			}
		}
	}()
	return func() { close(done) }
}

// Invoke runs a function once and returns its answer; errors are ErrFunctionNotFound, ErrThrottled,
// ErrPayloadTooLarge, ErrClosed and the context's. ctx ending stops the waiting, never the function.
func (r *Runtime) Invoke(ctx context.Context, inv Invocation) (*Response, error) {
	p := r.pools[inv.Function]
	if p == nil || !isVersion(inv.Qualifier) {
		return nil, fmt.Errorf("%w: %s", ErrFunctionNotFound, r.qualified(inv.Function, inv.Qualifier))
	}
	if len(inv.Payload) > MaxPayload {
		return nil, tooLarge(len(inv.Payload), "RequestResponse", MaxPayload)
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	if inv.RequestID == "" {
		inv.RequestID = newRequestID()
	}
	if inv.TraceID == "" {
		inv.TraceID = newTraceID(r.now())
	}
	c := newCall(r, inv, r.qualified(inv.Function, inv.Qualifier))
	p.enqueue(c)
	select {
	case o := <-c.result:
		return o.response, o.err
	case <-ctx.Done():
		if p.withdraw(c) {
			c.refuse(ctx.Err())
		}
		c.abandon()
		return nil, fmt.Errorf("wait for function %s: %w", inv.Function, context.Cause(ctx))
	}
}

// Replace makes a function run the binary that is on disk now. Calls that begin after Replace use new instances. Idle
// instances stop, busy ones stop after their call. It returns ErrFunctionNotFound for an unknown function.
//
// The new binary must be a new file at the path of the old one (written elsewhere and renamed): a system may refuse to
// write to a file that is running.
func (r *Runtime) Replace(function string) error {
	p := r.pools[function]
	if p == nil {
		return fmt.Errorf("%w: %s", ErrFunctionNotFound, function)
	}
	p.replace()
	return nil
}

func tooLarge(size int, kind string, limit int) error {
	return fmt.Errorf("%w: %d byte payload is too large for the %s invocation type (limit %d bytes)", ErrPayloadTooLarge, size, kind, limit)
}

func (r *Runtime) qualified(name, qualifier string) string {
	if qualifier == "" {
		return r.arn(name)
	}
	return r.arn(name) + ":" + qualifier
}

// enter counts a call in, leave out.
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

// Close takes no new requests, lets those in flight finish until ctx ends, and ends all processes.
// Events that wait for a retry are dropped. The error tells how many requests were cut.
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
	r.events.close()
	var err error
	select {
	case <-r.drained:
	case <-ctx.Done():
		r.mu.Lock()
		if r.inFlight > 0 {
			err = fmt.Errorf("%d requests in flight were cut: %w", r.inFlight, ctx.Err())
		}
		r.mu.Unlock()
	}
	for _, name := range r.names {
		r.pools[name].close()
	}
	r.children.Wait()
	r.starter.stop()
	return err
}

// Snapshot lists the instances, by function.
func (r *Runtime) Snapshot() []Instance {
	var list []Instance
	for _, name := range r.names {
		list = append(list, r.pools[name].snapshot()...)
	}
	return list
}
