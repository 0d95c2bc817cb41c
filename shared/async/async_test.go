package async_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"devplatform/shared/async"
)

var errBroken = errors.New("broken")

func isPanic(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "panic: broken\n") &&
		strings.Contains(err.Error(), "async_test.go")
}

func broken() error { panic("broken") }

func TestRecover(t *testing.T) {
	t.Parallel()
	if err := async.Recover(broken); !isPanic(err) {
		t.Errorf("got error %v, want the panic with its stack", err)
	}
	if err := async.Recover(func() error { return errBroken }); !errors.Is(err, errBroken) {
		t.Errorf("got error %v, want the error of the function", err)
	}
}

func TestGo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run  func() error
		want func(error) bool
	}{
		"panic":   {broken, isPanic},
		"error":   {func() error { return errBroken }, func(err error) bool { return errors.Is(err, errBroken) }},
		"success": {func() error { return nil }, func(err error) bool { return err == nil }},
	} {
		done := make(chan error)
		async.Go(tc.run, func(err error) { done <- err })
		if err := <-done; !tc.want(err) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	var all async.Group
	all.SetLimit(1)
	ran := 0
	all.Go(broken)
	all.Go(func() error { ran++; return nil })
	if err := all.Wait(); !isPanic(err) || ran != 1 {
		t.Errorf("got error %v after %d other functions, want the panic after 1", err, ran)
	}
	group, ctx := async.WithContext(t.Context())
	group.Go(broken)
	group.Go(func() error { <-ctx.Done(); return context.Cause(ctx) })
	if err := group.Wait(); !isPanic(err) {
		t.Errorf("with a context: got error %v, want the panic", err)
	}
}

// TestCallbacks would end the process if a panic of a callback were not recovered.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, start := range map[string]func(f func()){
		"AfterFunc": func(f func()) { async.AfterFunc(0, f) },
		"WhenDone":  func(f func()) { async.WhenDone(ctx, f) },
	} {
		called := make(chan bool)
		start(func() {
			defer close(called)
			panic("broken")
		})
		cancel()
		if <-called; ctx.Err() == nil {
			t.Errorf("%s: the context has not ended", name)
		}
	}
}

func TestWithMargin(t *testing.T) {
	t.Parallel()
	timeLimit := time.Now().Add(time.Hour)
	function, end := context.WithDeadline(t.Context(), timeLimit)
	defer end()
	ctx, cancel := async.WithMargin(function, time.Minute)
	defer cancel()
	if got, _ := ctx.Deadline(); !got.Equal(timeLimit.Add(-time.Minute)) {
		t.Errorf("got the deadline %v, want one minute before %v", got, timeLimit)
	}
	unlimited, cancel := async.WithMargin(t.Context(), time.Minute)
	defer cancel()
	if got, ok := unlimited.Deadline(); ok {
		t.Errorf("without a time limit: got the deadline %v, want none", got)
	}
}

func TestDetach(t *testing.T) {
	t.Parallel()
	type key struct{}
	timeLimit := time.Now().Add(time.Hour)
	function, end := context.WithDeadline(context.WithValue(t.Context(), key{}, "value"), timeLimit)
	defer end()
	ctx, cancel := async.WithMargin(function, time.Minute)
	defer cancel()
	end() // the client has disconnected
	for name, tc := range map[string]struct {
		ctx      context.Context
		limit    time.Duration
		earliest time.Time
		latest   time.Time
	}{
		"limit":           {ctx, time.Minute, time.Now().Add(time.Minute), timeLimit.Add(-time.Minute)},
		"time limit":      {ctx, 2 * time.Hour, timeLimit.Add(-time.Second), timeLimit.Add(-50 * time.Millisecond)},
		"detached again":  {detach(t, ctx), 2 * time.Hour, timeLimit.Add(-time.Second), timeLimit},
		"not in function": {function, 2 * time.Hour, timeLimit.Add(time.Minute), timeLimit.Add(2 * time.Hour)},
	} {
		detached, cancel := async.Detach(tc.ctx, tc.limit)
		got, ok := detached.Deadline()
		if detached.Err() != nil || !ok || got.Before(tc.earliest) || got.After(tc.latest) {
			t.Errorf("%s: got the deadline %v and error %v, want a deadline between %v and %v", name, got, detached.Err(),
				tc.earliest, tc.latest)
		}
		if detached.Value(key{}) != "value" {
			t.Errorf("%s: the context has lost its values", name)
		}
		if cancel(); detached.Err() == nil {
			t.Errorf("%s: the context was not cancelled", name)
		}
	}
}

func detach(t *testing.T, ctx context.Context) context.Context { //nolint:revive // t is first in all helpers
	t.Helper()
	detached, cancel := async.Detach(ctx, time.Second)
	t.Cleanup(cancel)
	return detached
}
