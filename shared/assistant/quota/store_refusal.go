package quota

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/limit"
)

// LimitsOf returns references to the items that Refuse needs.
func (l *Ledger) LimitsOf(userID string) []db.Ref {
	minute := l.counters.Counter(l.limits.minuteRule(), userID)
	return []db.Ref{l.table.Ref(db.UsageKey(userID, MonthOf(l.now()).String())), l.table.Ref(minute.Key())}
}

// Refuse returns an error if Reserve would refuse a call that needs at least minTokens tokens, because of the user's
// limit of calls or tokens. It is called before a prompt is built, so that such a call costs little. items has the
// items to which LimitsOf refers. Like Reserve, Refuse counts the refused call, and releases the reservations of
// crashed generations. Errors: RATE_LIMITED with Retry-After, QUOTA_EXCEEDED, the error classes of db.
func (l *Ledger) Refuse(ctx context.Context, userID string, minTokens int, items map[db.Key]db.Item) error {
	minute, month := l.counters.Counter(l.limits.minuteRule(), userID), MonthOf(l.now())
	if err := minute.Load(items[minute.Key()]); err != nil {
		return err
	}
	if minute.Remaining() == 0 {
		_, err := l.counters.Count(ctx, minute) // RATE_LIMITED, without a call to storage
		return err
	}
	usage, err := db.Decode[Usage](items[db.UsageKey(userID, month.String())])
	left := l.limits.MonthlyTokens - usage.Taken
	if err != nil || left >= minTokens {
		return err
	}
	if hasReleased, err := l.releaseCrashed(ctx, userID, month); hasReleased || err != nil {
		return err
	}
	return l.countRefused(ctx, minute, l.limits.errExceeded(shortage{user: &usage}, month, max(0, left)))
}

// shortage describes a reservation for which too few tokens remain: of the user, of all users together in the shard of
// the reservation, or of both.
type shortage struct {
	user   *Usage // of the user if too few of the user's tokens remain, otherwise nil
	global bool
}

// adjust changes a reservation that was refused because too few tokens remained, so that the next try can succeed.
// Errors: db.ErrStale if the caller should try again; QUOTA_EXCEEDED; the error classes of db.
func (l *Ledger) adjust(ctx context.Context, r *Reservation, minTokens int, short shortage) error {
	hasReleased, err := l.releaseCrashed(ctx, r.UserID, r.month())
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
	case hasReleased, left >= r.Tokens: // try again with the released tokens, or with another shard
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

// maxGenerations is the maximum number of generations, oldest first, that a search for crashed generations reads. It
// finds later generations when earlier ones have expired. maxCrashed is the maximum number of reservations that a
// search releases. The next refused call releases others.
const (
	maxGenerations = 1000
	maxCrashed     = 25
)

// releaseCrashed releases the tokens that the user's crashed generations have reserved. It reports whether it released
// tokens in the given month. Concurrent calls release each reservation only once.
func (l *Ledger) releaseCrashed(ctx context.Context, userID string, month Month) (hasReleased bool, err error) {
	now := l.now()
	q := db.Query{Prefix: db.GenerationsOf(userID), Limit: maxGenerations, Once: true}
	all, _, err := db.List(ctx, l.table, q, db.DecodeByID(func(g generation) string { return g.ID }))
	if err != nil {
		return false, err
	}
	crashed := slices.DeleteFunc(all, func(g generation) bool {
		return g.End != "" || !g.StartedAt.Time().Before(now.Add(-crashedAfter))
	})
	hasNotEnded := expression.AttributeNotExists(expression.Name(attrEnd))
	for _, g := range crashed[:min(len(crashed), maxCrashed)] {
		giveBack := expression.Add(expression.Name(attrTaken), expression.Value(-g.Tokens))
		tx := l.client.Tx(l.setEnd(userID, g.ID, endReleased, now).If(hasNotEnded).Else(errEnded),
			l.table.Update(db.UsageKey(userID, g.Month), giveBack))
		if g.Shard > 0 {
			tx.Add(l.table.Update(db.GlobalUsageKey(g.Month, g.Shard), giveBack))
		}
		err := tx.Commit(ctx)
		if errors.Is(err, db.ErrRejected) { // a damaged record must not prevent all calls of the user
			l.logger.ErrorContext(ctx, "a reservation cannot be released", "message", g.ID, "cause", err.Error())
			continue
		}
		if err != nil && !errors.Is(err, errEnded) {
			return hasReleased, err
		}
		hasReleased = hasReleased || g.Month == month.String()
	}
	return hasReleased, nil
}
