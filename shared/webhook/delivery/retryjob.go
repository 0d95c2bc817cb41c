package delivery

import (
	"context"
	"errors"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
)

// RetryJob sends the messages of deliveries and webhooks that are due: deliveries that wait longer than the queue may
// delay a message, deliveries whose message was lost or whose function was killed during an attempt, and endpoints
// whose next turn is due. It runs once a minute, and sends the messages of everything that becomes due before the next
// run. Each message is delayed until its delivery or webhook is due.
//
// Before the job sends a message, it wakes the delivery or webhook: it stores a later time in the index, on the
// condition that the time was not changed after the job read it. So two concurrent runs send one message. If the
// message is not sent, or is lost, the item is due again after two minutes. The wait doubles with each further message,
// up to an hour, so that the job does not flood a queue that is slow.
type RetryJob struct{ Deps }

// NewRetryJob returns a retry job. It does no I/O.
func NewRetryJob(d Deps) *RetryJob { return &RetryJob{d} }

const (
	// lookAhead is how far a run looks ahead: until the next run.
	lookAhead = time.Minute
	// duePage is the number of entries in a page of a shard. dueWrites is the number of concurrent writes of a page.
	duePage   = 100
	dueWrites = 4
	// runReserve is the time before its deadline at which a run stops reading pages.
	runReserve = 5 * time.Second
	// maxWakeWait is the longest time between two messages for a delivery or a webhook.
	maxWakeWait = time.Hour
)

// Run sends the messages of all deliveries and webhooks that become due before the next run. If it runs out of time,
// the next run continues. It returns the errors of the pages that could not be read or sent.
func (j *RetryJob) Run(ctx context.Context) error {
	start, cancel := async.WithMargin(ctx, runReserve) // calls use ctx, so they have the margin
	defer cancel()
	var counts tally
	counts.add(metricDue, 0)
	counts.highest(metricOldest, metric.Seconds, 0)
	errs := lambdafn.Parallel(db.DueShards, db.DueShards, func(shard int) error {
		return j.sendShard(ctx, start, shard, &counts)
	})
	j.Metrics.Put(ctx, counts.all()...)
	return errors.Join(errs...)
}

// sendShard sends the messages of one shard of the index, page by page, until start ends. It continues after a page
// that cannot be sent.
func (j *RetryJob) sendShard(ctx, start context.Context, shard int, counts *tally) error {
	var after db.IndexKey
	var errs []error
	for start.Err() == nil {
		now := j.Clock()
		page, next, err := j.Store.due(ctx, db.IndexQuery{
			Partition: db.DuePartition(shard), Upto: clock.Stamp(now.Add(lookAhead)).String(), After: after, Limit: duePage,
		}, now)
		if err != nil {
			errs = append(errs, err)
			break
		}
		errs = append(errs, j.sendPage(ctx, page, now, counts))
		if next.IsZero() {
			break
		}
		after = next
	}
	return errors.Join(errs...)
}

// sendPage wakes the items of a page and sends their messages.
func (j *RetryJob) sendPage(ctx context.Context, page []dueEntry, now time.Time, counts *tally) error {
	messages := make([]*queue.Message, len(page))
	errs := lambdafn.Parallel(len(page), dueWrites, func(i int) (err error) {
		counts.highest(metricOldest, metric.Seconds, now.Sub(page[i].at).Seconds())
		messages[i], err = j.wake(ctx, page[i], now, counts)
		return err
	})
	var fast, slow []queue.Message
	for i, m := range messages {
		switch {
		case m == nil:
		case page[i].isWebhook():
			slow = append(slow, *m)
		default:
			fast = append(fast, *m)
		}
	}
	return errors.Join(append(errs, j.Fast.Send(ctx, fast...), j.Slow.Send(ctx, slow...))...)
}

// wake moves a delivery or a webhook to a later time in the index. It returns the message to send, or nil if another
// writer changed the item, or the item cannot be decoded.
func (j *RetryJob) wake(ctx context.Context, e dueEntry, now time.Time, counts *tally) (*queue.Message, error) {
	from := now
	if e.at.After(from) {
		from = e.at
	}
	item, err := j.Store.wake(ctx, e, from.Add(wakeWait(e.wakes)))
	if errors.Is(err, db.ErrStale) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m message
	if e.isWebhook() {
		w, decodeErr := DecodeWebhook(item)
		m, err = w.turnMessage(), decodeErr
	} else {
		d, decodeErr := decodeDelivery(item)
		m, err = d.message(), decodeErr
		if err == nil {
			counts.count(metricDue)
		}
		if err == nil && d.NextAttemptAt != nil {
			counts.highest(metricOldest, metric.Seconds, now.Sub(d.NextAttemptAt.Time()).Seconds())
		}
	}
	if err != nil {
		j.Logger.ErrorContext(ctx, "item of the index cannot be decoded", "key", e.key.SK, "cause", err.Error())
		return nil, nil
	}
	queued := m.queueMessage(max(0, e.at.Sub(now)))
	return &queued, nil
}

// wakeWait returns the time until the next wake. wakes is the number of wakes since the latest change of the delivery,
// or since the latest turn.
func wakeWait(wakes int) time.Duration {
	const maxDoublings = 5 // more than an hour
	return min(messageTimeout<<min(max(wakes, 0), maxDoublings), maxWakeWait)
}
