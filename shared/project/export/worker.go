package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

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

// run makes an attempt to write the archive of an export. Errors: the errors of job.Kind.Run.
func (w *Worker) run(ctx context.Context, j job.Job) error {
	began := w.now()
	r, err := w.store.get(ctx, j)
	if err != nil {
		return err
	}
	if r.statusAt(began) != Running {
		return w.fail(ctx, j)
	}
	files, size, err := w.export(ctx, j)
	switch {
	case errors.Is(err, workspace.ErrProjectNotFound):
		return w.fail(ctx, j)
	case job.IsTransient(err):
		return err
	case err != nil:
		w.logger.ErrorContext(ctx, "an export failed", "project", j.ProjectID, "export", j.ID,
			"cause", err.Error())
		return w.fail(ctx, j)
	case r.statusAt(w.now()) == Failed: // its time is over
		return w.fail(ctx, j)
	}
	if err := w.store.end(ctx, j, Ready, archiveKey(j), size); err != nil {
		return err
	}
	w.logger.InfoContext(ctx, "an export ended", "project", j.ProjectID, "export", j.ID, "bytes", size,
		"files", files, "durationMs", w.now().Sub(began).Milliseconds())
	return nil
}

// export writes the archive to the bucket. It returns the number of the files and the size of the archive. Errors:
// PROJECT_NOT_FOUND; an error for which job.IsTransient is true. Any other error is permanent.
func (w *Worker) export(ctx context.Context, j job.Job) (files, size int, err error) {
	snapshot, err := w.files.Snapshot(ctx, j.ProjectID)
	if err != nil {
		return 0, 0, err
	}
	archive, err := os.CreateTemp("", "export-")
	if err != nil {
		return 0, 0, fmt.Errorf("export: create a temporary file: %w", err)
	}
	defer func() { _ = archive.Close() }()
	if err := os.Remove(archive.Name()); err != nil { // it exists until it is closed
		return 0, 0, fmt.Errorf("export: remove a temporary file: %w", err)
	}
	if err := writeArchive(ctx, archive, snapshot); err != nil {
		return 0, 0, err
	}
	end, err := archive.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, 0, fmt.Errorf("export: measure a temporary file: %w", err)
	}
	err = w.bucket.Put(ctx, archiveKey(j), io.NewSectionReader(archive, 0, end))
	return len(snapshot.Files), int(end), err
}

// fail ends an export, which becomes failed if it is running.
func (w *Worker) fail(ctx context.Context, j job.Job) error {
	r, err := w.store.get(ctx, j)
	switch {
	case err != nil:
		return err
	case r.Status != Running: // it has expired, or was removed with its project
		return w.store.jobs().Finish(ctx, j)
	}
	return w.store.end(ctx, j, Failed, "", 0)
}
