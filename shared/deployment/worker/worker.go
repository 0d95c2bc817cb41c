// Package worker builds deployments. A message wakes it. It takes the lease of the deployment, reads a snapshot of the
// project's files, installs the packages, bundles, stores the objects, and ends the deployment, which makes it live. It
// also removes the objects of deleted deployments, and sends the messages of deployments that wait for too long.
//
// The record of a deployment is the truth, and package deployment decides what a worker may do with it. A worker that
// loses its lease can store objects, which nothing refers to, and nothing else. It notices that within about two
// seconds, and stops.
package worker

import (
	"context"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
)

// Deps are the dependencies of a Worker.
type Deps struct {
	Store    deployment.Store
	Files    *file.Service
	Packages *npm.Installer
	Bucket   objectstore.Bucket
	// Send sends a message to the queue of builds, with a message group.
	Send func(ctx context.Context, body, group string) error
	// Hide sets the visibility timeout of a received message.
	Hide    func(ctx context.Context, receiptHandle string, d time.Duration) error
	Clock   clock.Clock
	Logger  *slog.Logger
	Metrics *metric.Metrics
}

// Worker builds deployments. It is safe for concurrent use.
type Worker struct {
	Deps

	limits limits
}

// limits are the limits that tests lower.
type limits struct {
	build  time.Duration // the largest duration of a build, from the snapshot to the last object
	source int           // the largest size of all files of a project that is built, in bytes
	sweep  int           // the largest number of deployments that a sweep handles; the next one handles the others
	lease  time.Duration // the time between two checks of the lease during a build
}

// New returns a Worker. It makes no calls to storage.
func New(d Deps) *Worker {
	return &Worker{Deps: d, limits: limits{build: buildTime, source: maxSource, sweep: sweepPage, lease: checkLease}}
}

const (
	buildTime = 60 * time.Second
	maxSource = 200 << 20
	sweepPage = 500
	// checkLease is short enough that a canceled build soon frees its place, and longer than most builds, which make no
	// check.
	checkLease = 2 * time.Second
	// retryAfter is the wait before another attempt if storage or the registry is unavailable.
	retryAfter = 10 * time.Second
	// busyAfter is the wait before the second attempt if the account has too many builds in progress. It grows up to eight
	// times this value.
	busyAfter = 5 * time.Second
	// busyQuiet is the time for which the sweep sends no other message for such a deployment. It is shorter than the
	// retention of the queue.
	busyQuiet = 10 * time.Minute
	// cleanUpTime limits the call that frees what a build holds.
	cleanUpTime = 5 * time.Second
	// reserve is the time that an invocation reserves to store the result of a build.
	reserve = 10 * time.Second
)
