package config

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"devplatform/shared/clock"
)

// ErrUnavailable reports that a secret could not be fetched, or that its text is not valid. A later call may succeed.
var ErrUnavailable = errors.New("config: secret unavailable")

// Fetch returns the text of a secret.
type Fetch func(ctx context.Context) (string, error)

const (
	fetchTimeout  = 3 * time.Second // of one attempt
	fetchAttempts = 4
	fetchBackoff  = 50 * time.Millisecond // after the first attempt, doubled after each further one
	fetchPause    = time.Second           // after a failed fetch, before the next one
)

// cache keeps a parsed secret. Callers that need it while it is being fetched wait for the same fetch.
type cache[T any] struct {
	fetch Fetch
	parse func(text string) (T, error)
	now   clock.Clock
	group singleflight.Group

	mu        sync.Mutex
	value     *T        // of the last fetch that succeeded
	err       error     // of the last fetch
	fetchedAt time.Time // when the last fetch began
}

func newCache[T any](fetch Fetch, now clock.Clock, parse func(string) (T, error)) *cache[T] {
	return &cache[T]{fetch: fetch, parse: parse, now: now}
}

// start begins to fetch the secret in the background.
func (c *cache[T]) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
}

// get returns the secret, and fetches it if it is not known yet. Errors: ErrUnavailable.
func (c *cache[T]) get(ctx context.Context) (T, error) {
	c.mu.Lock()
	if c.value != nil {
		defer c.mu.Unlock()
		return *c.value, nil
	}
	if c.err != nil && c.fetchedWithin(fetchPause) {
		defer c.mu.Unlock()
		var none T
		return none, c.err
	}
	loaded := c.load()
	c.mu.Unlock()
	return c.await(ctx, loaded)
}

// refresh returns the secret. It fetches the secret first if no value is known, or if the last fetch did not begin
// within the period that ends now. If the fetch fails, refresh returns the error, and the previous value remains in the
// cache. Errors: ErrUnavailable.
func (c *cache[T]) refresh(ctx context.Context, period time.Duration) (T, error) {
	c.mu.Lock()
	if c.value != nil && c.fetchedWithin(period) {
		defer c.mu.Unlock()
		return *c.value, nil
	}
	loaded := c.load()
	c.mu.Unlock()
	return c.await(ctx, loaded)
}

// fetchedWithin reports whether the last fetch began within the period that ends now. It reports false if the clock was
// set back and the last fetch seems to be in the future. The caller holds c.mu.
func (c *cache[T]) fetchedWithin(period time.Duration) bool {
	since := c.now().Sub(c.fetchedAt)
	return since >= 0 && since < period
}

// load fetches the secret, or joins the fetch in progress. The caller holds c.mu, so that a fetch cannot end after the
// caller has read the cache and before load begins. The fetch is not canceled with its caller's context, because other
// callers can use the result.
func (c *cache[T]) load() <-chan singleflight.Result {
	return c.group.DoChan("", func() (any, error) {
		began := c.now()
		value, err := c.attempts(context.Background())
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err, c.fetchedAt = err, began; err == nil {
			c.value = &value
		}
		return value, err
	})
}

func (c *cache[T]) await(ctx context.Context, loaded <-chan singleflight.Result) (value T, err error) {
	select {
	case result := <-loaded:
		value, _ = result.Val.(T)
		return value, result.Err
	case <-ctx.Done():
		return value, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// attempts fetches and parses the secret, and retries a fetch that failed.
func (c *cache[T]) attempts(ctx context.Context) (value T, err error) {
	for failures := range fetchAttempts {
		if failures > 0 {
			<-time.After(fetchBackoff << (failures - 1))
		}
		var text string
		if text, err = c.attempt(ctx); err != nil {
			continue
		}
		if value, err = c.parse(text); err != nil {
			break // another fetch would return the same text
		}
		return value, nil
	}
	return value, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func (c *cache[T]) attempt(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	return c.fetch(ctx)
}
