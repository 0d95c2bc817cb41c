package export

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// WorkerDeps are the dependencies of a Worker.
type WorkerDeps struct {
	DB       *db.Client
	Projects db.Table
	Files    *file.Service
	Bucket   objectstore.Bucket
	// Hide sets the visibility timeout of a received message.
	Hide   func(ctx context.Context, receiptHandle string, d time.Duration) error
	Clock  clock.Clock
	Logger *slog.Logger
}

// Worker writes the archives of exports. It is safe for concurrent use.
type Worker struct {
	store  store
	files  *file.Service
	bucket objectstore.Bucket
	hide   func(ctx context.Context, receiptHandle string, d time.Duration) error
	now    clock.Clock
	logger *slog.Logger
}

// NewWorker returns a Worker. It makes no calls to storage.
func NewWorker(d WorkerDeps) *Worker {
	return &Worker{
		store: store{Access: workspace.Access{Projects: d.Projects}, client: d.DB}, files: d.Files, bucket: d.Bucket,
		hide: d.Hide, now: d.Clock, logger: d.Logger,
	}
}

const (
	// retryAfter is the wait before another attempt if storage is unavailable.
	retryAfter = 30 * time.Second
	// reserve is the time that an invocation reserves to release its lease, and to return its message to the queue.
	reserve = 5 * time.Second
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
	m, ok := parseMessage(received.Body)
	if !ok { // nothing is lost, because the records have the state
		w.logger.ErrorContext(ctx, "message cannot be handled", "messageId", received.ID)
		return nil
	}
	now := w.now()
	r, err := w.store.lease(ctx, m.ProjectID, m.ExportID, rand.Text(), now)
	switch {
	case errors.Is(err, errNotRunning):
		return nil
	case errors.Is(err, errLeased): // look again when the lease ends, because the other worker may be interrupted
		return w.returnAfter(ctx, received, r.LeaseEnds.Time().Sub(now))
	case err != nil:
		return w.retry(ctx, received, m, err)
	}
	j := &job{Worker: w, projectID: m.ProjectID, record: r}
	err = j.runUntil(ctx)
	switch {
	case err == nil:
		w.logger.InfoContext(ctx, "an export is ready", "project", m.ProjectID, "export", m.ExportID, "bytes", j.record.Size,
			"files", j.fileCount, "uploadedParts", j.uploaded, "parts", len(j.record.Parts),
			"durationMs", w.now().Sub(now).Milliseconds())
		return nil
	case errors.Is(err, workspace.ErrProjectNotFound): // the record is removed with the project's other data
		j.abort(ctx)
		return nil
	case errors.Is(err, errLeased): // another worker took over
		return w.returnAfter(ctx, received, retryAfter)
	case isTransient(err):
		_ = w.store.release(ctx, m.ProjectID, j.record) // otherwise the lease expires
		return w.retry(ctx, received, m, err)
	}
	w.logger.ErrorContext(ctx, "an export failed", "project", m.ProjectID, "export", m.ExportID, "cause", err.Error())
	j.abort(ctx)
	if err := w.store.fail(ctx, m.ProjectID, j.record); err != nil {
		return w.retry(ctx, received, m, err)
	}
	return nil
}

// isTransient reports whether another attempt may succeed.
func isTransient(err error) bool {
	for _, transient := range []error{
		db.ErrUnavailable, db.ErrConflict, objectstore.ErrUnavailable, objectstore.ErrUploadEnded,
		context.DeadlineExceeded, context.Canceled,
	} {
		if errors.Is(err, transient) {
			return true
		}
	}
	return false
}

// retry returns a message to the queue after an attempt that failed for a transient reason.
func (w *Worker) retry(ctx context.Context, received lambdafn.QueueMessage, m message, cause error) error {
	w.logger.WarnContext(ctx, "an export was interrupted", "project", m.ProjectID, "export", m.ExportID,
		"receives", received.Receives, "cause", cause.Error())
	return w.returnAfter(ctx, received, retryAfter)
}

// returnAfter returns a message to the queue, where it becomes visible after a wait. If that fails, the message becomes
// visible at the end of its visibility timeout.
func (w *Worker) returnAfter(ctx context.Context, received lambdafn.QueueMessage, wait time.Duration) error {
	if err := w.hide(ctx, received.ReceiptHandle, wait); err != nil {
		w.logger.WarnContext(ctx, "message was not returned to the queue", "messageId", received.ID, "cause", err.Error())
	}
	return fmt.Errorf("%w: the message is visible again in %v", lambdafn.ErrLater, wait.Round(time.Millisecond))
}
