package config

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/retry"
)

// ErrUnavailable reports that a secret could not be read, or that its text is not valid. A later call may succeed.
var ErrUnavailable = errors.New("config: secret unavailable")

// Fetch returns the text of a secret.
type Fetch func(ctx context.Context) (string, error)

// The age of a value is the time since the read that returned it began.
const (
	refreshAge    = 5 * time.Minute  // the value is read again in the background, ± refreshJitter
	refreshJitter = time.Minute      // so that instances that started together do not read together
	staleAge      = 10 * time.Minute // the value is read again before it is used
	maxAge        = time.Hour        // the value is not used, even if the secret cannot be read
	retryPause    = time.Minute      // between a failed read and the next read, if a value can be used
	fetchPause    = time.Second      // between a failed read and the next read, if no value can be used
)

const (
	// fetchTimeout limits an attempt. If a value can be used, it limits all attempts of a read together.
	fetchTimeout  = 3 * time.Second
	fetchAttempts = 4
)

// cache keeps a parsed secret and reads it again from time to time, so that every instance notices a change of the
// secret within ten minutes. Callers that need the secret while it is being read wait for the same read.
type cache[T any] struct {
	fetch  Fetch
	parse  func(text string) (T, error)
	now    clock.Clock
	report func(error) // is called after each read that failed; must not panic

	mu        sync.Mutex
	value     *T            // of the last read that succeeded
	readAt    time.Time     // when that read began
	refreshAt time.Duration // the age at which the value is read again
	triedAt   time.Time     // when the last read began
	err       error         // of the last read that ended
	reading   chan struct{} // closed when the read in progress ends; nil if there is none
}

func newCache[T any](fetch Fetch, now clock.Clock, parse func(string) (T, error)) *cache[T] {
	return &cache[T]{fetch: fetch, parse: parse, now: now, report: func(error) {}}
}

// get returns the secret. Errors: ErrUnavailable.
func (c *cache[T]) get(ctx context.Context) (value T, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := c.since(c.readAt)
	switch {
	case c.hasFailed(): // the last value, or the last error, is the result until the next read
	case !c.isUsable(), age > staleAge, age < 0:
		if err := c.await(ctx, c.startRead()); err != nil {
			return value, err
		}
	case age > c.refreshAt:
		async.EndAfter(ctx, c.startRead())
	}
	if c.err != nil && !c.isUsable() {
		return value, c.err
	}
	return *c.value, nil
}

// getNewerThan returns the secret. It first waits for the read in progress, or reads the secret if the last read did
// not begin within the period that ends now. If the last read failed, it returns the error. Errors: ErrUnavailable.
func (c *cache[T]) getNewerThan(ctx context.Context, period time.Duration) (value T, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading != nil || !c.hasReadWithin(period) {
		if err := c.await(ctx, c.startRead()); err != nil {
			return value, err
		}
	}
	if c.err != nil {
		return value, c.err
	}
	return *c.value, nil
}

// isUsable reports whether there is a value that is not too old. The caller holds c.mu.
func (c *cache[T]) isUsable() bool { return c.value != nil && c.since(c.readAt) <= maxAge }

// hasFailed reports whether the last read failed, and it is too early for the next one. The caller holds c.mu.
func (c *cache[T]) hasFailed() bool {
	pause := fetchPause
	if c.isUsable() {
		pause = retryPause
	}
	return c.reading == nil && c.err != nil && c.hasReadWithin(pause)
}

// hasReadWithin reports whether the last read began within the period that ends now. It reports false if the clock was
// set back and the read seems to be in the future. The caller holds c.mu.
func (c *cache[T]) hasReadWithin(period time.Duration) bool {
	since := c.since(c.triedAt)
	return since >= 0 && since < period
}

// since returns the time since t. It does not use the monotonic clock, which may stand still while Lambda has frozen
// the process. The result is negative if the clock was set back to a time before t.
func (c *cache[T]) since(t time.Time) time.Duration { return c.now().Round(0).Sub(t.Round(0)) }

// await waits for a read. The caller holds c.mu, which await releases while it waits. Error: ErrUnavailable if
// ctx ends.
func (c *cache[T]) await(ctx context.Context, read <-chan struct{}) error {
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-read:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// startRead begins to read the secret unless a read is in progress. It returns a channel that is closed when the read
// ends. The read does not end with the context of its caller, because other callers use the result, too. Its attempts
// are limited instead. All attempts together are limited only if a value can be used: Lambda may freeze the process
// between its start and the first request, and then the first attempt fails. The caller holds c.mu.
func (c *cache[T]) startRead() <-chan struct{} {
	if c.reading != nil {
		return c.reading
	}
	ctx, cancel := context.Background(), func() {}
	if c.isUsable() {
		ctx, cancel = context.WithTimeout(ctx, fetchTimeout)
	}
	done := make(chan struct{})
	c.reading, c.triedAt = done, c.now()
	var value T
	async.Go(func() (err error) {
		defer cancel()
		value, err = c.fetchAndParse(ctx)
		return err
	}, func(err error) {
		defer close(done)
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
			c.report(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reading, c.err = nil, err
		if err == nil {
			c.value, c.readAt = &value, c.triedAt
			c.refreshAt = refreshAge - refreshJitter + rand.N(2*refreshJitter) //nolint:gosec // needs no secure randomness
		}
	})
	return done
}

// fetchAndParse fetches and parses the secret, and retries a fetch that failed until ctx ends.
func (c *cache[T]) fetchAndParse(ctx context.Context) (value T, err error) {
	for range retry.Attempts(ctx, fetchAttempts, retry.Jitter) {
		var text string
		attemptCtx, cancel := context.WithTimeout(ctx, fetchTimeout)
		text, err = c.fetch(attemptCtx)
		cancel()
		if err == nil {
			return c.parse(text) // not retried, because another fetch would return the same text
		}
	}
	return value, err
}
