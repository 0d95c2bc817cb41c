// Package quota limits what users may ask of the assistant: calls a minute and tokens a month. It reserves tokens
// before a model is asked and settles the reservation when the answer ends. The record of a reservation also holds the
// user's request to cancel the answer. Questions, answers and conversations do not belong here.
package quota

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// Limits are the limits of each user and of all users together.
type Limits struct {
	// CallsPerMinute is the number of chat and generate calls that a user may make in a minute.
	CallsPerMinute int
	// MonthlyTokens is the number of tokens that a user may use in a calendar month (UTC).
	MonthlyTokens int
	// GlobalMonthlyTokens is the number of tokens that all users together may use in a month. 0 means no such limit; no
	// total is counted then.
	GlobalMonthlyTokens int
}

// Month is a calendar month in UTC, given by its first moment.
type Month time.Time

// MonthOf returns the month that contains a time.
func MonthOf(at time.Time) Month {
	at = at.UTC()
	return Month(time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC))
}

// String returns the month as keys and the API show it: 2026-11.
func (m Month) String() string { return time.Time(m).Format("2006-01") }

// End returns the first moment of the next month.
func (m Month) End() time.Time { return time.Time(m).AddDate(0, 1, 0) }

// Reservation is the largest number of tokens that an answer may use. It is taken from the user's month before a model
// is asked.
type Reservation struct {
	UserID string
	// MessageID is the ID of the answer.
	MessageID string
	Tokens    int
	// Began is the time of the user's request. The month of that time pays for the answer, even if the answer ends in
	// the next.
	Began time.Time
}

func (r Reservation) month() Month { return MonthOf(r.Began) }

// Settlement ends a reservation: the tokens that were used replace the reserved ones.
type Settlement struct {
	Reservation
	Used model.Usage
	// UnlessCancelled makes Settle fail with ErrCancelled if the user has cancelled the answer.
	UnlessCancelled bool
}

// Ledger keeps reservations and usage in a table. It is safe for concurrent use.
type Ledger struct {
	store    store
	counters *limit.Counters
	limits   Limits
	now      clock.Clock
}

// New returns a Ledger that uses the given table.
func New(client *db.Client, table db.Table, now clock.Clock, limits Limits) *Ledger {
	return &Ledger{
		store: store{client: client, table: table}, counters: limit.New(client, table, now), limits: limits, now: now,
	}
}

const (
	// crashedAfter is the age at which a generation that has not ended counts as crashed: its function no longer runs.
	crashedAfter = 10 * time.Minute
	// keptAfterEnd is how long the record of a generation is kept after the generation has ended.
	keptAfterEnd = 24 * time.Hour
)

// minuteRule returns the rate limit for calls.
func (l Limits) minuteRule() limit.Rule {
	return limit.Rule{Name: "ai", Limit: l.CallsPerMinute, Window: time.Minute}
}

// ErrCancelled reports that the user cancelled the answer.
var ErrCancelled = errors.New("quota: the answer was cancelled by its user")

// ErrInUse reports that there is already a reservation for the same answer.
var ErrInUse = fault.New(fault.CodeConflict, "This answer is already being generated. Try again.")

// Reserve counts a call in the user's minute and reserves r.Tokens in the month of the user and, if they have a limit,
// of all users. It writes all of this or nothing. If fewer tokens are left, but at least enough of them, it reserves
// those: the returned reservation has the number. Before it refuses a call, it returns the reservations of the user's
// crashed generations. Every reservation needs a Settle.
// Errors: RATE_LIMITED with Retry-After, QUOTA_EXCEEDED, ErrInUse, the error classes of db.
func (l *Ledger) Reserve(ctx context.Context, r Reservation, enough int) (Reservation, error) {
	err := db.Retry(ctx, "reserve tokens", func() error {
		minute, tooManyCalls := l.counters.Write(l.limits.minuteRule(), r.UserID)
		err := l.store.reserve(ctx, r, l.limits, l.now(), minute)
		refused, ok := errors.AsType[*refusedError](err)
		switch {
		case !ok:
			return err
		case refused.minute:
			return tooManyCalls
		case refused.user == nil && refused.global == nil:
			return ErrInUse.WithCause(err)
		}
		freed, err := l.releaseCrashed(ctx, r)
		if err != nil {
			return err
		}
		left := l.limits.left(refused)
		switch {
		case freed:
		case left >= enough && left < r.Tokens:
			r.Tokens = left
		default:
			return l.limits.exceeded(refused, r.month(), left)
		}
		return db.ErrStale
	})
	return r, err
}

