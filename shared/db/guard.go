package db

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"devplatform/shared/async"
)

// A guard lets a request read its data before it is known whether the request is allowed, so that the check of the
// session needs no round trip of its own. The first BatchGet or Get of the request also reads the guard's items. No
// call of this package returns data, and none writes, before the guard has allowed the request.
type guard struct {
	ctx    context.Context // of the request: the guard's own read must not end with one call's ctx
	client *Client
	refs   []Ref
	check  func(map[Ref]Item) error
	taken  atomic.Bool   // whether a call reads, or has read, the items
	done   chan struct{} // closed when err is final
	err    error
}

type guardKey struct{}

// WithGuard returns a context for the calls of one request. Each of them fails with the error of check, unless check
// returns nil for the items with these references. WithGuard makes no call itself. check is called once; it must not
// use the returned context.
func (c *Client) WithGuard(ctx context.Context, check func(map[Ref]Item) error, refs ...Ref) context.Context {
	g := &guard{ctx: ctx, client: c, refs: refs, check: check, done: make(chan struct{})}
	return context.WithValue(ctx, guardKey{}, g)
}

// Admit returns nil if the guard of the context allows the request, or if there is no guard. If no call has read the
// guard's items, Admit reads them. Errors: the error of the guard's check; ErrUnavailable.
func Admit(ctx context.Context) error {
	g := guardOf(ctx)
	if g.take() {
		defer g.abandon()
		g.read()
	}
	return g.wait(ctx)
}

// WithoutGuardRead returns a context for queries that the request makes at the same time as a BatchGet or Get with ctx.
// They leave it to that call to read the guard's items, and wait for it: a Query would need a call of its own to read
// them. If no other call reads the items, such a Query waits until ctx ends.
func WithoutGuardRead(ctx context.Context) context.Context {
	return context.WithValue(ctx, noGuardReadKey{}, true)
}

type noGuardReadKey struct{}

// guardOf returns the guard of a context, or nil.
func guardOf(ctx context.Context) *guard {
	g, _ := ctx.Value(guardKey{}).(*guard)
	return g
}

// take reports whether the caller must read the guard's items and settle the guard. It returns true once.
func (g *guard) take() bool { return g != nil && g.taken.CompareAndSwap(false, true) }

// read reads the guard's items, and settles the guard. g.ctx has no guard.
func (g *guard) read() { g.settle(g.client.BatchGet(g.ctx, g.refs...)) }

// abandon settles the guard if the call that took it panicked, so that the other calls of the request do not wait until
// their contexts end.
func (g *guard) abandon() {
	select {
	case <-g.done:
	default:
		g.settle(nil, errors.New("db: the read of the guard's items panicked"))
	}
}

// settle ends the wait of all calls of the request. items and err are the result of the read. If check panics, all
// calls of the request fail with an error that contains the panic.
func (g *guard) settle(items map[Ref]Item, err error) {
	if err == nil {
		err = async.Recover(func() error { return g.check(items) })
	}
	g.err = err
	close(g.done)
}

// wait waits until the guard is settled, and returns its error.
func (g *guard) wait(ctx context.Context) error {
	if g == nil {
		return nil
	}
	select {
	case <-g.done:
		return g.err
	default: // a decision counts even if ctx has ended
	}
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
}

// startGuard starts to read the guard's items if no other call does, and returns the function that waits for the guard.
// It is for calls that cannot read the items themselves.
func startGuard(ctx context.Context) (wait func() error) {
	g := guardOf(ctx)
	if ctx.Value(noGuardReadKey{}) == nil && g.take() {
		var items map[Ref]Item
		async.Go(func() (err error) {
			items, err = g.client.BatchGet(g.ctx, g.refs...)
			return err
		}, func(err error) { g.settle(items, err) })
	}
	return func() error { return g.wait(ctx) }
}
