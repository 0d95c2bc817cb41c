package quota

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/limit"
)

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
	mustCount := false // whether a limit other than the limit of calls refused the call, so that it was not counted
	err := db.Retry(ctx, "reserve tokens", func(ctx context.Context) error {
		operation, joinWrite := l.counters.Join(inProgress)
		r.operation = operation
		short, err := l.commitReservation(ctx, r, joinWrite)
		if short != nil {
			mustCount = true
			return l.adjust(ctx, &r, minTokens, *short)
		}
		refusal := l.counters.RetryIfExpired(ctx, err)
		mustCount = !errors.Is(refusal, err)
		return refusal
	})
	if refusal, ok := errors.AsType[*fault.Error](err); ok && mustCount &&
		(refusal.Code == fault.CodeQuotaExceeded || refusal.Code == fault.CodeRateLimited) {
		err = l.countRefused(ctx, l.counters.Counter(l.limits.minuteRule(), r.UserID), err)
	}
	return r, err
}

// commitReservation counts the call, and stores the reservation and the generation in progress. joinWrite adds the
// generation to the operations in progress. If too few tokens remain, commitReservation stores nothing and returns the
// shortage. Errors: the errors of limit.Counters, ErrInUse, the error classes of db.
func (l *Ledger) commitReservation(ctx context.Context, r Reservation, joinWrite db.Write) (*shortage, error) {
	month := r.month()
	record, err := db.Encode(generation{
		ID: r.MessageID, Tokens: r.Tokens, Month: month.String(), Shard: r.shard, StartedAt: clock.Stamp(l.now()),
	})
	if err != nil {
		return nil, err
	}
	record[db.AttrExpiresAt] = db.ExpiresAt(month.End().Add(keptAfterEnd).Unix())
	var short shortage
	tx := l.client.Tx(l.counters.Write(l.limits.minuteRule(), r.UserID), joinWrite,
		l.table.Create(db.GenerationKey(r.UserID, r.MessageID), record).Else(ErrInUse),
		l.reserveWrite(db.UsageKey(r.UserID, month.String()), r.Tokens, l.limits.MonthlyTokens).
			ElseFunc(func(stored db.Item) error {
				usage, err := db.Decode[Usage](stored)
				short.user = &usage
				return err
			}))
	if r.shard > 0 {
		key := db.GlobalUsageKey(month.String(), r.shard)
		tx.Add(l.reserveWrite(key, r.Tokens, l.limits.shardLimit(r.shard)).ElseFunc(func(db.Item) error {
			short.global = true
			return nil
		}))
	}
	if err = tx.CommitOnce(ctx); errors.Is(err, db.ErrStale) && short != (shortage{}) {
		return &short, nil
	}
	return nil, err
}

// adjust changes a reservation that was refused because too few tokens remained, so that the next try can succeed.
// Errors: db.ErrStale if the caller should try again; QUOTA_EXCEEDED; the error classes of db.
func (l *Ledger) adjust(ctx context.Context, r *Reservation, minTokens int, short shortage) error {
	hasReleased, err := l.releaseCrashed(ctx, *r)
	if err != nil {
		return err
	}
	userLeft, globalLeft := math.MaxInt, math.MaxInt
	if short.user != nil {
		userLeft = max(0, l.limits.MonthlyTokens-short.user.Taken)
	}
	if short.global {
		taken, err := l.globalUsage(ctx, r.month())
		if err != nil {
			return err
		}
		r.shard, globalLeft = l.limits.findShard(taken, r.Tokens)
	}
	left := min(userLeft, globalLeft)
	switch {
	case hasReleased: // try again with the released tokens
	case left >= r.Tokens: // try again with another shard
	case left >= minTokens:
		r.Tokens = left
	default:
		if userLeft >= minTokens { // so the tokens of all users are the reason
			short.user = nil
			l.logGlobalUsage(ctx, 100)
		}
		return l.limits.errExceeded(short, r.month(), left)
	}
	return db.ErrStale
}

