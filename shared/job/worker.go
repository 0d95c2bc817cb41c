package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/retry"
)

// Kind has the functions with which a worker handles the jobs of one kind.
type Kind struct {
	Name string
	// Run makes an attempt. It ends the job in the transaction that stores the outcome, and returns nil. Its context ends
	// with the cause ErrLost when the lease is lost, and shortly before the time limit of the function. Errors: ErrLost;
	// ErrBusy; an error for which IsTransient is true, after which another attempt follows. Any other error is a bug: the
	// lease expires, and the attempt counts as interrupted.
	Run func(ctx context.Context, j Job) error
	// Fail ends a job that was interrupted too often or for too long. Errors: the errors of Run. If Fail is nil, the job
	// is tried again until it succeeds.
	Fail func(ctx context.Context, j Job) error
}

// Deps are the dependencies of a Worker.
type Deps struct {
	Jobs  Store
	Kinds []Kind
	// Send sends a message to the queue of the worker, with a message group.
	Send func(ctx context.Context, body, group string) error
	// ReturnAfter makes a received message visible again after a wait.
	ReturnAfter func(ctx context.Context, receiptHandle string, wait time.Duration) error
	Clock       clock.Clock
	Logger      *slog.Logger
	Metrics     *metric.Metrics
}

// Worker runs jobs. It is safe for concurrent use.
type Worker struct {
	Deps

	checkLease time.Duration // the time between two checks of the lease during an attempt
	sweepPage  int           // the maximum number of jobs that a sweep handles; the next sweep handles the others
}

// NewWorker returns a Worker. It makes no calls to storage.
func NewWorker(d Deps) *Worker {
	// With this time, a canceled job stops soon, and most jobs end before the first check.
	return &Worker{Deps: d, checkLease: 2 * time.Second, sweepPage: 500}
}

const (
	// retryAfter is the wait before another attempt if storage or another service is unavailable.
	retryAfter = 10 * time.Second
	// busyAfter is the wait before the second attempt if the account has too many jobs in progress. It grows up to eight
	// times this value.
	busyAfter = 5 * time.Second
	// busyQuiet is the time for which the sweep sends no other message for a job of a busy account. It is shorter than the
	// retention of the queue.
	busyQuiet = 10 * time.Minute
	// reserve is the time that an invocation reserves to release its lease, and to return its message to the queue.
	reserve = 5 * time.Second
	// sweepAtOnce is the number of jobs that a sweep handles at the same time.
	sweepAtOnce = 10
	// sweepAgain is the time after which the message of a job is sent again if no worker has claimed the job.
	sweepAgain = 2 * time.Minute
	// metricOldest is the metric with the age of the oldest job of each kind in seconds. infra/ALARMS.md describes its
	// alarm.
	metricOldest = "OldestJob"
)

// Handle handles messages from the queue, one after another. It returns the results that lambdafn.Queue expects.
func (w *Worker) Handle(ctx context.Context, messages []lambdafn.QueueMessage) []error {
	errs := make([]error, len(messages))
	for i, m := range messages {
		errs[i] = w.handle(ctx, m)
	}
	return errs
}

// handle makes an attempt for a message. If the job has to be tried again, it ends the lease, so that another attempt
// can begin before the lease expires.
func (w *Worker) handle(ctx context.Context, received lambdafn.QueueMessage) error {
	m, ok := parseMessage(received.Body)
	if !ok { // nothing is lost, because the jobs have the state
		w.Logger.ErrorContext(ctx, "message cannot be handled", "messageId", received.ID)
		return nil
	}
	j, err := w.Jobs.Claim(ctx, m.OwnerID, m.ID, w.Clock())
	isClaimed := err == nil
	if isClaimed {
		err = w.attempt(ctx, j)
	}
	switch {
	case err == nil, errors.Is(err, ErrLost), errors.Is(err, ErrNotClaimable):
		return nil // there is nothing to do, or the sweep sends another message when the lease of the other worker ends
	case errors.Is(err, ErrBusy):
		w.endLease(ctx, j, busyQuiet, w.Jobs.Postpone)
		return w.returnAfter(ctx, received, busyAfter<<min(max(received.Receives-1, 0), 3))
	case IsTransient(err):
		if isClaimed {
			w.endLease(ctx, j, retryAfter, w.Jobs.Release)
		}
		w.Logger.WarnContext(ctx, "a job was interrupted", "kind", j.Kind, "owner", m.OwnerID, "id", m.ID,
			"receives", received.Receives, "cause", err.Error())
		return w.returnAfter(ctx, received, retryAfter)
	}
	return fmt.Errorf("job %s: %w", m.ID, err)
}

