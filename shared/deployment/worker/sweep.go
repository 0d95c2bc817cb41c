package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/site"
)

const (
	// sweepAtOnce is the number of deployments that a sweep handles at the same time.
	sweepAtOnce = 10
	// sweepAgain is the time after which the work for a deployment is repeated if it did not succeed.
	sweepAgain = 2 * time.Minute
	// metricOldest is the metric with the longest delay of a build in seconds. infra/ALARMS.md describes its alarm.
	metricOldest = "OldestBuild"
)

// Sweep does the work that is overdue: it sends a message for each deployment that waits for a worker, and removes the
// objects of deployments that were deleted or that failed. It also reports the longest delay of a build. Run it every
// minute.
func (w *Worker) Sweep(ctx context.Context) error {
	now := w.Clock()
	// Those that are not due yet are read for the metric: they were woken by the last sweep, or a worker builds them.
	overdue, unreadable := w.Store.Due(ctx, now.Add(sweepAgain), w.limits.sweep)
	if unreadable == nil || len(overdue) > 0 {
		var delay time.Duration
		for _, d := range overdue {
			delay = max(delay, d.Delay(now))
		}
		w.Metrics.Put(ctx, metric.Value{Name: metricOldest, Unit: metric.Seconds, Values: []float64{delay.Seconds()}})
	}
	overdue = slices.DeleteFunc(overdue, func(d deployment.Deployment) bool { return d.DueAt.Time().After(now) })
	errs := lambdafn.Parallel(len(overdue), sweepAtOnce, func(i int) error {
		d, err := w.Store.Wake(ctx, overdue[i], now.Add(sweepAgain))
		if errors.Is(err, db.ErrStale) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.Status == deployment.Queued || d.Status == deployment.Building {
			return w.send(ctx, d)
		}
		return w.remove(ctx, d)
	})
	return errors.Join(append(errs, unreadable)...)
}

func (w *Worker) send(ctx context.Context, d deployment.Deployment) error {
	body, err := deployment.MessageOf(d)
	if err != nil {
		return err
	}
	w.Logger.InfoContext(ctx, "message sent again", "project", d.ProjectID, "deployment", d.ID)
	return w.Send(ctx, body, d.AccountID)
}

// remove removes the objects of a deployment.
func (w *Worker) remove(ctx context.Context, d deployment.Deployment) error {
	if _, err := w.Bucket.DeletePrefix(ctx, site.ObjectsOf(d.ID)); err != nil {
		return err
	}
	return w.Store.Removed(ctx, d)
}