// countRefused counts a call that was refused with the error refusal. The transaction that would have counted the call
// was cancelled. It returns RATE_LIMITED if the user has made too many calls in this minute, otherwise refusal.
func (l *Ledger) countRefused(ctx context.Context, minute limit.Counter, refusal error) error {
	_, err := l.counters.Count(ctx, minute)
	switch {
	case errors.Is(err, limit.ErrTooMany):
		return err
	case err != nil:
		l.logger.WarnContext(ctx, "a refused call was not counted", "cause", err.Error())
	}
	return refusal
}

// crashedAfter is the age after which a generation that has not ended is considered crashed. It is longer than the time
// limit of the function.
const crashedAfter = 10 * time.Minute

// maxGenerations is the maximum number of generations, oldest first, that a search for crashed ones reads. Later ones
// are found when earlier ones have expired. maxCrashed is the maximum number that a search releases. The next refused
// call releases others.
const (
	maxGenerations = 1000
	maxCrashed     = 25
)

// releaseCrashed releases the tokens that the user's crashed generations have reserved. It reports whether it released
// tokens in the month of r. Concurrent calls release each reservation only once.
func (l *Ledger) releaseCrashed(ctx context.Context, r Reservation) (hasReleased bool, err error) {
	now := l.now()
	page, err := l.table.Query(ctx, db.Query{Prefix: db.GenerationsOf(r.UserID), Limit: maxGenerations, Once: true})
	if err != nil {
		return false, err
	}
	all := db.DecodeAll(ctx, page.Items, db.DecodeByID(func(g generation) string { return g.ID }))
	crashed := slices.DeleteFunc(all, func(g generation) bool {
		return g.End != "" || !g.StartedAt.Time().Before(now.Add(-crashedAfter))
	})
	for _, g := range crashed[:min(len(crashed), maxCrashed)] {
		err := l.release(r.UserID, g, now).Commit(ctx)
		if errors.Is(err, db.ErrRejected) { // a damaged record must not prevent all calls of the user
			l.logger.ErrorContext(ctx, "a reservation cannot be released", "message", g.ID, "cause", err.Error())
			continue
		}
		if err != nil && !errors.Is(err, errEnded) {
			return hasReleased, err
		}
		hasReleased = hasReleased || g.Month == r.month().String()
	}
	return hasReleased, nil
}

// EarlyCheck checks a user's limits before a prompt is built, so that a call that Reserve would refuse costs little.
type EarlyCheck struct {
	// Refs are the items that Refuse needs.
	Refs []db.Ref

	ledger    *Ledger
	user      Reservation // without tokens
	minTokens int
	usageKey  db.Key
	minute    limit.Counter
}

// NewEarlyCheck returns the check for a call at the time began that needs at least minTokens tokens.
func (l *Ledger) NewEarlyCheck(userID string, began time.Time, minTokens int) EarlyCheck {
	user := Reservation{UserID: userID, Began: began}
	usageKey, minute := db.UsageKey(userID, user.month().String()), l.counters.Counter(l.limits.minuteRule(), userID)
	return EarlyCheck{
		Refs:   []db.Ref{l.table.Ref(usageKey), l.table.Ref(minute.Key())},
		ledger: l, user: user, minTokens: minTokens, usageKey: usageKey, minute: minute,
	}
}

// Refuse returns an error if Reserve would refuse the call because of the user's limit of calls or tokens. It counts
// the refused call, and releases the reservations of crashed generations, like Reserve. Errors: RATE_LIMITED with
// Retry-After, QUOTA_EXCEEDED, the error classes of db.
func (c EarlyCheck) Refuse(ctx context.Context, items map[db.Key]db.Item) error {
	l := c.ledger
	if err := c.minute.Load(items[c.minute.Key()]); err != nil {
		return err
	}
	usage, err := db.Decode[Usage](items[c.usageKey])
	if err != nil {
		return err
	}
	if c.minute.Remaining() == 0 {
		_, err := l.counters.Count(ctx, c.minute) // makes no call
		return err
	}
	left := l.limits.MonthlyTokens - usage.Taken
	if left >= c.minTokens {
		return nil
	}
	if hasReleased, err := l.releaseCrashed(ctx, c.user); hasReleased || err != nil {
		return err
	}
	return l.countRefused(ctx, c.minute, l.limits.errExceeded(shortage{user: &usage}, c.user.month(), max(0, left)))
}
