package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
)

// Handle handles messages from the queue, one after another. Its results are those that lambdafn.Queue expects.
func (w *Worker) Handle(ctx context.Context, messages []lambdafn.QueueMessage) []error {
	errs := make([]error, len(messages))
	for i, m := range messages {
		errs[i] = w.handle(ctx, m)
	}
	return errs
}

func (w *Worker) handle(ctx context.Context, received lambdafn.QueueMessage) error {
	m, ok := deployment.ParseMessage(received.Body)
	if !ok { // nothing is lost, because the records have the state
		w.Logger.ErrorContext(ctx, "message cannot be handled", "messageId", received.ID)
		return nil
	}
	now, token := w.Clock(), rand.Text()
	d, err := w.Store.Begin(ctx, m.ProjectID, m.DeploymentID, token, now)
	if errors.Is(err, db.ErrUnavailable) { // it may have had an effect
		d, err = w.Store.Begin(ctx, m.ProjectID, m.DeploymentID, token, now)
	}
	switch {
	case errors.Is(err, deployment.ErrEnded):
		return nil
	case errors.Is(err, deployment.ErrLeased): // look again when the lease ends: the other worker may be interrupted
		return w.returnAfter(ctx, received, d.LeaseEnds.Time().Sub(now))
	case errors.Is(err, deployment.ErrBusy):
		return w.waitForAccount(ctx, received, d, now)
	case isTransient(err):
		return w.retry(ctx, received, m, err)
	case err != nil:
		return fmt.Errorf("begin to build %s: %w", m.DeploymentID, err)
	}
	j := &job{Worker: w, deployment: d, began: now}
	err = j.run(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, deployment.ErrLost): // canceled, deleted, or another worker took over
		w.cleanUp(ctx, d, "end the build", w.Store.EndBuild)
		return nil
	case isTransient(err):
		w.cleanUp(ctx, d, "release the lease", func(ctx context.Context, d deployment.Deployment) error {
			return w.Store.Release(ctx, d, w.Clock(), retryAfter)
		})
		return w.retry(ctx, received, m, err)
	}
	// A bug: the lease expires, the next attempt is the last one, and then the deployment fails.
	return fmt.Errorf("build %s: %w", d.ID, err)
}

// cleanUp frees what a build holds, also if ctx has ended. If that fails, it is free when the lease expires.
func (w *Worker) cleanUp(
	ctx context.Context, d deployment.Deployment, what string, do func(context.Context, deployment.Deployment) error,
) {
	ctx, cancel := async.Detach(ctx, cleanUpTime)
	defer cancel()
	if err := do(ctx, d); err != nil && !errors.Is(err, deployment.ErrLost) {
		w.Logger.WarnContext(ctx, "cannot "+what, "deployment", d.ID, "cause", err.Error())
	}
}

// waitForAccount returns the message of a deployment whose account has too many builds in progress. The wait grows with
// each attempt. Meanwhile, the sweep sends no further message.
func (w *Worker) waitForAccount(
	ctx context.Context, received lambdafn.QueueMessage, d deployment.Deployment, now time.Time,
) error {
	if d.DueAt != nil && d.DueAt.Time().Before(now.Add(busyQuiet/2)) {
		if _, err := w.Store.Postpone(ctx, d, now.Add(busyQuiet)); err != nil && !errors.Is(err, db.ErrStale) {
			return w.returnAfter(ctx, received, busyAfter)
		}
	}
	wait := busyAfter << min(max(received.Receives-1, 0), 3)
	return w.returnAfter(ctx, received, wait)
}

// isTransient reports whether another attempt may succeed.
func isTransient(err error) bool {
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

// retry returns a message to the queue after an attempt that failed for a transient reason.
func (w *Worker) retry(
	ctx context.Context, received lambdafn.QueueMessage, m deployment.Message, cause error,
) error {
	w.Logger.WarnContext(ctx, "a build was interrupted", "project", m.ProjectID, "deployment", m.DeploymentID,
		"receives", received.Receives, "cause", cause.Error())
	return w.returnAfter(ctx, received, retryAfter)
}

// returnAfter returns a message to the queue, where it becomes visible after a wait. If that fails, the message becomes
// visible at the end of its visibility timeout.
func (w *Worker) returnAfter(ctx context.Context, received lambdafn.QueueMessage, wait time.Duration) error {
	if err := w.Hide(ctx, received.ReceiptHandle, wait); err != nil {
		w.Logger.WarnContext(ctx, "message was not returned to the queue", "messageId", received.ID, "cause", err.Error())
	}
	return fmt.Errorf("%w: the message is visible again in %v", lambdafn.ErrLater, wait.Round(time.Millisecond))
}
