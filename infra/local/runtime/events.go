package runtime

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Lambda's rules for asynchronous invocations:
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html.
const (
	eventRetries    = 2
	eventAge        = 6 * time.Hour
	firstThrottling = time.Second
	maxThrottling   = 5 * time.Minute
)

// maxEvents bounds the events that wait or run.
const maxEvents = 10_000

// events is the queue of asynchronous invocations. It is in memory: what waits for a retry when the
// runtime closes is lost, and logged.
type events struct {
	rt   *Runtime
	done context.Context //nolint:containedctx // ends with the Runtime, not with a call
	stop context.CancelFunc

	mu    sync.Mutex
	count int
}

func (e *events) init(rt *Runtime) {
	e.rt = rt
	e.done, e.stop = context.WithCancel(context.Background())
}

func (e *events) close() { e.stop() }

// add takes an event; ErrThrottled when too many wait.
func (e *events) add(inv Invocation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done.Err() != nil {
		return ErrClosed
	}
	if e.count >= maxEvents {
		return ErrThrottled
	}
	e.count++
	go func() {
		e.run(inv)
		e.mu.Lock()
		e.count--
		e.mu.Unlock()
	}()
	return nil
}

// run invokes until it succeeds, has failed three times, or the event is too old.
func (e *events) run(inv Invocation) {
	began := e.rt.now()
	throttling := firstThrottling
	for failures := 0; ; {
		err := e.once(inv)
		var failed *FunctionError
		wait := time.Duration(0)
		switch {
		case err == nil:
			return
		case errors.As(err, &failed):
			if failures == eventRetries {
				e.drop(inv, err)
				return
			}
			wait = e.rt.opts.RetryDelay << failures
			failures++
		case errors.Is(err, ErrThrottled) && e.rt.now().Sub(began) < eventAge:
			wait = throttling
			throttling = min(2*throttling, maxThrottling)
		default:
			e.drop(inv, err)
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-e.done.Done():
			timer.Stop()
			e.drop(inv, err)
			return
		}
	}
}

// once invokes; a failure of the function is an error here.
func (e *events) once(inv Invocation) error {
	response, err := e.rt.Invoke(context.Background(), inv)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // nobody wants it
	if response.FunctionError != nil {
		return response.FunctionError
	}
	return nil
}

func (e *events) drop(inv Invocation, err error) {
	e.rt.opts.Logger.Error("event dropped", slog.String("function", inv.Function), slog.String("requestId", inv.RequestID), slog.Any("error", err))
}
