package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/retry"
)

// Kind is what a worker does with the jobs of one kind.
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
	// busyQuiet is the time for which the sweep sends no other message for such a job. It is shorter than the retention of
	// the queue.
	busyQuiet = 10 * time.Minute
	// reserve is the time that an invocation reserves to release its lease, and to return its message to the queue.
	reserve = 5 * time.Second
)

// Handle handles messages from the queue, one after another. It returns the results that lambdafn.Queue expects.
func (w *Worker) Handle(ctx context.Context, messages []lambdafn.QueueMessage) []error {
	errs := make([]error, len(messages))
	for i, m := range messages {
		errs[i] = w.handle(ctx, m)
	}
	return errs
}

func (w *Worker) handle(ctx context.Context, received lambdafn.QueueMessage) error {
	m, ok := parseMessage(received.Body)
	if !ok { // nothing is lost, because the jobs have the state
		w.Logger.ErrorContext(ctx, "message cannot be handled", "messageId", received.ID)
		return nil
	}
	j, err := w.Jobs.Claim(ctx, m.OwnerID, m.ID, w.Clock())
	if err == nil {
		err = w.attempt(ctx, j)
	}
	switch {
	case err == nil, errors.Is(err, ErrLost), errors.Is(err, ErrNotClaimable):
		return nil // there is nothing to do, or the sweep sends another message when the lease of the other worker ends
	case errors.Is(err, ErrBusy):
		return w.returnAfter(ctx, received, busyAfter<<min(max(received.Receives-1, 0), 3))
	case IsTransient(err):
		w.Logger.WarnContext(ctx, "a job was interrupted", "kind", j.Kind, "owner", m.OwnerID, "id", m.ID,
			"receives", received.Receives, "cause", err.Error())
		return w.returnAfter(ctx, received, retryAfter)
	}
	return fmt.Errorf("job %s: %w", m.ID, err)
}

// attempt makes an attempt. If the job has to be tried again, attempt releases its lease. Errors: the errors of
// Kind.Run.
func (w *Worker) attempt(ctx context.Context, j Job) error {
	kind, err := w.kindOf(j)
	if err != nil {
		return err
	}
	run := kind.Run
	if kind.Fail != nil && j.isExhausted(w.Clock()) {
		run = kind.Fail
	}
	limited, cancel := async.WithMargin(ctx, reserve)
	defer cancel()
	leaseCtx, stop := w.whileLeased(limited, j)
	err = run(leaseCtx, j)
	stop()
	switch {
	case err != nil && errors.Is(context.Cause(leaseCtx), ErrLost):
		return ErrLost
	case errors.Is(err, ErrBusy):
		w.endLease(ctx, j, busyQuiet, w.Jobs.Postpone)
	case IsTransient(err):
		w.endLease(ctx, j, retryAfter, w.Jobs.Release)
	}
	return err
}

func (w *Worker) kindOf(j Job) (Kind, error) {
	for _, kind := range w.Kinds {
		if kind.Name == j.Kind {
			return kind, nil
		}
	}
	return Kind{}, fmt.Errorf("job: unknown kind %q", j.Kind)
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

// endLease ends the lease of an attempt, also if ctx has ended. If that fails, the lease expires.
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
