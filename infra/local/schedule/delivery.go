package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"devplatform/infra/local/runtime"
)

const (
	// functionRetry is the time until Lambda retries after a failure of the function, doubled for the second retry.
	functionRetry = time.Minute
	// The waits after Lambda did not accept an event. With these, the default of 185 attempts takes a day.
	firstBackoff = time.Second
	maxBackoff   = 10 * time.Minute
)

// attempts counts the attempts to deliver an event.
type attempts struct {
	refused int           // attempts that Lambda did not accept
	failed  int           // failures of the function, after Lambda accepted the event
	age     time.Duration // since the event fired or, if the function failed, since Lambda accepted the event
}

// nextAttempt returns the wait until the next attempt after an error, and false if there is none. made includes the
// attempt with the error. Before Lambda accepts the event, the limits of the schedule apply. After that, the limits of
// the function apply.
func (s *schedule) nextAttempt(err error, made attempts) (wait time.Duration, more bool) {
	backoff := min(firstBackoff<<min(max(made.refused-1, 0), 10), maxBackoff)
	wait = backoff/2 + s.random(backoff/2)
	async := s.spec.Async
	var failure *runtime.FunctionError
	switch {
	case errors.As(err, &failure):
		wait = functionRetry << (made.failed - 1)
		return wait, made.failed <= async.MaximumRetryAttempts && made.age+wait <= async.MaximumEventAge
	case errors.Is(err, runtime.ErrFunctionNotFound), errors.Is(err, runtime.ErrPayloadTooLarge):
		return 0, false
	case made.failed > 0: // all instances are busy at a retry of Lambda
		return wait, made.age < async.MaximumEventAge
	}
	return wait, made.refused <= s.spec.MaximumRetryAttempts && made.age+backoff <= s.spec.MaximumEventAge
}

// fire delivers an event in the background.
func (s *schedule) fire(due time.Time) {
	select {
	case s.inFlight <- struct{}{}:
	default:
		s.logger.Warn("an event is skipped: too many of the schedule's events are in flight",
			"due", stamp(due), "limit", maxInFlight)
		return
	}
	s.running.Go(func() {
		defer func() { <-s.inFlight }()
		s.deliver(due)
	})
}

// deliver invokes the function with an event. It retries until the event is delivered or dropped.
func (s *schedule) deliver(due time.Time) {
	payload, err := s.payload(due)
	if err != nil {
		s.logger.Error("the event can't be encoded", "error", err)
		return
	}
	in := runtime.Invocation{Function: s.spec.Function, RequestID: uuid.NewString(), Payload: payload}
	logger := s.logger.With("due", stamp(due), "requestId", in.RequestID)
	var made attempts
	for since := s.now(); ; {
		began := s.now()
		err := s.invoke(in)
		var failure *runtime.FunctionError
		switch {
		case err == nil:
			logger.Debug("event delivered")
			return
		case s.working.Err() != nil || errors.Is(err, runtime.ErrClosed):
			logger.Warn("event lost: the platform stops before it was delivered", "error", err)
			return
		case !errors.As(err, &failure):
			made.refused++
		case made.failed == 0: // Lambda accepted the event at this attempt
			since = began
			made.failed++
		default:
			made.failed++
		}
		made.age = s.now().Sub(since)
		wait, more := s.nextAttempt(err, made)
		if !more {
			logger.Error("event dropped after the last attempt", "error", err, "event", string(payload))
			return
		}
		logger.Warn("the event was not delivered: retrying", "in", wait.String(), "error", err)
		if !s.wait(s.now().Add(wait)) {
			logger.Warn("event lost: the platform stops before it was delivered", "error", err)
			return
		}
	}
}

// invoke runs the function once. It returns an error of the function as an error.
func (s *schedule) invoke(in runtime.Invocation) error {
	response, err := s.options.Invoke(s.working, in)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // a buffer
	if response.FunctionError != nil {
		return response.FunctionError
	}
	return nil
}

// payload returns the schedule's Input, or the event of a schedule without one:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html.
func (s *schedule) payload(due time.Time) ([]byte, error) {
	if s.spec.Input != "" {
		return []byte(s.spec.Input), nil
	}
	event, err := json.Marshal(struct {
		Version    string   `json:"version"`
		ID         string   `json:"id"`
		DetailType string   `json:"detail-type"`
		Source     string   `json:"source"`
		Account    string   `json:"account"`
		Time       string   `json:"time"`
		Region     string   `json:"region"`
		Resources  []string `json:"resources"`
		Detail     string   `json:"detail"`
	}{
		"0", uuid.NewString(), "Scheduled Event", "aws.scheduler", s.options.Account, stamp(due), s.options.Region,
		[]string{s.spec.ARN}, "{}",
	})
	if err != nil {
		return nil, fmt.Errorf("encode the event: %w", err)
	}
	return event, nil
}

// stamp formats a time as EventBridge Scheduler does: in UTC, in seconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
