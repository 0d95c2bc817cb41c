// Package limit implements rate limits. It counts the attempts of a subject, such as a user or a network, in a fixed
// window of time, and rejects attempts that exceed a rule's limit. It also limits the operations of a subject that are
// in progress at the same time (store_operation.go). Concurrent attempts cannot exceed a limit either. The callers
// define the rules and the subjects.
package limit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// ErrTooMany is the error for an attempt that exceeds a limit. The errors that this package returns also have the
// header Retry-After.
var ErrTooMany = fault.New(fault.CodeRateLimited, "Too many requests. Please wait and try again.")

// Rule allows each subject a number of attempts in each window of time.
type Rule struct {
	Name         string // part of the counters' keys in the table: do not change it, and do not use it for another rule
	Limit        int
	Window       time.Duration // windows are aligned to the Unix epoch
	FailuresOnly bool          // successful attempts do not count: the caller refunds them, see Attempt.Refunds
}

// Counter counts the attempts of one subject under one rule in one window.
type Counter struct {
	rule Rule
	key  db.Key
	ends time.Time
	hits int // the attempts in the window, as of the last read or write of the item
}

// Key returns the key of the counter's item.
func (c Counter) Key() db.Key { return c.key }

// Remaining returns the number of attempts that the counter still allows, as of the last read or write of the item.
func (c Counter) Remaining() int { return max(c.rule.Limit-c.hits, 0) }

// isFull reports whether the counter allows no further attempt.
func (c Counter) isFull() bool { return c.hits >= c.rule.Limit }

// status returns the state of the counter at the given time.
func (c Counter) status(now time.Time) Status {
	return Status{Limit: c.rule.Limit, Remaining: c.Remaining(), Reset: c.ends.Sub(now)}
}

// Counters stores counters in a table. A counter expires at the end of its window. Counters is safe for concurrent use.
type Counters struct {
	db    *db.Client
	table db.Table
	now   clock.Clock
	// tooMany returns the error of an attempt beyond a limit.
	tooMany func(Status) *fault.Error
}

// New returns a Counters that stores its counters in table.
func New(client *db.Client, table db.Table, now clock.Clock) *Counters {
	return &Counters{db: client, table: table, now: now, tooMany: Status.tooMany}
}

// WithError returns Counters with another error for an attempt beyond a limit. The error replaces ErrTooMany.
func (c *Counters) WithError(tooMany func(Status) *fault.Error) *Counters {
	changed := *c
	changed.tooMany = tooMany
	return &changed
}

// Counter returns the counter of a rule for a subject, such as an ID, in the current window.
func (c *Counters) Counter(rule Rule, subject string) Counter {
	return counterAt(rule, subject, c.now())
}

// counterAt returns the counter of the window that contains a time.
func counterAt(rule Rule, subject string, at time.Time) Counter {
	starts := at.UTC().Truncate(rule.Window)
	return Counter{rule: rule, key: db.CounterKey(rule.Name, starts, subject), ends: starts.Add(rule.Window)}
}

// Write returns a write that counts one attempt of a subject as part of a transaction. Error: ErrTooMany.
func (c *Counters) Write(rule Rule, subject string) db.Write {
	counter := c.Counter(rule, subject)
	write := c.hitWrite(counter, 1)
	counter.hits = rule.Limit
	return write.Else(c.tooMany(counter.status(c.now())))
}

// Add returns a write that counts n units of a subject, such as bytes, as part of a transaction, in the window that
// contains a time. Its condition fails if the sum would exceed the limit.
func (c *Counters) Add(rule Rule, subject string, at time.Time, n int) db.Write {
	return c.hitWrite(counterAt(rule, subject, at), n)
}

