package account

import (
	"context"
	"errors"
	"strconv"
	"time"

	"devplatform/shared/fault"
)

// ticket is an attempt that the limits let through, with where it left them.
type ticket struct {
	counters []counter
	used     []int
	at       time.Time
}

// admit counts an attempt, or refuses it with AUTH_RATE_LIMITED. A refused attempt stays counted nowhere: one rule's
// refusals don't use up another's allowance.
func (s *Service) admit(ctx context.Context, counters []counter, now time.Time) (ticket, error) {
	used, full, err := s.store.count(ctx, counters)
	for _, f := range full {
		if f {
			if err != nil {
				s.logger.WarnContext(ctx, "a refused attempt stays counted", "error", err)
			}
			return ticket{}, refusal(counters, full, now)
		}
	}
	if err != nil {
		return ticket{}, err
	}
	return ticket{counters: counters, used: used, at: now}, nil
}

// refusal is the answer when one or more counters are full. It names the one that stays so longest.
func refusal(counters []counter, full []bool, now time.Time) error {
	var standings []Standing
	for i, c := range counters {
		if full[i] {
			standings = append(standings, c.standing(c.limit, now))
		}
	}
	worst := tightest(standings)
	return worst.refusal()
}

// refusal is the answer to whoever has nothing left.
func (s Standing) refusal() *fault.Error {
	return s.onto(errTooMany.WithHeader("Retry-After", strconv.Itoa(wholeSeconds(s.Reset))))
}

var errTooMany = fault.New(fault.CodeAuthRateLimited, "Too many attempts. Please wait and try again.")

// refunds are the counters that a success gives back to.
func (t ticket) refunds() []counter {
	var list []counter
	for _, c := range t.counters {
		if c.refund {
			list = append(list, c)
		}
	}
	return list
}

// standing is where the tightest counter stands after the attempt succeeded, or didn't.
func (t ticket) standing(succeeded bool) Standing {
	standings := make([]Standing, len(t.counters))
	for i, c := range t.counters {
		used := t.used[i]
		if succeeded && c.refund {
			used--
		}
		standings[i] = c.standing(used, t.at)
	}
	return tightest(standings)
}

// fail makes the answer to an attempt that was counted and came to nothing: RateLimit-* go with what the client is told.
func (t ticket) fail(err error) error {
	var answer *fault.Error
	if !errors.As(err, &answer) {
		return err
	}
	return t.standing(false).onto(answer)
}

// onto says with an answer where it stands.
func (s Standing) onto(err *fault.Error) *fault.Error {
	for name, values := range s.Headers() {
		err = err.WithHeader(name, values[0])
	}
	return err
}
