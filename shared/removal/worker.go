package removal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/metric"
)

const (
	// runPage is the maximum number of removals that a run handles. The next run handles the others.
	runPage = 100
	// reserve is the time that a run reserves to release its lease.
	reserve = 5 * time.Second
	// minTime is the time that must remain to begin an attempt.
	minTime = 20 * time.Second
	// metricOldest is the metric with the time since the oldest workspace or account ended whose data remains, in
	// seconds. infra/ALARMS.md describes its alarm.
	metricOldest = "OldestRemoval"
)

// Remover removes the data of a workspace or an account, by its ID. It returns nil if all data is gone. After an error,
// or if ctx ends, the worker calls it again later, as often as necessary. It must expect that an earlier call was
// interrupted at any point.
type Remover func(ctx context.Context, id string) error

// InOrder returns a Remover that calls others, one after another.
func InOrder(steps ...Remover) Remover {
	return func(ctx context.Context, id string) error {
		for _, step := range steps {
			if err := step(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}
}

// Deps are the dependencies of a Worker.
type Deps struct {
	DB       *db.Client
	Projects db.Table
	// Removers has the function of each kind.
	Removers map[Kind]Remover
	Clock    clock.Clock
	Logger   *slog.Logger
	Metrics  *metric.Metrics
}

// Worker makes the attempts of removals. It is safe for concurrent use.
type Worker struct {
	Deps

	store store
}

// NewWorker returns a Worker. It makes no calls to storage.
func NewWorker(d Deps) *Worker {
	return &Worker{Deps: d, store: store{client: d.DB, projects: d.Projects}}
}

// Run makes an attempt of each removal that is due, the most overdue first, until the time of the function ends. It
// also reports the age of the oldest removal. Run it every minute: runs may overlap, so a long removal does not delay
// others. Failed attempts are only logged. Errors: an item that cannot be decoded; an unknown kind; the errors of
// storage.
func (w *Worker) Run(ctx context.Context) error {
	now := w.Clock()
	// Removals that are not due yet are read for the metric: they wait for their next attempt, or a worker has a lease.
	all, unreadable := w.store.due(ctx, now.Add(max(maxWait, LeaseTime)), runPage)
	if unreadable == nil || len(all) > 0 {
		oldest := time.Duration(0)
		for _, r := range all {
			oldest = max(oldest, now.Sub(r.EndedAt.Time()))
		}
		w.Metrics.Put(ctx, metric.Value{
			Name: metricOldest, Unit: metric.Seconds, Values: []float64{oldest.Seconds()},
		})
	}
	limited, cancel := async.WithMargin(ctx, reserve)
	defer cancel()
	errs := []error{unreadable}
	start, stop := async.WithMargin(limited, minTime)
	defer stop()
	for _, r := range all {
		if start.Err() != nil {
			break
		}
		if r.DueAt.Time().After(w.Clock()) {
			continue
		}
		if err := w.attempt(limited, r.ID); !errors.Is(err, errLost) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// attempt makes an attempt of a removal. Errors: errLost; an unknown kind; the errors of storage if the record can't be
// written.
func (w *Worker) attempt(ctx context.Context, id string) error {
	began := w.Clock()
	r, err := w.store.claim(ctx, id, began)
	if err != nil {
		return err
	}
	remove := w.Removers[r.Kind]
	if remove == nil {
		return fmt.Errorf("removal: unknown kind %q", r.Kind)
	}
	counted := db.CountCalls(ctx)
	err = async.Recover(func() error { return remove(counted, id) })
	attrs := []any{"kind", r.Kind, "id", id, "attempt", r.Attempts, "dynamodbCalls", db.Calls(counted),
		"durationMs", w.Clock().Sub(began).Milliseconds()}
	if err == nil {
		if err := w.store.end(ctx, r); err != nil {
			return err
		}
		age := w.Clock().Sub(r.EndedAt.Time()).Milliseconds()
		w.Logger.InfoContext(ctx, "a removal ended", append(attrs, "ageMs", age)...)
		return nil
	}
	due := w.Clock()
	if ctx.Err() == nil { // otherwise the time of the function has ended, and the next run continues
		due = due.Add(r.wait())
		w.Logger.WarnContext(ctx, "a removal was interrupted", append(attrs, "cause", err.Error())...)
	}
	endCtx, cancel := async.Detach(ctx, reserve)
	defer cancel()
	return w.store.release(endCtx, r, due)
}
