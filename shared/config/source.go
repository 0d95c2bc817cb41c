package config

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"devplatform/shared/clock"
)

// ErrUnavailable says that a secret could not be fetched, or that what was fetched is unusable. It is tried again later.
var ErrUnavailable = errors.New("config: secret unavailable")

// Fetch gets a secret's text.
type Fetch func(ctx context.Context) (string, error)

const (
	fetchTimeout  = 3 * time.Second
	fetchAttempts = 4
	fetchBackoff  = 50 * time.Millisecond // doubled after each attempt
	fetchPause    = time.Second           // from a failed flight to the next
)

// source keeps a parsed secret: fetched in the background, once at a time, and again when asked for something newer.
type source[T any] struct {
	fetch Fetch
	parse func(text string) (T, error)
	now   clock.Clock

	mu      sync.Mutex
	value   *T
	err     error         // of the last flight
	began   time.Time     // of the last flight
	flight  chan struct{} // closed when the flight under way ends; nil when none is
	backoff time.Duration
}

func newSource[T any](fetch Fetch, now clock.Clock, parse func(string) (T, error)) *source[T] {
	return &source[T]{fetch: fetch, parse: parse, now: now, backoff: fetchBackoff}
}

// start begins a flight unless one is under way, and answers with its end.
func (s *source[T]) start() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.launch()
}

// launch is start with the lock held.
func (s *source[T]) launch() <-chan struct{} {
	if s.flight != nil {
		return s.flight
	}
	done := make(chan struct{})
	s.flight, s.began = done, s.now()
	go func() {
		// Whoever is waiting may give up; the answer serves the next one all the same.
		value, err := s.attempt(context.Background())
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
		if err == nil {
			s.value = &value
		}
		s.flight = nil
		close(done)
	}()
	return done
}

func (s *source[T]) attempt(ctx context.Context) (value T, err error) {
	for i := range fetchAttempts {
		if i > 0 {
			<-time.After(s.backoff << (i - 1))
		}
		var text string
		if text, err = s.fetchOnce(ctx); err != nil {
			continue
		}
		if value, err = s.parse(text); err != nil {
			break // asking again at once would bring the same text
		}
		return value, nil
	}
	return value, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func (s *source[T]) fetchOnce(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	return s.fetch(ctx)
}

// get waits for the value, if it is not there yet. Error: ErrUnavailable.
func (s *source[T]) get(ctx context.Context) (T, error) {
	s.mu.Lock()
	if s.value != nil {
		defer s.mu.Unlock()
		return *s.value, nil
	}
	if s.flight == nil && s.err != nil && s.younger(fetchPause) {
		defer s.mu.Unlock()
		var none T
		return none, s.err
	}
	done := s.launch()
	s.mu.Unlock()
	return s.await(ctx, done)
}

// refresh is get for somebody who wants a value younger than age: if the last flight began before that, it waits for
// a new one. A failed flight leaves the old value in place, and is an error here. Error: ErrUnavailable.
func (s *source[T]) refresh(ctx context.Context, age time.Duration) (T, error) {
	s.mu.Lock()
	if s.flight == nil && s.value != nil && s.younger(age) {
		defer s.mu.Unlock()
		return *s.value, nil
	}
	done := s.launch()
	s.mu.Unlock()
	value, err := s.await(ctx, done)
	if err != nil {
		return value, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return value, s.err
}

// younger reports whether the last flight began less than age ago. One of the future tells of a clock that was put back, and of nothing
// else. The caller holds mu.
func (s *source[T]) younger(age time.Duration) bool {
	since := s.now().Sub(s.began)
	return since >= 0 && since < age
}

func (s *source[T]) await(ctx context.Context, done <-chan struct{}) (T, error) {
	select {
	case <-done:
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.value == nil {
		var none T
		return none, s.err
	}
	return *s.value, nil
}
