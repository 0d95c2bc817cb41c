// Package quota limits the use of the assistant: calls per minute, generations in progress, and tokens per month. It
// reserves tokens before a model is called, and settles the reservation when the answer ends. The record of a
// reservation also stores whether the user has cancelled the answer. Questions, answers and conversations do not belong
// here.
package quota

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

// Limits are the limits of each user and of all users together.
type Limits struct {
	// CallsPerMinute is the number of chat and generate calls that a user may make in a minute.
	CallsPerMinute int
	// InProgress is the number of generations of a user that may be in progress at the same time.
	InProgress int
	// MonthlyTokens is the number of tokens that a user may use in a calendar month (UTC).
	MonthlyTokens int
	// GlobalMonthlyTokens is the number of tokens that all users together may use in a calendar month. If it is 0, the
	// total is neither limited nor counted.
	GlobalMonthlyTokens int
}

// Month is a calendar month in UTC, represented by its first moment.
type Month time.Time

// MonthOf returns the month that contains a time.
func MonthOf(at time.Time) Month {
	at = at.UTC()
	return Month(time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC))
}

// String returns the month in the format of keys and API responses, such as 2026-11.
func (m Month) String() string { return time.Time(m).Format("2006-01") }

// End returns the first moment of the next month.
func (m Month) End() time.Time { return time.Time(m).AddDate(0, 1, 0) }

// Reservation reserves the tokens that an answer may use. Until it is settled, they count towards the user's limit in
// the same way as used tokens.
type Reservation struct {
	UserID string
	// MessageID is the ID of the answer.
	MessageID string
	Tokens    int
	// Began is the time of the user's request. The tokens count in the month of Began, even if the answer ends in the
	// next month.
	Began time.Time

	// Reserve sets the remaining fields. shard is the shard of the usage of all users in which the tokens are reserved,
	// from 1, or 0 if that usage is not counted. operation is the generation in progress.
	shard     int
	operation limit.Operation
}

func (r Reservation) month() Month { return MonthOf(r.Began) }

// Settlement ends a reservation: the used tokens replace the reserved tokens.
type Settlement struct {
	Reservation
	Used model.Usage
	// UnlessCancelled makes Settle fail with ErrCancelled if the user has cancelled the answer.
	UnlessCancelled bool
}

// Ledger stores reservations and usage in a table. It is safe for concurrent use.
type Ledger struct {
	store    store
	counters *limit.Counters
	limits   Limits
	now      clock.Clock
	logger   *slog.Logger
	// reported is the time at which the usage of all users was last logged, in nanoseconds since 1970.
	reported atomic.Int64
}

// New returns a Ledger that uses the given table.
func New(client *db.Client, table db.Table, now clock.Clock, logger *slog.Logger, limits Limits) *Ledger {
	return &Ledger{
		store: store{client: client, table: table}, counters: limit.New(client, table, now), limits: limits, now: now,
		logger: logger,
	}
}

const (
	// crashedAfter is the age after which a generation that has not ended is considered crashed. It is longer than the
	// time limit of the function.
	crashedAfter = 10 * time.Minute
	// keptAfterEnd is how long the record of a generation is kept after the generation has ended.
	keptAfterEnd = 24 * time.Hour
)

// settleTime is the time limit for settling a reservation. A reservation that was not settled is released later (see
// crashedAfter).
const settleTime = 10 * time.Second

// Lease is the time for which a generation counts as in progress if its function crashes. It is longer than the time
// limit of the function.
const Lease = 160 * time.Second

// minuteRule returns the rate limit for calls.
func (l Limits) minuteRule() limit.Rule {
	return limit.Rule{Name: "ai", Limit: l.CallsPerMinute, Window: time.Minute}
}

// operationRule returns the limit of generations in progress.
func (l Limits) operationRule() limit.OperationRule {
	return limit.OperationRule{Name: "ai", Limit: l.InProgress, Lease: Lease, Full: l.errInProgress()}
}

// errInProgress returns the error for a call of a user who has too many generations in progress.
func (l Limits) errInProgress() *fault.Error {
	return fault.New(fault.CodeRateLimited, "You have reached the limit of answers in progress ("+
		strconv.Itoa(l.InProgress)+"). Wait until an answer has ended, and try again.")
}

// ExampleInProgress returns the error of a user who has too many generations in progress. It is an example for the API
// documentation.
func (l Limits) ExampleInProgress() *fault.Error {
	return limit.Status{Reset: Lease}.WithRetryAfter(l.errInProgress())
}