// attempt makes an attempt. Errors: the errors of Kind.Run.
func (w *Worker) attempt(ctx context.Context, j Job) error {
	i := slices.IndexFunc(w.Kinds, func(k Kind) bool { return k.Name == j.Kind })
	if i < 0 {
		return fmt.Errorf("unknown kind %q", j.Kind)
	}
	run := w.Kinds[i].Run
	if fail := w.Kinds[i].Fail; fail != nil && j.isExhausted(w.Clock()) {
		run = fail
	}
	limited, cancel := async.WithMargin(ctx, reserve)
	defer cancel()
	leaseCtx, stop := w.whileLeased(limited, j)
	err := run(leaseCtx, j)
	stop()
	if err != nil && errors.Is(context.Cause(leaseCtx), ErrLost) {
		return ErrLost
	}
	return err
}

// whileLeased returns a context that ends with the cause ErrLost when a check finds that the worker has lost its lease.
// A check that fails is repeated at the time of the next one. stop ends the context and the checks.
func (w *Worker) whileLeased(ctx context.Context, j Job) (leaseCtx context.Context, stop func()) {
	leaseCtx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	async.Go(func() error {
		for retry.Sleep(leaseCtx, w.checkLease) {
			if err := w.Jobs.Check(leaseCtx, j); errors.Is(err, ErrLost) {
				return err
			}
		}
		return nil
	}, func(err error) {
		cancel(err) // also after a panic: without checks, another worker could take over unnoticed
		close(ended)
	})
	return leaseCtx, func() {
		cancel(nil)
		<-ended
	}
}

// endLease ends the lease of an attempt, even if ctx has ended. If that fails, the lease expires.
func (w *Worker) endLease(
	ctx context.Context, j Job, wait time.Duration, release func(context.Context, Job, time.Time) error,
) {
	ctx, cancel := async.Detach(ctx, reserve)
	defer cancel()
	if err := release(ctx, j, w.Clock().Add(wait)); err != nil && !errors.Is(err, ErrLost) {
		w.Logger.WarnContext(ctx, "cannot release the lease", "kind", j.Kind, "id", j.ID, "cause", err.Error())
	}
}

// IsTransient reports whether another attempt may succeed.
func IsTransient(err error) bool {
	for _, transient := range []error{
		db.ErrUnavailable, db.ErrConflict, db.ErrStale, objectstore.ErrUnavailable, context.DeadlineExceeded,
		context.Canceled,
	} {
		if errors.Is(err, transient) {
			return true
		}
	}
	return false
}

// returnAfter returns a message to the queue, where it becomes visible after a wait. If that fails, the message becomes
// visible at the end of its visibility timeout.
func (w *Worker) returnAfter(ctx context.Context, received lambdafn.QueueMessage, wait time.Duration) error {
	if err := w.ReturnAfter(ctx, received.ReceiptHandle, wait); err != nil {
		w.Logger.WarnContext(ctx, "message was not returned to the queue", "messageId", received.ID, "cause", err.Error())
	}
	return fmt.Errorf("%w: the message is visible again in %v", lambdafn.ErrLater, wait)
}

// Sweep sends a message for each job that is due. It also reports the age of the oldest job of each kind. Run it every
// minute. Errors: an item that cannot be decoded; the errors of storage and of Deps.Send.
func (w *Worker) Sweep(ctx context.Context) error {
	now := w.Clock()
	// Jobs that are not due yet are read for the metric: they were woken by the last sweep, or a worker runs them.
	jobs, unreadable := w.Jobs.Due(ctx, now.Add(sweepAgain), w.sweepPage)
	if unreadable == nil || len(jobs) > 0 {
		oldest := map[string]float64{}
		for _, kind := range w.Kinds {
			oldest[kind.Name] = 0
		}
		for _, j := range jobs {
			oldest[j.Kind] = max(oldest[j.Kind], j.age(now).Seconds())
		}
		ages := slices.Sorted(maps.Values(oldest))
		w.Metrics.Put(ctx, metric.Value{Name: metricOldest, Unit: metric.Seconds, Values: ages})
	}
	due := slices.DeleteFunc(jobs, func(j Job) bool { return j.DueAt.Time().After(now) })
	errs := lambdafn.Parallel(len(due), sweepAtOnce, func(i int) error {
		j := due[i]
		err := w.Jobs.Wake(ctx, j, now.Add(sweepAgain))
		if errors.Is(err, db.ErrStale) {
			return nil
		}
		if err != nil {
			return err
		}
		w.Logger.InfoContext(ctx, "message sent again", "kind", j.Kind, "owner", j.OwnerID, "id", j.ID)
		return j.trySend(ctx, w.Send)
	})
	return errors.Join(append(errs, unreadable)...)
}
