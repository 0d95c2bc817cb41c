// Package deployment implements deployments and sites: their records, the operations that clients call, and the writes
// of the worker that builds. Package worker builds. Package site serves the outputs to visitors. This package
// does not read files of projects, and does not write objects.
//
// Calls run in one direction: a request enters an operation of the Service (http_*.go), and the worker calls the Store
// (store_build.go). Both read a project and its site into a change (store_change.go, store_site.go), which decides
// about the site and becomes one transaction.
//
// # States
//
//	queued ──▶ building ──▶ ready ──▶ removing
//	  └───────────┴──▶ failed, canceled ──▶ removing
//
// A deployment that is removing does not exist for clients. The worker removes its objects, then its record.
//
// # What protects what
//
// The record of the site is the lock of a project's deployments. It contains a summary of each deployment, and a
// version that every transaction checks and increments if it changes a status, an address or the live deployment. So
// all such changes of a project happen one after another, and each is decided on the current state. Every transaction
// also checks that the project exists. The deletion of a project deletes the record in its own transaction (see
// Service.RemoveSite), so that no address can be added afterwards.
//
// A deployment that is queued or building has a job of the kind BuildJob (package job). Each transaction of its worker
// has the condition that the worker holds the lease of the job. Each transaction that ends such a deployment ends or
// replaces the job, so that the worker can change nothing afterwards. A deployment whose objects have to be removed has
// a job of the kind RemovalJob.
//
// Each request to deploy, to promote or to go offline takes the next number of the site's sequence. A build goes live
// only if its number is not below the number of the latest change of the live deployment.
package deployment

import (
	"devplatform/shared/clock"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/event"
	"devplatform/shared/job"
	"devplatform/shared/site"
)

// Status is the state of a deployment.
type Status string

// The states of a deployment.
const (
	Queued   Status = "queued"
	Building Status = "building"
	Ready    Status = "ready"
	Failed   Status = "failed"
	Canceled Status = "canceled"
	// Removing is the state of a deployment that clients no longer see, and whose objects are to be removed.
	Removing Status = "removing"
)

// hasEnded reports whether the build is over.
func (s Status) hasEnded() bool { return s != Queued && s != Building }

// Target is the purpose of a deployment.
type Target string

// The targets.
const (
	Production Target = "production" // goes live at the address of the site
	Preview    Target = "preview"    // has only its own address
)

const (
	// BuildJob is the kind of the jobs that build deployments.
	BuildJob = "build"
	// RemovalJob is the kind of the jobs that remove the objects of deployments that were deleted, canceled or failed.
	RemovalJob = "removal"
	// maxKept is the number of deployments of a project that are kept.
	maxKept = 20
	// maxTakenLabels is the maximum number of labels that can be taken before the first deployment of a project fails.
	maxTakenLabels = 5
)

// Deployment is the record of a deployment, in the projects table under db.DeploymentKey. The attribute names are part
// of the data format.
type Deployment struct {
	Summary

	ID          string      `dynamodbav:"id"`
	ProjectID   string      `dynamodbav:"projectId"`
	WorkspaceID string      `dynamodbav:"workspaceId"`
	Message     string      `dynamodbav:"message"`
	Files       int         `dynamodbav:"files"` // of the output
	CreatedBy   event.Actor `dynamodbav:"createdBy"`
	// HashedPaths are the files of the output with hashed names. Only the record of the deployment's own address has them.
	HashedPaths site.PathSet `dynamodbav:"-"`

	CreatedAt clock.Timestamp  `dynamodbav:"createdAt"`
	StartedAt *clock.Timestamp `dynamodbav:"startedAt,omitempty"` // when the first build began
	ReadyAt   *clock.Timestamp `dynamodbav:"readyAt,omitempty"`
	EndedAt   *clock.Timestamp `dynamodbav:"endedAt,omitempty"` // when the deployment became ready, failed or canceled
	Error     *failure.Error   `dynamodbav:"error,omitempty"`   // only if the deployment failed
}

// newBuildJob returns the job that builds a deployment.
func newBuildJob(d Deployment) job.Job {
	return job.New(BuildJob, d.ProjectID, d.ID, d.AccountID, d.CreatedAt.Time())
}

// Summary is the part of a deployment's record on which decisions about the site depend. The record of the site has a
// copy.
type Summary struct {
	Number   int    `dynamodbav:"number"` // counted from 1 in the project
	Status   Status `dynamodbav:"status"`
	Target   Target `dynamodbav:"target"`
	Sequence int    `dynamodbav:"sequence"` // of the request, in the sequence of the site
	Label    string `dynamodbav:"label"`    // of the deployment's own address
	// AccountID is the user who owned the workspace when the deployment was requested.
	AccountID string `dynamodbav:"accountId"`
	Bytes     int    `dynamodbav:"bytes"`              // of the output, not compressed
	Manifest  []byte `dynamodbav:"manifest,omitempty"` // SHA-256 of the manifest, if the deployment is ready
}
