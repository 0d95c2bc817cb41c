package schedule

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
)

// fire delivers an event at a random time of its window. It does not wait for it.
func (s *schedule) fire(due time.Time) {
	select {
	case s.inFlight <- struct{}{}:
	default:
		s.logger.Warn("an event is skipped: too many of the schedule's events are in flight", "due", stamp(due), "limit", maxInFlight)
		return
	}
	s.running.Go(func() {
		defer func() { <-s.inFlight }()
		if window := s.spec.FlexibleWindow; window > 0 && !s.wait(due.Add(s.options.Random(window))) {
			return
		}
		s.deliver(due)
	})
}

// tries counts the attempts of an event.
type tries struct {
	refused int           // attempts that Lambda did not accept
	failed  int           // failures of the function, after Lambda has accepted the event
	age     time.Duration // since the event fired, or since Lambda has accepted it
}

// step is what happens after an attempt.
type step struct {
	action action
	// The next attempt is after base and a random part of random.
	base, random time.Duration
	// condition is the limit that was reached, "" if a retry would be useless.
	condition string
}

type action int

const (
	done action = iota
	retry
	drop       // Lambda's retries have ended
	deadLetter // the schedule's retries have ended
)

// functionRetry is the time until Lambda retries after a failure of the function, doubled for the second retry.
const functionRetry = time.Minute

// The waits after Lambda did not accept an event. With these, the default of 185 attempts takes a day.
const (
	firstBackoff = time.Second
	maxBackoff   = 10 * time.Minute
)

// next decides what happens after an attempt, which is included in the tries. Failures of the function, and a lack of
// instances after Lambda has accepted the event, are subject to the limits of the function. Otherwise, the retry policy of
// the schedule applies.
func next(err error, so tries, spec stack.Schedule) step {
	var failed *runtime.FunctionError
	maxAge := cmp.Or(spec.MaximumEventAge, 24*time.Hour)
	_, permanent := errorCode(err)
	wait := backoff(so.refused)
	switch {
	case err == nil:
		return step{action: done}
	case errors.As(err, &failed):
		again := functionRetry << (so.failed - 1)
		if so.failed > spec.Async.MaximumRetryAttempts || so.age+again > spec.Async.MaximumEventAge {
			return step{action: drop}
		}
		return step{action: retry, base: again}
	case so.failed > 0 && (permanent || so.age >= spec.Async.MaximumEventAge):
		return step{action: drop}
	case so.failed > 0:
	case permanent:
		return step{action: deadLetter}
	case so.refused > spec.MaximumRetryAttempts:
		return step{action: deadLetter, condition: "MaximumRetryAttempts"}
	case so.age+wait > maxAge:
		return step{action: deadLetter, condition: "MaximumEventAgeInSeconds"}
	}
	return step{action: retry, base: wait / 2, random: wait / 2}
}

// backoff is exponential.
func backoff(refused int) time.Duration {
	if refused > 10 { // 1 s << 10 is more than maxBackoff
		return maxBackoff
	}
	return firstBackoff << max(refused-1, 0)
}

// deliver delivers an event, with retries.
func (s *schedule) deliver(due time.Time) {
	input, err := s.input(due)
	if err != nil {
		s.logger.Error("the event can't be encoded", "error", err)
		return
	}
	began := s.now()
	accepted := began // by Lambda
	letter := letter{due: due}
	in := runtime.Invocation{Function: s.spec.Function, RequestID: uuid.NewString()}
	for so := (tries{}); ; {
		if so.failed == 0 { // Lambda's retries have the same event
			accepted = s.now()
			letter.execution = newExecutionID()
			letter.body = s.fillIn(input, due, letter.execution, so.refused+1)
			in.Payload = []byte(letter.body)
		}
		err := s.invoke(in)
		if s.working.Err() != nil || errors.Is(err, runtime.ErrClosed) {
			s.logLost(due, err)
			return
		}
		so.count(err)
		so.age = s.now().Sub(began)
		if so.failed > 0 {
			so.age = s.now().Sub(accepted)
		}
		then := next(err, so, s.spec)
		switch then.action {
		case retry:
		case done:
			s.logger.Debug("event delivered", "due", stamp(due), "requestId", in.RequestID)
			return
		case drop:
			s.logger.Error("event dropped: the function failed", "due", stamp(due), "requestId", in.RequestID, "attempts", so.failed, "error", err)
			return
		case deadLetter:
			letter.reason, letter.retries, letter.condition = err, max(so.refused-1, 0), then.condition
			s.sendToDeadLetterQueue(letter)
			return
		}
		wait := then.base
		if then.random > 0 {
			wait += s.options.Random(then.random)
		}
		s.logger.Warn("the event was not delivered: retrying", "due", stamp(due), "requestId", in.RequestID, "in", wait.String(), "error", err)
		if !s.wait(s.now().Add(wait)) {
			s.logLost(due, err)
			return
		}
	}
}

func (t *tries) count(err error) {
	var failed *runtime.FunctionError
	switch {
	case errors.As(err, &failed):
		t.failed++
	case err != nil:
		t.refused++
	}
}

// logLost logs an event that is lost because the platform stops.
func (s *schedule) logLost(due time.Time, err error) {
	if err != nil {
		s.logger.Warn("event lost: the platform stops before it was delivered", "due", stamp(due), "error", err)
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

// input returns the schedule's Input, or the event of a schedule without one:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html.
func (s *schedule) input(due time.Time) (string, error) {
	if s.spec.Input != "" {
		return s.spec.Input, nil
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
	}{"0", uuid.NewString(), "Scheduled Event", "aws.scheduler", s.options.Account, stamp(due), s.options.Region, []string{s.spec.ARN}, "{}"})
	if err != nil {
		return "", fmt.Errorf("encode the event: %w", err)
	}
	return string(event), nil
}

// fillIn replaces the context attributes in an Input:
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
func (s *schedule) fillIn(input string, due time.Time, execution string, attempt int) string {
	return strings.NewReplacer(
		"<aws.scheduler.schedule-arn>", s.spec.ARN,
		"<aws.scheduler.scheduled-time>", stamp(due),
		"<aws.scheduler.execution-id>", execution,
		"<aws.scheduler.attempt-number>", strconv.Itoa(attempt),
	).Replace(input)
}

// stamp formats a time as EventBridge Scheduler does: in UTC, in seconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// newExecutionID returns the id of an attempt, such as d32c5kddcf5bb8c3.
func newExecutionID() string {
	id := uuid.New()
	return hex.EncodeToString(id[8:])
}
