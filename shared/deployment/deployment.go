// Package deployment implements deployments and sites: their records, the operations that clients call, and the steps
// of a build that its worker stores. Package worker builds. Package site serves the outputs to visitors. This package
// does not read files of projects, and does not write objects.
//
// Calls run in one direction: handlers (http*.go) call the Service (service.go, deployment.go, log.go, file.go,
// site.go), and the worker calls the Store (store_build.go). Both collect a change (store_change.go, store_site.go),
// which decides about a Site and becomes one transaction.
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
	"context"
	"errors"
	"slices"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
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
	// HashedPaths are the files of the output with hashed names. They are only stored with the own address of the
	// deployment.
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

// CreateDeployment requests a deployment of the current files of a project. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// RATE_LIMITED, QUOTA_EXCEEDED, SITES_NOT_CONFIGURED, CONFLICT.
func (s *Service) CreateDeployment(
	ctx context.Context, caller httpapi.Caller, projectID string, target Target, message string,
) (DeploymentItem, error) {
	d := Deployment{ProjectID: projectID, Message: message, Summary: Summary{Status: Queued, Target: target}}
	takenLabels := 0
	err := db.Retry(ctx, "deploy a project", func(ctx context.Context) (err error) {
		var p state
		if p, d.AccountID, err = s.openToDeploy(ctx, caller, projectID); err != nil {
			return err
		}
		if p.site.Blocked {
			return errProjectBlocked
		}
		d.ID = s.ids.New(id.Deployment) // IDs and numbers have the same order
		d.WorkspaceID, d.CreatedBy = p.WorkspaceID, actorOf(caller)
		c := s.store.newChange(p, s.now())
		c.add(s.counters.Write(s.limits.projectRule(), projectID), s.counters.Write(s.limits.accountRule(), d.AccountID))
		c.quota = &quota{d.AccountID, errOutput(s.limits.AccountBytes)}
		if c.isNew {
			err = c.createSite(ctx, p.Items[db.ProjectKey(p.WorkspaceID, projectID)], d.AccountID, takenLabels)
		}
		if err == nil {
			c.createDeployment(&d, p.Visibility == workspace.Private)
			err = c.commit(ctx)
		}
		if errors.Is(err, errLabelTaken) && takenLabels < maxTakenLabels {
			takenLabels++
			return errors.Join(db.ErrStale, err)
		}
		return err
	})
	if err != nil {
		return DeploymentItem{}, err
	}
	if err := newBuildJob(d).Send(ctx, s.send); err != nil { // the sweep of package job sends it later
		s.logger.WarnContext(ctx, "the message for a deployment was not sent", "project", projectID, "deployment", d.ID,
			"cause", err.Error())
	}
	return d.item("", s.store.Origin), nil
}

// openToDeploy reads a project and its site, and finds the account. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// SITES_NOT_CONFIGURED.
func (s *Service) openToDeploy(
	ctx context.Context, caller httpapi.Caller, projectID string,
) (p state, accountID string, err error) {
	access := s.store.access()
	found, err := access.Locate(ctx, projectID, access.Projects.Ref(db.SiteKey(projectID)))
	if err != nil {
		return p, "", err
	}
	group, groupCtx := async.WithContext(ctx)
	workspaceID := found.WorkspaceID
	group.Go(func() (err error) {
		accountID, err = access.Account(groupCtx, workspaceID)
		if errors.Is(err, workspace.ErrNotFound) {
			return workspace.ErrProjectNotFound.WithCause(err)
		}
		return err
	})
	group.Go(func() error { return access.Load(groupCtx, caller.UserID, &found, workspace.Write) })
	if err = group.Wait(); err == nil {
		err = s.checkConfigured()
	}
	if err != nil {
		return p, "", err
	}
	p, err = stateOf(found, "")
	return p, accountID, err
}

// Filter selects the deployments of a list. An empty field matches all.
type Filter struct {
	Status Status
	Target Target
}

func (f Filter) matches(d Deployment) bool {
	return d.Status != Removing && (f.Status == "" || f.Status == d.Status) && (f.Target == "" || f.Target == d.Target)
}

