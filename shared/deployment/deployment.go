// Package deployment implements deployments and sites: their records, the operations that clients call, and the steps
// of a build that its worker stores. Package worker builds. Package site serves the outputs to visitors. This package
// does not read files of projects, and does not write objects.
//
// Calls run in one direction: handlers (http.go) call the Service (service.go, service_read.go, service_site.go), and
// the worker calls the Store (store_build.go, store_due.go, store_log.go). Both make changes (store_change.go), which
// are decisions about a Site and become one transaction.
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
// A worker holds a lease: a random token in the record of the deployment, with an end. Each write of the worker has the
// condition that the record still has the token and is building. A worker that lost its lease can change nothing.
//
// Each request to deploy, to promote or to go offline takes the next number of the site's sequence. A build goes live
// only if its number is not below the number of the latest change of the live deployment.
//
// The table is the truth. A message in the queue only wakes a worker. The sparse index "due" contains the deployments
// on which work must be done at a time even if there is no message: see Store.Due.
package deployment

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/event"
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
	// LeaseTime is the duration of a lease. It is longer than the timeout of the function, so that a lease never expires
	// while the worker runs.
	LeaseTime = 100 * time.Second
	// resendAfter is the time after which a deployment is due that is queued or was released. It is the latest time at
	// which a message that was lost is sent again.
	resendAfter = time.Minute
	// maxBuilding is the time after its first build after which a deployment is not built again.
	maxBuilding = 15 * time.Minute
	// maxInterruptions is the number of interrupted builds after which a deployment fails.
	maxInterruptions = 2
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

	// Lease is the token of the worker that builds or has built the deployment. "" if no worker has begun, or if the
	// last one released its lease.
	Lease     string           `dynamodbav:"lease,omitempty"`
	LeaseEnds *clock.Timestamp `dynamodbav:"leaseEnds,omitempty"`
	// Interruptions is the number of builds whose lease expired.
	Interruptions int `dynamodbav:"interruptions,omitempty"`

	// Due and DueAt are the keys of the index "due". They are absent if nothing is left to do.
	Due   string           `dynamodbav:"due,omitempty"`
	DueAt *clock.Timestamp `dynamodbav:"dueAt,omitempty"`
	// OverdueSince is the time at which a queued deployment was due when a sweep first woke it since a worker last
	// received its message.
	OverdueSince *clock.Timestamp `dynamodbav:"overdueSince,omitempty"`
}

// Delay returns how long the build has been in progress or overdue: the time since its first attempt began, or since it
// was due if none has begun. It is 0 before that time, and after the build has ended. A queued build that waits because
// of the limit of its account is not due.
func (d Deployment) Delay(now time.Time) time.Duration {
	since := d.DueAt
	switch {
	case d.Status == Building:
		since = d.StartedAt
	case d.Status != Queued:
		since = nil
	case d.OverdueSince != nil:
		since = d.OverdueSince
	}
	if since == nil {
		return 0
	}
	return max(0, now.Sub(since.Time()))
}

// isLeased reports whether a worker holds the lease at a time.
func (d Deployment) isLeased(now time.Time) bool {
	return d.Status == Building && d.Lease != "" && d.LeaseEnds != nil && now.Before(d.LeaseEnds.Time())
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