// releaseCrashed returns the tokens that the user's crashed generations have reserved. It reports whether one of them
// was in the month of r. Concurrent calls return each reservation once.
func (l *Ledger) releaseCrashed(ctx context.Context, r Reservation) (released bool, err error) {
	crashed, err := l.store.crashed(ctx, r.UserID, l.now().Add(-crashedAfter))
	if err != nil {
		return false, err
	}
	for _, g := range crashed {
		if err := l.store.release(ctx, r.UserID, g, l.now()); err != nil {
			return released, err
		}
		released = released || g.Month == r.month().String()
	}
	return released, nil
}

// left returns how many tokens a reservation could have had that was refused for lack of tokens.
func (l Limits) left(refused *refusedError) int {
	switch {
	case refused.user == nil:
		return max(0, l.GlobalMonthlyTokens-refused.global.Taken)
	case refused.global == nil:
		return max(0, l.MonthlyTokens-refused.user.Taken)
	default:
		return max(0, min(l.MonthlyTokens-refused.user.Taken, l.GlobalMonthlyTokens-refused.global.Taken))
	}
}

// exceeded returns the error for a reservation that was refused for lack of tokens. left tokens remain.
func (l Limits) exceeded(refused *refusedError, m Month, left int) *fault.Error {
	var message string
	switch user := refused.user; {
	case user == nil:
		message = "All users together have used the tokens of the assistant for this month."
	case user.Taken < l.MonthlyTokens:
		message = fmt.Sprintf("You have %d of your %d tokens left this month, which is too few for this request.",
			l.MonthlyTokens-user.Taken, l.MonthlyTokens)
	case user.Taken > user.Input+user.Output:
		message = fmt.Sprintf("Your %d tokens for this month are used or reserved by answers in progress.",
			l.MonthlyTokens)
	default:
		message = fmt.Sprintf("You have used all of your %d tokens for this month.", l.MonthlyTokens)
	}
	message += " The quota is renewed on " + m.End().Format(time.DateOnly) + " (UTC)."
	return fault.New(fault.CodeQuotaExceeded, message).WithCause(&shortageError{left: left, cause: refused})
}

// ExampleExceeded returns the QUOTA_EXCEEDED error of a user who has used all tokens of the month of a time, for
// documentation.
func (l Limits) ExampleExceeded(at time.Time) *fault.Error {
	usedUp := &refusedError{user: &Usage{Taken: l.MonthlyTokens, Input: l.MonthlyTokens}}
	return l.exceeded(usedUp, MonthOf(at), 0)
}

// shortageError is the cause of QUOTA_EXCEEDED. It reports how many tokens are left.
type shortageError struct {
	left  int
	cause error
}

func (e *shortageError) Error() string {
	return fmt.Sprintf("quota: %d tokens left: %v", e.left, e.cause)
}

func (e *shortageError) Unwrap() error { return e.cause }

// Settle ends a reservation and executes more writes in the same transaction, even if ctx has ended. A reservation is
// settled once: if it was settled before, Settle writes nothing and returns nil. A reservation that was released,
// because its generation seemed to have crashed, is settled all the same.
// Errors: if a condition of more fails, a db.ConditionError with the indexes of more, and nothing was written;
// ErrCancelled; the error classes of db, after which Settle may be called again.
func (l *Ledger) Settle(ctx context.Context, s Settlement, more ...db.Write) error {
	ctx = context.WithoutCancel(ctx) // the tokens were used, whether or not the client is still there
	end := settlementWrite{Settlement: s, global: l.limits.GlobalMonthlyTokens > 0, at: l.now()}
	return db.Retry(ctx, "settle tokens", func() error {
		before, err := l.store.settle(ctx, end, more)
		switch {
		case before == nil:
			return err
		case s.UnlessCancelled && before.End == "" && before.Cancelled:
			return ErrCancelled
		case err != nil:
			return err
		case before.End == endReleased && !end.released:
			end.released = true
			return db.ErrStale
		}
		return nil // it was settled before, or its record has expired
	})
}

// Cancel requests the end of an answer that is in progress for a user. An answer that has ended is not changed.
// Error: db.ErrNotFound, if the user has no such answer.
func (l *Ledger) Cancel(ctx context.Context, userID, messageID string) error {
	return l.store.cancel(ctx, userID, messageID)
}

// IsCancelled reports whether the user has cancelled the answer of a reservation.
func (l *Ledger) IsCancelled(ctx context.Context, r Reservation) (bool, error) {
	g, err := l.store.generation(ctx, r.UserID, r.MessageID)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return g.Cancelled, err
}

// Usage returns what a user has used in a month.
func (l *Ledger) Usage(ctx context.Context, userID string, m Month) (Usage, error) {
	return l.store.usage(ctx, userID, m)
}
