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

// maxEvents limits the events that wait or run.
const maxEvents = 10_000

// events is the queue of asynchronous invocations. It is in memory: events that wait for a retry when the runtime
// closes are lost, and logged.
type events struct {
	rt   *Runtime
	done context.Context // ends with the Runtime, not with a call
	stop context.CancelFunc

	mu    sync.Mutex
	count int
}

func (e *events) init(rt *Runtime) {
	e.rt = rt
	e.done, e.stop = context.WithCancel(context.Background())
}

// add accepts an event. It returns ErrThrottled if too many events wait, and ErrClosed.
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
		if err := e.run(inv); err != nil {
			e.rt.opts.Logger.Error("event dropped", slog.String("function", inv.Function),
				slog.String("requestId", inv.RequestID), slog.Any("error", err))
		}
		e.mu.Lock()
		e.count--
		e.mu.Unlock()
	}()
	return nil
}

// run invokes the function until it succeeds. It returns the last error if the function has failed three times, or the
// event is too old.
func (e *events) run(inv Invocation) error {
	began := e.rt.opts.Now()
	throttling := firstThrottling
	for failures := 0; ; {
		err := e.once(inv)
		var failed *FunctionError
		wait := time.Duration(0)
		switch {
		case err == nil:
			return nil
		case errors.As(err, &failed) && failures < eventRetries:
			wait = e.rt.opts.RetryDelay << failures
			failures++
		case errors.Is(err, ErrThrottled) && e.rt.opts.Now().Sub(began) < eventAge:
			wait = throttling
			throttling = min(2*throttling, maxThrottling)
		default:
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-e.done.Done():
			timer.Stop()
			return err
		}
	}
}

// once invokes the function. It returns an error of the function as an error.
func (e *events) once(inv Invocation) error {
	response, err := e.rt.Invoke(context.Background(), inv)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // a buffer
	if response.FunctionError != nil {
		return response.FunctionError
	}
	return nil
}
