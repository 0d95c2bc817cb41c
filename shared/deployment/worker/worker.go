// Package worker does the jobs of deployments. To build one, it reads a snapshot of the project's files, installs the
// packages, bundles, stores the objects, and ends the deployment, which makes it live. It also removes the objects of
// deployments that were deleted, canceled or failed.
//
// Package job calls it for a job whose lease it holds, and package deployment decides what it may do. A worker that
// loses its lease can store objects, which nothing refers to, and nothing else.
package worker

import (
	"context"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
	"devplatform/shared/site"
)

// Deps are the dependencies of a Worker.
type Deps struct {
	Store    deployment.Store
	Files    *file.Service
	Packages *npm.Installer
	Bucket   objectstore.Bucket
	Clock    clock.Clock
	Logger   *slog.Logger
}

// Worker builds deployments, and removes their objects. It is safe for concurrent use.
type Worker struct {
	Deps

	buildTime time.Duration // the maximum duration of a build, from the snapshot to the last object
}

// New returns a Worker. It makes no calls to storage.
func New(d Deps) *Worker { return &Worker{Deps: d, buildTime: buildTime} }

const (
	buildTime = 60 * time.Second
	// cleanUpTime limits the call that ends a build without an outcome.
	cleanUpTime = 5 * time.Second
)

// Kinds returns the kinds of jobs that the worker does.
func (w *Worker) Kinds() []job.Kind {
	return []job.Kind{
		{Name: deployment.BuildJob, Run: w.build, Fail: w.fail},
		{Name: deployment.RemovalJob, Run: w.remove},
	}
}

// remove removes the objects of a deployment.
func (w *Worker) remove(ctx context.Context, j job.Job) error {
	if _, err := w.Bucket.DeletePrefix(ctx, site.ObjectsOf(j.ID)); err != nil {
		return err
	}
	return w.Store.FinishRemoval(ctx, j)
}
