// Package async starts goroutines, and limits the time of work that outlives its request. All goroutines of the
// functions start here, because a panic in any other goroutine would end the process, including all other requests. The
// work of the goroutines does not belong here.
package async

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrPanic is the error of a function that panicked.
var ErrPanic = errors.New("panic")

// Recover calls f and returns its error. If f panics, Recover returns an ErrPanic with the panic's value and its stack.
func Recover(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, cause, debug.Stack())
		}
	}()
	return f()
}

// Go calls f in a new goroutine, and then done with the error of f. A panic of f becomes its error. done must not
// panic.
func Go(f func() error, done func(error)) {
	go func() { done(Recover(f)) }()
}

// AfterFunc is like time.AfterFunc, but a panic of f is only logged.
func AfterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { logPanic(f) })
}

// WhenDone is like context.AfterFunc, but a panic of f is only logged.
func WhenDone(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, func() { logPanic(f) })
}

func logPanic(f func()) {
	err := Recover(func() error {
		f()
		return nil
	})
	if err != nil {
		slog.Error("a callback failed", "cause", err.Error())
	}
}

// Group is an errgroup.Group in which a panic of a function becomes the error of that function. In a zero Group, all
// functions run to their end, even if one of them fails.
type Group errgroup.Group

// WithContext returns a group and a context that ends when a function of the group fails, or when Wait returns.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return (*Group)(group), ctx
}

// SetLimit limits the number of functions that run at the same time. Call it before Go.
func (g *Group) SetLimit(n int) { (*errgroup.Group)(g).SetLimit(n) }

// Go calls f in a new goroutine. If the group has reached its limit, Go first waits until another function returns.
func (g *Group) Go(f func() error) {
	(*errgroup.Group)(g).Go(func() error { return Recover(f) })
}

// Wait waits for all functions and returns the first error.
func (g *Group) Wait() error {
	return (*errgroup.Group)(g).Wait()
}