// Count counts one attempt with all counters in parallel. If one of them has reached its limit, Count rejects the
// attempt and refunds it to the other counters, so that a rejected attempt does not use up the limit of another rule.
// If Counter.Load found a counter at its limit, Count rejects the attempt without a call to storage. If the response to
// a write is lost and the SDK repeats the write, the attempt can count twice. Errors: ErrTooMany (the returned Attempt
// is valid and has a status), db.ErrUnavailable, db.ErrInvalidKey.
func (c *Counters) Count(ctx context.Context, counters ...Counter) (Attempt, error) {
	attempt := Attempt{store: c, counters: slices.Clone(counters), at: c.now()}
	if attempt.isFull() {
		return attempt, c.tooMany(attempt.Status())
	}
	isCounted := make([]bool, len(counters))
	var group async.Group
	for i := range attempt.counters {
		group.Go(func() error {
			counter := &attempt.counters[i]
			item, err := c.db.Do(ctx, c.hitWrite(*counter, 1))
			if errors.Is(err, db.ErrConditionFailed) {
				counter.hits = counter.rule.Limit
				return nil
			}
			if err != nil {
				return fmt.Errorf("counting %s: %w", counter.rule.Name, err)
			}
			isCounted[i] = true
			return counter.Load(item)
		})
	}
	err := group.Wait()
	isRejected := false
	for i, counter := range attempt.counters {
		isRejected = isRejected || (!isCounted[i] && counter.isFull())
	}
	if err == nil && !isRejected {
		return attempt, nil
	}
	err = errors.Join(err, c.undo(ctx, attempt.counters, isCounted))
	if isRejected {
		return attempt, c.tooMany(attempt.Status()).WithCause(err)
	}
	return attempt, err
}

// endTimeout is the time limit for refunding an attempt or ending an operation.
const endTimeout = 5 * time.Second

// undo refunds the attempt to the counters that counted it, in the table and in counters. It continues after ctx has
// ended: an attempt that stays counted would limit the subject for the rest of the window.
func (c *Counters) undo(ctx context.Context, counters []Counter, isCounted []bool) error {
	ctx, cancel := async.Detach(ctx, endTimeout)
	defer cancel()
	var group async.Group
	for i := range counters {
		if isCounted[i] {
			counters[i].hits--
			group.Go(func() error {
				_, err := c.db.Do(ctx, c.refundWrite(counters[i]))
				return err
			})
		}
	}
	return group.Wait()
}

// Attempt is an attempt that was counted or rejected.
type Attempt struct {
	store    *Counters
	counters []Counter
	at       time.Time
}

// isFull reports whether one of the counters allows no further attempt.
func (a Attempt) isFull() bool {
	return slices.ContainsFunc(a.counters, Counter.isFull)
}

// Refunds returns the writes that refund a successful attempt to the counters of rules with FailuresOnly. They belong
// in the transaction that makes the attempt succeed.
func (a Attempt) Refunds() []db.Write {
	var writes []db.Write
	for _, counter := range a.counters {
		if counter.rule.FailuresOnly {
			writes = append(writes, a.store.refundWrite(counter))
		}
	}
	return writes
}

// Status returns the status of the counter that is closest to its limit.
func (a Attempt) Status() Status {
	var tightest Status
	for i, counter := range a.counters {
		if status := counter.status(a.at); i == 0 || status.isTighter(tightest) {
			tightest = status
		}
	}
	return tightest
}

// RefundedStatus returns the status of a successful attempt: it assumes that the writes of Refunds were made.
func (a Attempt) RefundedStatus() Status {
	a.counters = slices.Clone(a.counters)
	for i := range a.counters {
		if a.counters[i].rule.FailuresOnly {
			a.counters[i].hits--
		}
	}
	return a.Status()
}

// Status is the state of a counter as the RateLimit-* headers report it.
type Status struct {
	Limit     int
	Remaining int
	Reset     time.Duration // until the window ends
}

// ResetSeconds returns Reset in whole seconds, rounded up, at least 1.
func (s Status) ResetSeconds() int {
	return max(int((s.Reset+time.Second-1)/time.Second), 1)
}

// WithHeaders returns a copy of the error with the headers RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset.
func (s Status) WithHeaders(err *fault.Error) *fault.Error {
	return err.WithHeader("RateLimit-Limit", strconv.Itoa(s.Limit)).
		WithHeader("RateLimit-Remaining", strconv.Itoa(s.Remaining)).
		WithHeader("RateLimit-Reset", strconv.Itoa(s.ResetSeconds()))
}

// WithRetryAfter returns a copy of the error with the header Retry-After.
func (s Status) WithRetryAfter(err *fault.Error) *fault.Error {
	return err.WithHeader("Retry-After", strconv.Itoa(s.ResetSeconds()))
}

func (s Status) tooMany() *fault.Error { return s.WithRetryAfter(ErrTooMany) }

// isTighter reports whether fewer attempts remain in s than in other, or the same number but the window of s ends
// later.
func (s Status) isTighter(other Status) bool {
	if s.Remaining != other.Remaining {
		return s.Remaining < other.Remaining
	}
	return s.Reset > other.Reset
}
