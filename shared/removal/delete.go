package removal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/retry"
)

const (
	// minBatch and maxBatch limit the number of items that are deleted at the same time: one call of 25 items while
	// storage throttles, and up to eight concurrent calls otherwise. An interrupted removal repeats at most one batch.
	minBatch = 25
	maxBatch = 8 * minBatch
	// maxAttempts is the maximum number of attempts to delete a batch.
	maxAttempts = 20
)

// Deleter deletes many items, and slows down while storage throttles: a partition accepts 1 MB of deletions per second.
type Deleter struct {
	// Sleep waits, and returns false if the context ends first. nil means retry.Sleep. Tests replace it.
	Sleep func(context.Context, time.Duration) bool
}

// Delete deletes items. They need not exist. A failure halves the size of the batches, and a success increases it.
// db.Retry cannot be used here, because it is for conflicts. The calls themselves are not retried, so that the attempts
// do not multiply. Errors: db.ErrUnavailable; the error of the context.
func (d Deleter) Delete(ctx context.Context, table db.Table, keys ...db.Key) error {
	sleep := d.Sleep
	if sleep == nil {
		sleep = retry.Sleep
	}
	size, attempt := maxBatch, 0
	for len(keys) > 0 {
		batch := keys[:min(size, len(keys))]
		err := table.DeleteAll(retry.WithBudget(ctx, 0, 0), batch...)
		if err == nil {
			keys, attempt = keys[len(batch):], 0
			size = min(maxBatch, size+minBatch)
			continue
		}
		attempt++
		isRetryable := errors.Is(err, db.ErrUnavailable) && attempt < maxAttempts
		if !isRetryable || !sleep(ctx, retry.Jitter(attempt)) {
			return fmt.Errorf("deleting items: %w", err)
		}
		size = max(minBatch, size/2)
	}
	return nil
}

// DeleteAll deletes all items under a prefix except those that keep selects, and returns their number. keep may be nil.
// It leaves expired items to DynamoDB, which deletes them at no cost. Errors: as Delete.
func (d Deleter) DeleteAll(
	ctx context.Context, table db.Table, prefix db.Prefix, keep func(db.Key) bool,
) (n int, err error) {
	for page, err := range table.Pages(ctx, db.Query{Prefix: prefix, KeysOnly: true}) {
		if err != nil {
			return n, err
		}
		var keys []db.Key
		for _, item := range page.Items {
			if key := db.KeyOf(item); keep == nil || !keep(key) {
				keys = append(keys, key)
			}
		}
		if err := d.Delete(ctx, table, keys...); err != nil {
			return n, err
		}
		n += len(keys)
	}
	return n, nil
}
