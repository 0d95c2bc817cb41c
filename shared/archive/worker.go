package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"devplatform/shared/clock"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
)

// ErrGone reports that the project or the user of an export was deleted.
var ErrGone = errors.New("archive: the project or the user was deleted")

// Worker makes the objects of exports. It is safe for concurrent use.
type Worker struct {
	Store  Store
	Bucket objectstore.Bucket
	Clock  clock.Clock
	Logger *slog.Logger
	// Write writes the object of an export. Errors: ErrGone; an error for which job.IsTransient is true. Any other error
	// is permanent.
	Write func(ctx context.Context, j job.Job, to io.Writer) error
}

// Kind returns the kind of the jobs that make the exports. name is the name of the kind.
func (w Worker) Kind(name string) job.Kind {
	return job.Kind{Name: name, Run: w.run, Fail: w.Store.Fail}
}

// run makes an attempt to make the object of an export. Errors: the errors of job.Kind.Run.
func (w Worker) run(ctx context.Context, j job.Job) error {
	began := w.Clock()
	r, err := w.Store.Get(ctx, j)
	if err != nil {
		return err
	}
	if r.StatusAt(began) != Running {
		return w.Store.Fail(ctx, j)
	}
	size, err := w.upload(ctx, j)
	switch {
	case errors.Is(err, ErrGone):
		return w.Store.Fail(ctx, j)
	case job.IsTransient(err):
		return err
	case err != nil:
		w.Logger.ErrorContext(ctx, "an export failed", "kind", j.Kind, "owner", j.OwnerID, "export", j.ID,
			"cause", err.Error())
		return w.Store.Fail(ctx, j)
	case r.StatusAt(w.Clock()) == Failed: // its time is over
		return w.Store.Fail(ctx, j)
	}
	if err := w.Store.finish(ctx, j, size); err != nil {
		return err
	}
	w.Logger.InfoContext(ctx, "an export ended", "kind", j.Kind, "owner", j.OwnerID, "export", j.ID, "bytes", size,
		"durationMs", w.Clock().Sub(began).Milliseconds())
	return nil
}

// upload writes the object of an attempt to a temporary file, and uploads it to the bucket. It returns the size of the
// object. Errors: the errors of Write; an error for which job.IsTransient is true. Any other error is permanent.
func (w Worker) upload(ctx context.Context, j job.Job) (size int, err error) {
	f, err := os.CreateTemp("", "export-")
	if err != nil {
		return 0, fmt.Errorf("archive: create a temporary file: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := os.Remove(f.Name()); err != nil { // it exists until it is closed
		return 0, fmt.Errorf("archive: remove a temporary file: %w", err)
	}
	if err := w.Write(ctx, j, f); err != nil {
		return 0, err
	}
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, fmt.Errorf("archive: measure a temporary file: %w", err)
	}
	return int(end), w.Bucket.Put(ctx, objectKey(j), io.NewSectionReader(f, 0, end))
}
