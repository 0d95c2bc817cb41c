package export

import (
	"context"
	"errors"
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/job"
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
	Clock    clock.Clock
	Logger   *slog.Logger
}

// Worker writes the archives of exports. It is safe for concurrent use.
type Worker struct {
	store  store
	files  *file.Service
	bucket objectstore.Bucket
	now    clock.Clock
	logger *slog.Logger
}

// NewWorker returns a Worker. It makes no calls to storage.
func NewWorker(d WorkerDeps) *Worker {
	return &Worker{
		store: store{Access: workspace.Access{Projects: d.Projects}, client: d.DB}, files: d.Files, bucket: d.Bucket,
		now: d.Clock, logger: d.Logger,
	}
}

// Kinds returns the kinds of jobs that the worker does.
func (w *Worker) Kinds() []job.Kind { return []job.Kind{{Name: Kind, Run: w.run, Fail: w.fail}} }

// run makes an attempt to write the archive of an export. Errors: those of job.Kind.
func (w *Worker) run(ctx context.Context, leased job.Job) error {
	began := w.now()
	a, err := w.begin(ctx, leased)
	if err != nil {
		return err
	}
	if a.record.statusAt(began) != Running {
		return a.fail(ctx)
	}
	err = a.export(ctx)
	switch {
	case err == nil:
		w.logger.InfoContext(ctx, "an export ended", "project", leased.ProjectID, "export", leased.ID,
			"bytes", a.record.Size, "files", a.fileCount, "uploadedParts", a.uploaded, "parts", len(a.record.Parts),
			"durationMs", w.now().Sub(began).Milliseconds())
		return nil
	case errors.Is(err, job.ErrLost) || job.IsTransient(err):
		return err
	case !errors.Is(err, workspace.ErrProjectNotFound):
		w.logger.ErrorContext(ctx, "an export failed", "project", leased.ProjectID, "export", leased.ID,
			"cause", err.Error())
	}
	return a.fail(ctx)
}

// fail ends an export whose attempts were interrupted too often.
func (w *Worker) fail(ctx context.Context, leased job.Job) error {
	a, err := w.begin(ctx, leased)
	if err != nil {
		return err
	}
	return a.fail(ctx)
}

// attempt is one attempt to write an archive.
type attempt struct {
	*Worker

	job       job.Job // with the lease of the worker
	record    record  // zero if the export has expired, or was removed with its project
	fileCount int     // number of files in the archive
	uploaded  int     // number of parts that this attempt has uploaded
}

func (w *Worker) begin(ctx context.Context, leased job.Job) (*attempt, error) {
	r, err := w.store.get(ctx, leased)
	return &attempt{Worker: w, job: leased, record: r}, err
}

// export writes the archive and makes the export ready. Errors: PROJECT_NOT_FOUND; job.ErrLost; an error for which
// job.IsTransient is true. Any other error is permanent.
func (a *attempt) export(ctx context.Context) error {
	snapshot, err := a.files.Snapshot(ctx, a.job.ProjectID)
	if err != nil {
		return err
	}
	a.fileCount = len(snapshot.Files)
	err = a.write(ctx, snapshot)
	if errors.Is(err, objectstore.ErrUploadEnded) {
		// An earlier worker completed the upload and was interrupted before it stored that, or the upload was removed.
		a.abort(ctx)
		err = a.write(ctx, snapshot)
	}
	return err
}

// fail removes the upload, and ends the export, which becomes failed if it still exists.
func (a *attempt) fail(ctx context.Context) error {
	a.abort(ctx)
	if a.record.Status != Running {
		return a.store.jobs().Finish(ctx, a.job)
	}
	return a.store.end(ctx, a.job, Failed, 0)
}
