package quota

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/db"
)

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
// even if ctx has ended. If the reservation was settled before, Settle writes nothing and returns nil. A reservation
// that was released because its generation was considered crashed can still be settled.
// Errors: the errors of the given writes; ErrCancelled; the error classes of db, after which Settle may be called
// again.
func (l *Ledger) Settle(ctx context.Context, s Settlement, more ...db.Write) error {
	ctx, cancel := async.Detach(ctx, settleTime) // the tokens were used, even if the client has disconnected
	defer cancel()
	at, released := l.now(), false
	return db.Retry(ctx, "settle tokens", func(ctx context.Context) error {
		var before generation
		tx := l.client.Tx(more...)
		tx.Add(l.settlementWrites(s, at, released, &before)...)
		err := tx.CommitOnce(ctx)
		switch {
		case !errors.Is(err, errEnded):
			return err
		case s.UnlessCancelled && before.End == "" && before.Cancelled:
			return ErrCancelled
		case before.End == endReleased && !released:
			released = true
			return db.ErrStale
		}
		return nil // the reservation was settled before, or its record has expired
	})
}

// Cancel requests the cancellation of a user's answer. An answer that has already ended is not changed.
// Error: db.ErrNotFound if the user has no such answer, or if it ended more than 24 hours ago.
func (l *Ledger) Cancel(ctx context.Context, userID, messageID string) error {
	_, err := l.client.Do(ctx, l.setCancelled(userID, messageID))
	if errors.Is(err, db.ErrInvalidKey) {
		return db.ErrNotFound
	}
	return err
}

// IsCancelled reports whether the user has cancelled the answer of a reservation.
func (l *Ledger) IsCancelled(ctx context.Context, r Reservation) (bool, error) {
	g, err := readOptional[generation](ctx, l.table, db.GenerationKey(r.UserID, r.MessageID))
	return g.Cancelled, err
}

// Usage returns the usage of a user in a month.
func (l *Ledger) Usage(ctx context.Context, userID string, m Month) (Usage, error) {
	return readOptional[Usage](ctx, l.table, db.UsageKey(userID, m.String()))
}

// readOptional reads a record. If there is none, it returns the zero record.
func readOptional[T any](ctx context.Context, table db.Table, key db.Key) (record T, err error) {
	item, err := table.Get(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		return record, nil
	}
	if err != nil {
		return record, err
	}
	return db.Decode[T](item)
}