// ErrCancelled reports that the user cancelled the answer.
var ErrCancelled = errors.New("quota: the answer was cancelled by its user")

// ErrInUse reports that a reservation for the same answer already exists.
var ErrInUse = fault.New(fault.CodeConflict,
	"The answer could not be started because of a conflict. Please send the request again.")

// Reserve begins a generation: it counts a call towards the user's rate limit, counts the generation as in progress
// until it is settled, and reserves r.Tokens of the user's monthly tokens, in one transaction. If there is a limit for
// all users together, the tokens also count towards that limit. If fewer than r.Tokens tokens remain, but at least
// minTokens, it reserves all remaining tokens. The field Tokens of the returned reservation is the number of reserved
// tokens. Before it returns QUOTA_EXCEEDED, Reserve releases the reservations of the user's crashed generations. A
// refused call also counts towards the rate limit. Every returned reservation must be settled with Settle.
// Errors: RATE_LIMITED with Retry-After, QUOTA_EXCEEDED, ErrInUse, the error classes of db.
func (l *Ledger) Reserve(ctx context.Context, r Reservation, minTokens int) (Reservation, error) {
	inProgress := l.counters.Operations(l.limits.operationRule(), r.UserID)
	r.shard = l.limits.anyShard()
	isRefused := false // by a limit other than that of calls, so that the call was not counted
	err := db.Retry(ctx, "reserve tokens", func(ctx context.Context) error {
		minute := l.counters.Write(l.limits.minuteRule(), r.UserID)
		operation, begin := l.counters.Join(inProgress)
		r.operation = operation
		err := l.store.reserve(ctx, r, l.limits, l.now(), minute, begin)
		refused, hasNoTokens := errors.AsType[*refusedError](err)
		switch {
		case !hasNoTokens:
			refusal := l.counters.MakeRoom(ctx, err)
			isRefused = !errors.Is(refusal, err)
			return refusal
		case refused.user == nil && !refused.global:
			return ErrInUse.WithCause(err)
		}
		isRefused = true
		return l.adjust(ctx, &r, minTokens, refused)
	})
	if refusal, ok := errors.AsType[*fault.Error](err); ok && isRefused &&
		(refusal.Code == fault.CodeQuotaExceeded || refusal.Code == fault.CodeRateLimited) {
		err = l.countRefused(ctx, l.counters.Counter(l.limits.minuteRule(), r.UserID), err)
	}
	return r, err
}

// countRefused counts a call that was refused with the given error. The transaction that would have counted the call
// was cancelled. It returns RATE_LIMITED if the user has made too many calls in this minute, otherwise the error.
func (l *Ledger) countRefused(ctx context.Context, minute limit.Counter, refused error) error {
	_, err := l.counters.Count(ctx, minute)
	switch {
	case errors.Is(err, limit.ErrTooMany):
		return err
	case err != nil:
		l.logger.WarnContext(ctx, "a refused call was not counted", "cause", err.Error())
	}
	return refused
}

// Check is a check of a user's limits before a prompt is built. It reads two items, together with other items.
type Check struct {
	ledger *Ledger
	user   Reservation // without tokens
	usage  db.Key
	minute limit.Counter
}

// Check returns the check for a call that the user made at the given time.
func (l *Ledger) Check(userID string, began time.Time) Check {
	user := Reservation{UserID: userID, Began: began}
	return Check{
		ledger: l, user: user, usage: db.UsageKey(userID, user.month().String()),
		minute: l.counters.Counter(l.limits.minuteRule(), userID),
	}
}

// Refs returns the items that Refuse needs.
func (c Check) Refs() []db.Ref {
	return []db.Ref{c.ledger.store.table.Ref(c.usage), c.ledger.store.table.Ref(c.minute.Key())}
}

// Refuse returns an error if Reserve would refuse at least minTokens tokens because of the user's limit of calls or
// tokens. It counts the refused call, and releases the reservations of crashed generations, like Reserve.
// Errors: RATE_LIMITED with Retry-After, QUOTA_EXCEEDED, the error classes of db.
func (c Check) Refuse(ctx context.Context, items map[db.Key]db.Item, minTokens int) error {
	l := c.ledger
	if err := c.minute.Load(items[c.minute.Key()]); err != nil {
		return err
	}
	usage, err := db.Decode[Usage](items[c.usage])
	if err != nil {
		return err
	}
	if c.minute.Remaining() == 0 {
		_, err := l.counters.Count(ctx, c.minute) // makes no call
		return err
	}
	left := l.limits.MonthlyTokens - usage.Taken
	if left >= minTokens {
		return nil
	}
	if released, err := l.releaseCrashed(ctx, c.user); released || err != nil {
		return err
	}
	refused := &refusedError{user: &usage}
	return l.countRefused(ctx, c.minute, l.limits.exceeded(refused, c.user.month(), max(0, left)))
}

