package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// dueIndex is the index of the pending deliveries. The partitions DUE#<shard> contain the deliveries of the fast lane
// and the webhooks with deliveries in the slow lane, ordered by the time at which the retry job sends a message. The
// partitions SLOW#<webhook> contain the deliveries that wait in the slow lane, ordered by the time of the next attempt.
var dueIndex = db.Index{Name: "due", PK: attrDue, SK: attrDueAt}

// dueEntry is an entry of dueIndex: a delivery or a webhook.
type dueEntry struct {
	key   db.Key
	dueAt string // as stored
	at    time.Time
	wakes int
}

// due reads a page of a partition of dueIndex, the most overdue entry first. It returns the position of the next page.
// The index is eventually consistent: an entry may be missing, or may no longer be due. If the time of an entry is not
// valid, the entry is due now.
func (s Store) due(ctx context.Context, q db.IndexQuery, now time.Time) ([]dueEntry, db.IndexKey, error) {
	q.Index = dueIndex
	page, err := s.Table.QueryIndex(ctx, q)
	if err != nil {
		return nil, page.Next, err
	}
	entries := make([]dueEntry, 0, len(page.Items))
	for _, item := range page.Items {
		stored, _ := db.Decode[struct {
			DueAt string `dynamodbav:"dueAt"`
			Wakes int    `dynamodbav:"wakes"`
		}](item)
		at, err := clock.ParseTimestamp(stored.DueAt)
		if err != nil {
			at = clock.Stamp(now)
		}
		entries = append(entries, dueEntry{db.KeyOf(item), stored.DueAt, at.Time(), stored.Wakes})
	}
	return entries, page.Next, nil
}

// isWebhook reports whether the entry is a webhook.
func (e dueEntry) isWebhook() bool { return strings.HasPrefix(e.key.SK, "WEBHOOK#") }

// wake sets the time at which a delivery or a webhook is due, on the condition that the stored time is still the one in
// the entry. It also counts the wake, and returns the item. The version of a delivery does not change, so that the
// write of a worker that has read the delivery does not become stale. Error: db.ErrStale.
func (s Store) wake(ctx context.Context, e dueEntry, next time.Time) (db.Item, error) {
	wakeID := rand.Text()
	update := expression.Set(expression.Name(attrDueAt), expression.Value(clock.Stamp(next).String())).
		Set(expression.Name(attrWokenBy), expression.Value(wakeID)).
		Add(expression.Name(attrWakes), expression.Value(1))
	write := s.Table.Update(e.key, update).If(s.Table.Exists()).
		If(expression.Name(attrDueAt).Equal(expression.Value(e.dueAt))).Recognize(hasText(attrWokenBy, wakeID))
	item, err := s.Client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return nil, db.ErrStale
	}
	return item, err
}
