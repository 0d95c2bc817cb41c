// Package deployment implements deployments and sites: their records, the operations that clients call, and the steps
// of a build that its worker stores. Package worker builds. Package site serves the outputs to visitors. This package
// does not read files of projects, and does not write objects.
//
// Calls run in one direction: handlers (http.go) call the Service (service.go, service_read.go, service_site.go), and
// the worker calls the Store (store_build.go). Both make changes (store_change.go), which are decisions about a Site
// and become one transaction.
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
// Store.RemoveSite), so that no address can be added afterwards.
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
	"time"

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
	// kept is the number of deployments of a project that are kept.
	kept = 20
	// earlierTime is the time for which the files with hashed names of a deployment stay available at the address of the
	// site after another deployment went live.
	earlierTime = 7 * 24 * time.Hour
	// maxEarlier is the number of deployments that were live earlier whose files stay available.
	maxEarlier = 5
	// reservedTime is the time for which a label that was given up stays reserved for its workspace.
	reservedTime = 30 * 24 * time.Hour
)

// Deployment is the record of a deployment, in the projects table under db.DeploymentKey. The attribute names are part
// of the data format.
type Deployment struct {
	ID          string `dynamodbav:"id"`
	ProjectID   string `dynamodbav:"projectId"`
	WorkspaceID string `dynamodbav:"workspaceId"`
	// AccountID is the user who owned the workspace when the deployment was requested.
	AccountID string      `dynamodbav:"accountId"`
	Number    int         `dynamodbav:"number"` // counted from 1 in the project
	Status    Status      `dynamodbav:"status"`
	Target    Target      `dynamodbav:"target"`
	Message   string      `dynamodbav:"message"`
	Sequence  int         `dynamodbav:"sequence"`           // of the request, in the sequence of the site
	Label     string      `dynamodbav:"label"`              // of the deployment's own address
	Files     int         `dynamodbav:"files"`              // of the output
	Bytes     int         `dynamodbav:"bytes"`              // of the output, not compressed
	Manifest  []byte      `dynamodbav:"manifest,omitempty"` // SHA-256 of the manifest, if the deployment is ready
	CreatedBy event.Actor `dynamodbav:"createdBy"`
	// Hashed are the files of the output with hashed names. They are only stored with the own address of the deployment.
	Hashed site.Names `dynamodbav:"-"`

	CreatedAt clock.Timestamp  `dynamodbav:"createdAt"`
	StartedAt *clock.Timestamp `dynamodbav:"startedAt,omitempty"` // when the first build began
	ReadyAt   *clock.Timestamp `dynamodbav:"readyAt,omitempty"`
	EndedAt   *clock.Timestamp `dynamodbav:"endedAt,omitempty"` // when the deployment became ready, failed or canceled
	Error     *failure.Error   `dynamodbav:"error,omitempty"`   // only if the deployment failed
}

// buildOf returns the job that builds a new deployment.
func buildOf(d Deployment) job.Job {
	return job.New(BuildJob, d.ProjectID, d.ID, d.AccountID, d.CreatedAt.Time())
}

// Site is the record of a project's site, in the projects table under db.SiteKey. It exists from the first deployment
// on. The attribute names are part of the data format.
type Site struct {
	Label string `dynamodbav:"label"` // of the site's address
	SPA   bool   `dynamodbav:"spa"`
	// DeploymentID is the live deployment. "" if the site is offline.
	DeploymentID string `dynamodbav:"deploymentId"`
	// Earlier are the deployments that were live since the site was last offline, the latest first. They may have expired
	// or been removed.
	Earlier []site.Earlier `dynamodbav:"earlier,omitempty"`
	// Sequence is the last number that was taken, and LiveSequence the number of the request that last changed the live
	// deployment.
	Sequence     int             `dynamodbav:"sequence"`
	LiveSequence int             `dynamodbav:"liveSequence"`
	Number       int             `dynamodbav:"number"`  // of the last deployment
	Version      int             `dynamodbav:"version"` // incremented by every transaction that changes the record
	UpdatedAt    clock.Timestamp `dynamodbav:"updatedAt"`
	// Deployments are the deployments that are not removed, by ID.
	Deployments map[string]Summary `dynamodbav:"deployments"`
}

// Summary contains the attributes of a deployment's record that decisions about the site need.
type Summary struct {
	Number    int    `dynamodbav:"number"`
	Status    Status `dynamodbav:"status"`
	Target    Target `dynamodbav:"target"`
	Sequence  int    `dynamodbav:"sequence"`
	Label     string `dynamodbav:"label"`
	AccountID string `dynamodbav:"accountId"`
	Bytes     int    `dynamodbav:"bytes"`
	Manifest  []byte `dynamodbav:"manifest,omitempty"`
}

func (d Deployment) summary() Summary {
	return Summary{
		Number: d.Number, Status: d.Status, Target: d.Target, Sequence: d.Sequence, Label: d.Label,
		AccountID: d.AccountID, Bytes: d.Bytes, Manifest: d.Manifest,
	}
}

func stamp(t time.Time) *clock.Timestamp {
	at := clock.Stamp(t)
	return &at
}
