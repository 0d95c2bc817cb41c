package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// fail has an endpoint refuse a delivery, and waits with the platform for its second attempt.
func (s *story) fail(ctx context.Context) error {
	s.screen.say("A second endpoint responds to its first request with 503. The platform retries after 5 s ± 20 %%. The first endpoint receives its events without delay.")
	if err := s.hook(ctx, flaky, "file.updated", 1); err != nil {
		return err
	}
	if err := s.save(ctx, "export default function App() {\n  return <h1>Closed on Mondays</h1>;\n}\n"); err != nil {
		return err
	}
	attempt := func(status int) func([]delivery) bool {
		return func(seen []delivery) bool {
			return slices.ContainsFunc(seen, func(d delivery) bool { return d.path == flaky && d.status == status })
		}
	}
	if _, err := s.receiver.wait(ctx, patience, "the first attempt", attempt(http.StatusServiceUnavailable)); err != nil {
		return err
	}
	if err := s.allDelivered(ctx); err != nil {
		return err
	}
	due, err := s.due(ctx)
	if err != nil {
		return err
	}
	stop := s.countDown(due)
	seen, err := s.receiver.wait(ctx, due.Sub(now())+patience, "the second attempt", attempt(http.StatusNoContent))
	stop()
	if err != nil {
		return err
	}
	return s.same(seen)
}

// same looks whether the second attempt was one at the same delivery of the same event.
func (s *story) same(seen []delivery) error {
	var attempts []delivery
	for _, d := range seen {
		if d.path == flaky {
			attempts = append(attempts, d)
		}
	}
	first, second := attempts[0], attempts[len(attempts)-1]
	if first.id != second.id || first.payload.ID != second.payload.ID || !bytes.Equal(first.body, second.body) {
		return fmt.Errorf("the second attempt was for delivery %s, not %s", second.id, first.id)
	}
	s.retried = second.at.Sub(first.at)
	s.screen.remark("The same event, delivery and body with a new signature, %s after the first attempt.", seconds(s.retried))
	return nil
}

// due reads in the delivery log when the next attempt is due.
func (s *story) due(ctx context.Context) (time.Time, error) {
	var due time.Time
	log, err := s.logUntil(ctx, s.hooks[1], func(log []logged) bool { return len(log) > 0 && log[0].NextAttemptAt != nil })
	if err != nil {
		return due, err
	}
	due = *log[0].NextAttemptAt
	return due, s.showLog(ctx, s.hooks[1], 1)
}

// countDown shows how long the wait still is, until stop.
func (s *story) countDown(due time.Time) (stop func()) {
	if !s.screen.moves {
		s.screen.remark("Waiting for the second attempt …")
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			left := due.Sub(now())
			text := indent + "waiting: the second attempt is due in " + seconds(left)
			if left < 0 {
				text = indent + "waiting: the second attempt has been due for " + seconds(-left)
			}
			s.screen.status(text)
			select {
			case <-tick.C:
			case <-ended:
				s.screen.status("")
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
	}
}
