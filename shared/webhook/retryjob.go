package webhook

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
)

// RetryJobDeps are what the retry job is built on.
type RetryJobDeps struct {
	DB         *db.Client
	Webhooks   db.Table
	Deliveries queue.Queue
	Clock      clock.Clock
	Logger     *slog.Logger
	Metrics    *metric.Metrics
}

// RetryJob brings deliveries back whose time has come: those that wait longer than a message can be hidden for, those whose message
// was lost, and those whose function died. It runs once a minute, and sends what is due until the next run, each message so
// delayed that it comes on time.
//
// What it sends gets a later place in the index first, on the condition that it still has the one that was seen. So two
// runs at once send a delivery once, and one whose message is not sent, or is lost once more, is due again: after two minutes, and
// with each wake that led to nothing after twice the time, up to an hour, so that a queue that lags behind is not flooded.
type RetryJob struct {
	store      store
	deliveries queue.Queue
	now        clock.Clock
	logger     *slog.Logger
	metrics    *metric.Metrics
}

// NewRetryJob builds the retry job. It does no input or output.
func NewRetryJob(d RetryJobDeps) *RetryJob {
	return &RetryJob{
		store: store{client: d.DB, webhooks: d.Webhooks}, deliveries: d.Deliveries, now: d.Clock, logger: d.Logger, metrics: d.Metrics,
	}
}

const (
	// ahead is how far a run looks ahead: up to the next.
	ahead = time.Minute
	// duePage is how many deliveries of a shard are worked on together, dueWrites how many of them at once.
	duePage   = 100
	dueWrites = 4
	// runReserve is what a run leaves of the function's time: no page is begun later.
	runReserve = 5 * time.Second
	// longestWake is the longest time between two wakes of a delivery.
	longestWake = time.Hour
)

// Run sends what is due until the next run. What it does not come to is the next one's. Error: a part could not be read or sent.
func (j *RetryJob) Run(ctx context.Context) error {
	begin, cancel := endingBefore(ctx, runReserve)
	defer cancel()
	var told tally
	told.add(metricDue, metric.Count, 0)
	told.highest(metricOldest, metric.Seconds, 0)
	errs := lambdafn.Parallel(db.DueShards, db.DueShards, func(shard int) error { return j.shard(ctx, begin, shard, &told) })
	j.metrics.Put(ctx, told.all()...)
	return errors.Join(errs...)
}

// shard sends what is due of one part of the index, page by page, until the time to begin is over. What can't be sent does not
// hold up what can.
func (j *RetryJob) shard(ctx, begin context.Context, shard int, told *tally) error {
	var after db.IndexKey
	var failed []error
	for begin.Err() == nil {
		now := j.now()
		page, next, err := j.store.dueUpto(ctx, shard, now.Add(ahead), after, duePage)
		if err != nil {
			failed = append(failed, err)
			break
		}
		failed = append(failed, j.page(ctx, page, now, told))
		if next.IsZero() {
			break
		}
		after = next
	}
	return errors.Join(failed...)
}

// page wakes and sends some deliveries.
func (j *RetryJob) page(ctx context.Context, page []due, now time.Time, told *tally) error {
	messages := make([]*queue.Message, len(page))
	errs := lambdafn.Parallel(len(page), dueWrites, func(i int) (err error) {
		told.highest(metricOldest, metric.Seconds, now.Sub(page[i].at).Seconds())
		messages[i], err = j.wake(ctx, page[i], now, told)
		return err
	})
	ready := make([]queue.Message, 0, len(page))
	for _, m := range messages {
		if m != nil {
			ready = append(ready, *m)
		}
	}
	if len(ready) > 0 {
		errs = append(errs, j.deliveries.Send(ctx, ready...))
	}
	return errors.Join(errs...)
}

// wake gives a delivery its next place in the index and answers with the message to be sent; nil, if another has it or it can't be
// read.
func (j *RetryJob) wake(ctx context.Context, seen due, now time.Time, told *tally) (*queue.Message, error) {
	from := now
	if seen.at.After(from) {
		from = seen.at
	}
	d, err := j.store.wake(ctx, seen, from.Add(wakePause(seen.wakes)))
	switch {
	case errors.Is(err, errMoved):
		return nil, nil
	case errors.Is(err, errUnreadable):
		j.logger.ErrorContext(ctx, "a delivery can't be read", "key", seen.key.SK, "cause", err.Error())
		return nil, nil
	case err != nil:
		return nil, err
	}
	told.add(metricDue, metric.Count, 1)
	if d.NextAttemptAt != nil {
		told.highest(metricOldest, metric.Seconds, now.Sub(d.NextAttemptAt.Time()).Seconds())
	}
	m := d.message().queued(max(0, seen.at.Sub(now)))
	return &m, nil
}

// wakePause is the time until the next wake of a delivery that was woken so often in vain.
func wakePause(wakes int) time.Duration {
	const doublings = 5 // of which the last is beyond an hour
	return min(signalLoss<<min(max(wakes, 0), doublings), longestWake)
}
