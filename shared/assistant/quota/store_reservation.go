package quota

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/workspace"
)

// Reserve begins a generation: it counts a call towards the user's rate limit, counts the generation as in progress
// until it is settled, and reserves r.Tokens of the user's monthly tokens, in one transaction. If there is a limit for
// all users together, the tokens also count towards that limit. If fewer than r.Tokens tokens remain, but at least
// minTokens, it reserves all remaining tokens. The field Tokens of the returned reservation is the number of reserved
// tokens. Before it returns QUOTA_EXCEEDED, Reserve releases the reservations of the user's crashed generations. A
// refused call also counts towards the rate limit. Every returned reservation must be settled with Settle.
// Errors: RATE_LIMITED with Retry-After, QUOTA_EXCEEDED, ErrInUse, the error classes of db.
func (l *Ledger) Reserve(ctx context.Context, r Reservation, minTokens int) (Reservation, error) {
	minute, inProgress := l.limits.minuteRule(), l.counters.Operations(l.limits.operationRule(), r.UserID)
	month := r.month().String()
	r.shard = l.limits.anyShard()
	mustCount := false // whether another limit than the limit of calls refused the call, so that it was not counted
	err := db.Retry(ctx, "reserve tokens", func(ctx context.Context) error {
		record, err := db.Encode(generation{
			ID: r.MessageID, Tokens: r.Tokens, Month: month, Shard: r.shard, StartedAt: clock.Stamp(l.now()),
		})
		if err != nil {
			return err
		}
		record[db.AttrExpiresAt] = db.ExpiresAt(r.month().End().Add(keptAfterEnd).Unix())
		var join db.Write
		r.operation, join = l.counters.Join(inProgress)
		var short shortage
		tx := l.client.Tx(l.counters.Write(minute, r.UserID), join,
			l.table.Create(db.GenerationKey(r.UserID, r.MessageID), record).Else(ErrInUse),
			l.reserveWrite(db.UsageKey(r.UserID, month), r.Tokens, l.limits.MonthlyTokens).
				ElseFunc(func(stored db.Item) error {
					usage, err := db.Decode[Usage](stored)
					short.user = &usage
					return err // without an error, CommitOnce returns db.ErrStale
				}))
		if r.shard > 0 {
			write := l.reserveWrite(db.GlobalUsageKey(month, r.shard), r.Tokens, l.limits.shardLimit(r.shard))
			tx.Add(write.ElseFunc(func(db.Item) error { short.global = true; return nil }))
		}
		err = tx.CommitOnce(ctx)
		if errors.Is(err, db.ErrStale) && short != (shortage{}) {
			mustCount = true
			return l.adjust(ctx, &r, minTokens, short)
		}
		refusal := l.counters.RetryIfExpired(ctx, err)
		mustCount = !errors.Is(refusal, err)
		return refusal
	})
	if refusal, ok := errors.AsType[*fault.Error](err); ok && mustCount &&
		(refusal.Code == fault.CodeQuotaExceeded || refusal.Code == fault.CodeRateLimited) {
		err = l.countRefused(ctx, l.counters.Counter(minute, r.UserID), err)
	}
	return r, err
}

// ErrCancelled reports that the user cancelled the answer.
var ErrCancelled = errors.New("quota: the answer was cancelled by its user")

// errEnded reports that a generation has ended or was cancelled.
var errEnded = errors.New("quota: the generation has ended")

const (
	// settleTime is the time limit for settling a reservation. A reservation that was not settled is released later (see
	// crashedAfter).
	settleTime = 10 * time.Second
	// keptAfterEnd is how long the record of a generation is kept after the generation has ended.
	keptAfterEnd = 24 * time.Hour
)

// Settle ends a reservation and its generation in progress, and also executes the given writes in the same transaction,
// even if ctx has ended. If the reservation was settled before, or its record has expired, Settle writes nothing and
// returns nil. A reservation that was released because its generation was considered crashed can still be settled.
// Errors: the errors of the given writes; ErrCancelled; the error classes of db, after which Settle may be called
// again.
func (l *Ledger) Settle(ctx context.Context, s Settlement, more ...db.Write) error {
	ctx, cancel := async.Detach(ctx, settleTime) // the tokens were used, even if the client has disconnected
	defer cancel()
	at, month, reserved, wasReleased := l.now(), s.month().String(), s.Tokens, false
	end := expression.Name(attrEnd)
	condition := expression.AttributeNotExists(end)
	if s.UnlessCancelled {
		condition = condition.And(expression.AttributeNotExists(expression.Name(attrCancelled)))
	}
	return db.Retry(ctx, "settle tokens", func(ctx context.Context) error {
		var before generation // zero if the record has expired
		tx := l.client.Tx(more...)
		tx.Add(l.setEnd(s.UserID, s.MessageID, endSettled, at).If(condition).ElseFunc(func(stored db.Item) (err error) {
			if before, err = db.Decode[generation](stored); err != nil {
				return err
			}
			return errEnded
		}))
		count := expression.Add(expression.Name(attrTaken), expression.Value(s.Used.Input+s.Used.Output-reserved)).
			Add(expression.Name(attrInput), expression.Value(s.Used.Input)).
			Add(expression.Name(attrOutput), expression.Value(s.Used.Output))
		tx.Add(l.table.Update(db.UsageKey(s.UserID, month), count))
		if s.shard > 0 {
			tx.Add(l.table.Update(db.GlobalUsageKey(month, s.shard), count))
		}
		tx.Add(s.operation.EndWrites()...)
		err := tx.CommitOnce(ctx)
		switch {
		case !errors.Is(err, errEnded):
			return err
		case s.UnlessCancelled && before.End == "" && before.Cancelled:
			return ErrCancelled
		case before.End == endReleased && !wasReleased: // try again without the released tokens
			condition, reserved, wasReleased = end.Equal(expression.Value(endReleased)), 0, true
			return db.ErrStale
		}
		return nil // the reservation was settled before, or its record has expired
	})
}

// Cancel requests the cancellation of a user's answer. An answer that has already ended is not changed.
// Error: db.ErrNotFound if the user has no such answer, or if it ended more than 24 hours ago.
func (l *Ledger) Cancel(ctx context.Context, userID, messageID string) error {
	update := expression.Set(expression.Name(attrCancelled), expression.Value(true))
	_, err := l.client.Do(ctx, l.table.Update(db.GenerationKey(userID, messageID), update).If(l.table.Exists()).
		Else(db.ErrNotFound))
	if errors.Is(err, db.ErrInvalidKey) {
		return db.ErrNotFound
	}
	return err
}

// IsCancelled reports whether the user has cancelled the answer of a reservation, or the account of the user was
// suspended. It makes one call to storage.
func (l *Ledger) IsCancelled(ctx context.Context, r Reservation) (bool, error) {
	key, memberships := db.GenerationKey(r.UserID, r.MessageID), db.MembershipCountKey(r.UserID)
	items, err := l.table.BatchGetWith(ctx, []db.Ref{l.projects.Ref(memberships)}, key)
	if err != nil {
		return false, err
	}
	g, err := db.Decode[generation](items[key])
	return g.Cancelled || workspace.IsSuspended(items[memberships]), err
}
