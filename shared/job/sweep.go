package job

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
)

const (
	// sweepAtOnce is the number of jobs that a sweep handles at the same time.
	sweepAtOnce = 10
	// sweepAgain is the time after which the message of a job is sent again if no worker has claimed the job.
	sweepAgain = 2 * time.Minute
	// metricOldest is the metric with the age of the oldest job of each kind in seconds. infra/ALARMS.md describes its
	// alarm.
	metricOldest = "OldestJob"
)

// Sweep sends a message for each job that is due. It also reports the age of the oldest job of each kind. Run it every
// minute.
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
		return j.Send(ctx, w.Send)
	})
	return errors.Join(append(errs, unreadable)...)
}