// ListDeployments returns a page of the deployments of a project, newest first, and the cursor of the next page. It
// makes three calls to storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; VALIDATION_FAILED if the cursor is not from
// this list.
func (s *Service) ListDeployments(
	ctx context.Context, caller httpapi.Caller, projectID string, f Filter, page httpapi.PageInput,
) ([]DeploymentItem, string, error) {
	scope := httpapi.ListScope(caller, "deployments", projectID, string(f.Status), string(f.Target))
	read := func(ctx context.Context, after string, n int) ([]DeploymentItem, error) {
		var p state
		var all []Deployment // there are few, because old ones are removed
		group, groupCtx := async.WithContext(ctx)
		group.Go(func() (err error) {
			p, err = s.open(groupCtx, caller, projectID, "", workspace.Read)
			return err
		})
		group.Go(func() error {
			stored, err := s.store.Projects.QueryAll(db.WithoutGuardRead(groupCtx), db.DeploymentsOf(projectID))
			all = db.DecodeAll(groupCtx, stored, db.DecodeByID(func(d Deployment) string { return d.ID }))
			return err
		})
		if err := group.Wait(); err != nil {
			return nil, err
		}
		items := []DeploymentItem{}
		for _, d := range slices.Backward(all) {
			if len(items) < n && f.matches(d) && (after == "" || d.ID < after) {
				items = append(items, d.item(p.site.DeploymentID, s.store.Origin))
			}
		}
		return items, nil
	}
	return httpapi.ReadPage(ctx, s.cursors, scope, page, read, func(d DeploymentItem) string { return d.ID })
}

// ReadDeployment returns a deployment. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND.
func (s *Service) ReadDeployment(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string,
) (DeploymentItem, error) {
	p, err := s.open(ctx, caller, projectID, deploymentID, workspace.Read)
	return p.deployment.item(p.site.DeploymentID, s.store.Origin), err
}

// CancelDeployment cancels a deployment that has not ended. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// DEPLOYMENT_NOT_FOUND; CONFLICT if it has ended.
func (s *Service) CancelDeployment(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string,
) (DeploymentItem, error) {
	var endedAt *clock.Timestamp
	p, err := s.modify(ctx, caller, "cancel a deployment", projectID, deploymentID, func(c *change) error {
		if c.site.Deployments[deploymentID].Status.hasEnded() {
			return errHasEnded
		}
		endedAt = new(clock.Stamp(c.now))
		c.cancel(deploymentID, actorOf(caller))
		return nil
	})
	p.deployment.Status, p.deployment.EndedAt = Canceled, endedAt
	return p.deployment.item(p.site.DeploymentID, s.store.Origin), err
}

// PromoteDeployment makes a ready deployment the live one. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// DEPLOYMENT_NOT_FOUND, SITES_NOT_CONFIGURED; CONFLICT if it is not ready.
func (s *Service) PromoteDeployment(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string,
) (DeploymentItem, error) {
	p, err := s.modify(ctx, caller, "promote a deployment", projectID, deploymentID, func(c *change) error {
		if err := s.checkConfigured(); err != nil {
			return err
		}
		switch {
		case c.site.Blocked:
			return errProjectBlocked
		case c.site.Deployments[deploymentID].Status != Ready:
			return errNotReady
		}
		c.goLive(deploymentID, c.nextSequence(), actorOf(caller), reasonPromote)
		return nil
	})
	return p.deployment.item(p.site.DeploymentID, s.store.Origin), err
}

// DeleteDeployment deletes a deployment that is not live. One that has not ended is canceled. Errors:
// PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND; CONFLICT if it is live.
func (s *Service) DeleteDeployment(ctx context.Context, caller httpapi.Caller, projectID, deploymentID string) error {
	_, err := s.modify(ctx, caller, "delete a deployment", projectID, deploymentID, func(c *change) error {
		if c.site.DeploymentID == deploymentID {
			return errLive
		}
		c.remove(deploymentID, actorOf(caller))
		return nil
	})
	return err
}
