package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"devplatform/shared/archive"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// WorkerDeps are the dependencies of a worker.
type WorkerDeps struct {
	DB       *db.Client
	Projects db.Table
	Files    *file.Service
	Bucket   objectstore.Bucket
	Clock    clock.Clock
	Logger   *slog.Logger
}

// NewKind returns the kind of the jobs that write the archives of exports. It makes no calls to storage.
func NewKind(d WorkerDeps) job.Kind {
	w := archive.Worker{
		Store: newStore(d.DB, d.Projects).Store, Bucket: d.Bucket, Clock: d.Clock, Logger: d.Logger,
		Write: func(ctx context.Context, j job.Job, to io.Writer) error {
			snapshot, err := d.Files.Snapshot(ctx, j.OwnerID)
			if errors.Is(err, workspace.ErrProjectNotFound) {
				return fmt.Errorf("%w: %w", archive.ErrGone, err)
			}
			if err != nil {
				return err
			}
			return writeArchive(ctx, to, snapshot)
		},
	}
	return w.Kind(Kind)
}