// adjust changes a reservation that was refused because too few tokens remained, so that the next try can succeed.
// Errors: db.ErrStale if the caller should try again; QUOTA_EXCEEDED; the error classes of db.
func (l *Ledger) adjust(ctx context.Context, r *Reservation, minTokens int, refused *refusedError) error {
	released, err := l.releaseCrashed(ctx, *r)
	if err != nil {
		return err
	}
	userLeft, globalLeft := math.MaxInt, math.MaxInt
	if refused.user != nil {
		userLeft = max(0, l.limits.MonthlyTokens-refused.user.Taken)
	}
	if refused.global {
		taken, err := l.store.globalUsage(ctx, r.month())
		if err != nil {
			return err
		}
		r.shard, globalLeft = l.limits.findShard(taken, r.Tokens)
	}
	left := min(userLeft, globalLeft)
	switch {
	case released: // try again with the released tokens
	case left >= r.Tokens: // try again with another shard
	case left >= minTokens:
		r.Tokens = left
	default:
		if userLeft >= minTokens { // so the tokens of all users are the reason
			refused.user = nil
			l.logGlobalUsage(ctx, 100)
		}
		return l.limits.exceeded(refused, r.month(), left)
	}
	return db.ErrStale
}

// releaseCrashed releases the tokens that the user's crashed generations have reserved. It reports whether it released
// tokens in the month of r. Concurrent calls release each reservation only once.
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

// exceeded returns the error for a reservation that was refused because too few tokens remained. left is the number of
// remaining tokens.
func (l Limits) exceeded(refused *refusedError, m Month, left int) *fault.Error {
	var message string
	switch user := refused.user; {
	case user == nil:
		message = "All users together have used the assistant's tokens for this month."
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
	return fault.New(fault.CodeQuotaExceeded, message).WithCause(&shortageError{left: left})
}

// ExampleExceeded returns the QUOTA_EXCEEDED error of a user who has used all tokens of the month that contains at. It
// is an example for the API documentation.
func (l Limits) ExampleExceeded(at time.Time) *fault.Error {
	usedUp := &refusedError{user: &Usage{Taken: l.MonthlyTokens, Input: l.MonthlyTokens}}
	return l.exceeded(usedUp, MonthOf(at), 0)
}

// shortageError is the cause of QUOTA_EXCEEDED. It reports how many tokens remain.
type shortageError struct {
	left int
}

func (e *shortageError) Error() string {
	return fmt.Sprintf("quota: %d tokens left", e.left)
}

// Settle ends a reservation and its generation in progress, and also executes the given writes in the same transaction,
// even if ctx has ended. If the reservation was settled before, Settle writes nothing and returns nil. A reservation
// that was released because its generation was considered crashed can still be settled.
// Errors: the errors of the given writes; ErrCancelled; the error classes of db, after which Settle may be called
// again.
func (l *Ledger) Settle(ctx context.Context, s Settlement, more ...db.Write) error {
	ctx, cancel := async.Detach(ctx, settleTime) // the tokens were used, even if the client has disconnected
	defer cancel()
	end := settlementWrite{Settlement: s, at: l.now()}
	return db.Retry(ctx, "settle tokens", func(ctx context.Context) error {
		before, err := l.store.settle(ctx, end, more)
		switch {
		case before == nil:
			return err
		case s.UnlessCancelled && before.End == "" && before.Cancelled:
			return ErrCancelled
		case before.End == endReleased && !end.released:
			end.released = true
			return db.ErrStale
		}
		return nil // the reservation was settled before, or its record has expired
	})
}

// Cancel requests the cancellation of a user's answer. An answer that has already ended is not changed.
// Error: db.ErrNotFound if the user has no such answer, or if it ended more than 24 hours ago.
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

// Usage returns the usage of a user in a month.
func (l *Ledger) Usage(ctx context.Context, userID string, m Month) (Usage, error) {
	return l.store.usage(ctx, userID, m)
}
