package schedule

import (
	"cmp"
	"errors"
	"time"

	"github.com/google/uuid"

	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
)

// fire sends an event on its way, at a random moment of its window. It doesn't wait for it.
func (s *schedule) fire(due time.Time) {
	select {
	case s.places <- struct{}{}:
	default:
		s.logger.Warn("a firing is skipped: too many of the schedule's events are under way", "due", stamp(due), "most", maxUnderWay)
		return
	}
	s.running.Go(func() {
		defer func() { <-s.places }()
		if window := s.spec.FlexibleWindow; window > 0 && !s.wait(due.Add(s.options.Random(window))) {
			return // as if it had been after the end
		}
		s.deliver(due)
	})
}

// tries is what has become of an event so far.
type tries struct {
	refused int           // times that Lambda did not take it
	failed  int           // times that the function failed: Lambda has taken it
	age     time.Duration // since it fired, or since Lambda has taken it
}

// step is what happens next to an event.
type step struct {
	action action
	// base and random are the time before the next try: the first, and a random part of the second.
	base, random time.Duration
	// condition says which bound was reached, "" where trying again is of no use.
	condition string
}

type action int

const (
	done action = iota
	tryAgain
	drop       // Lambda gives it up
	deadLetter // the schedule does
)

// lambdaWait is the time until Lambda tries an event again that the function failed at, doubled for the second time.
const lambdaWait = time.Minute

// The waits before an event is handed over again. With these, the default 185 attempts take a day.
const (
	firstBackoff = time.Second
	maxBackoff   = 10 * time.Minute
)

// next decides after a try that has been counted in already. A failed function is Lambda's to try again, and so is what Lambda
// took and then has no instance for: within the bounds of the function. What it didn't take is the schedule's, within the bounds of its policy.
func next(err error, so tries, spec stack.Schedule) step {
	var failed *runtime.FunctionError
	maxAge := cmp.Or(spec.MaximumEventAge, 24*time.Hour)
	wait := backoff(so.refused)
	switch {
	case err == nil:
		return step{action: done}
	case errors.As(err, &failed):
		again := lambdaWait << (so.failed - 1)
		if so.failed > spec.Async.MaximumRetryAttempts || so.age+again > spec.Async.MaximumEventAge {
			return step{action: drop}
		}
		return step{action: tryAgain, base: again}
	case so.failed > 0 && (refusalOf(err).permanent || so.age >= spec.Async.MaximumEventAge):
		return step{action: drop}
	case so.failed > 0:
		return step{action: tryAgain, base: wait / 2, random: wait / 2}
	case refusalOf(err).permanent:
		return step{action: deadLetter}
	case so.refused > spec.MaximumRetryAttempts:
		return step{action: deadLetter, condition: "MaximumRetryAttempts"}
	case so.age+wait > maxAge:
		return step{action: deadLetter, condition: "MaximumEventAgeInSeconds"}
	}
	return step{action: tryAgain, base: wait / 2, random: wait / 2}
}

// backoff doubles with every refusal, from the first.
func backoff(refused int) time.Duration {
	shift := max(refused-1, 0)
	if shift > 9 { // 1 s << 10 is beyond the longest
		return maxBackoff
	}
	return firstBackoff << shift
}

// deliver takes an event to its end.
func (s *schedule) deliver(due time.Time) {
	text, err := payload(s.spec, s.options.Account, s.options.Region, due)
	if err != nil {
		s.logger.Error("an event can't be written", "error", err)
		return
	}
	began := s.options.Now().Round(0)
	handed := began // over to Lambda
	letter := letter{due: due}
	in := runtime.Invocation{Function: s.spec.Function, RequestID: uuid.NewString()}
	for so := (tries{}); ; {
		if so.failed == 0 { // what Lambda has taken stays as it is
			handed = s.options.Now().Round(0)
			letter.execution = newExecutionID()
			letter.body = fillIn(text, s.spec, due, letter.execution, so.refused+1)
			in.Payload = []byte(letter.body)
		}
		err := s.invoke(in)
		if s.working.Err() != nil || errors.Is(err, runtime.ErrClosed) {
			s.lost(due, err)
			return
		}
		so.count(err)
		so.age = s.options.Now().Round(0).Sub(began)
		if so.failed > 0 {
			so.age = s.options.Now().Round(0).Sub(handed)
		}
		then := next(err, so, s.spec)
		switch then.action {
		case done:
			return
		case drop:
			s.logger.Error("event dropped: the function failed", "due", stamp(due), "requestId", in.RequestID, "attempts", so.failed, "error", err)
			return
		case deadLetter:
			letter.reason, letter.retries, letter.condition = err, max(so.refused-1, 0), then.condition
			s.bury(letter)
			return
		}
		wait := then.base
		if then.random > 0 {
			wait += s.options.Random(then.random)
		}
		s.logger.Warn("event is tried again", "due", stamp(due), "requestId", in.RequestID, "in", wait.String(), "error", err)
		if !s.wait(s.options.Now().Round(0).Add(wait)) {
			s.lost(due, err)
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

// lost tells of an event that ends with the platform.
func (s *schedule) lost(due time.Time, err error) {
	if err != nil {
		s.logger.Warn("event lost: the platform stops before it was delivered", "due", stamp(due), "error", err)
	}
}

// invoke runs the function once; its failure is an error here. Nobody wants the answer.
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
