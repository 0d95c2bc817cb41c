package deployment

import (
	"context"
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/workspace"
)

// Deps are the dependencies of a Service.
type Deps struct {
	Store   Store
	Cursors *db.Cursors
	// Bucket contains the manifests.
	Bucket objectstore.Bucket
	// Send sends a message with a message group to the queue of the worker.
	Send   func(ctx context.Context, body, group string) error
	IDs    *id.Generator
	Clock  clock.Clock
	Logger *slog.Logger
	Limits Limits
}

// Service implements the operations of clients on deployments and sites. Its methods return a *fault.Error or an error
// of package db. It is safe for concurrent use.
type Service struct {
	Deps

	counters *limit.Counters
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service { return &Service{d, limit.New(d.Store.DB, d.Store.Projects, d.Clock)} }

// open reads a project, its site and the items with the keys more, and checks that the caller may do the action. If
// deploymentID is not "", it also reads that deployment. It makes two calls to storage. Errors: PROJECT_NOT_FOUND,
// ACCESS_DENIED, DEPLOYMENT_NOT_FOUND.
func (s *Service) open(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string, action workspace.Action, more ...db.Key,
) (*change, error) {
	keys := append(more, db.SiteKey(projectID), db.DeploymentKey(projectID, deploymentID))
	access, err := s.Store.access().Project(ctx, caller.UserID, projectID, action, keys...)
	if err != nil {
		return nil, err
	}
	c, err := s.Store.newChange(access, deploymentID, s.Clock())
	if err == nil && deploymentID != "" && (c.deployment.ID == "" || c.deployment.Status == Removing) {
		err = errNotFound
	}
	return c, err
}

// modify opens a project, and a deployment if deploymentID is not "". It calls decide, which changes the site, and
// commits the change. It makes three calls to storage. Errors: the errors of open; SITE_NOT_FOUND if deploymentID is
// ""; the errors of decide.
func (s *Service) modify(
	ctx context.Context, caller httpapi.Caller, operation, projectID, deploymentID string, decide func(c *change) error,
) (c *change, err error) {
	err = db.Retry(ctx, operation, func(ctx context.Context) error {
		if c, err = s.open(ctx, caller, projectID, deploymentID, workspace.Write); err != nil {
			return err
		}
		_, isListed := c.site.Deployments[deploymentID]
		switch {
		case deploymentID != "" && !isListed: // perhaps another request removes it, between the reads of the two records
			return errNotFound
		case c.isNew:
			return errNoSite
		}
		if err := decide(c); err != nil || c.isEmpty() {
			return err
		}
		return c.commit(ctx)
	})
	return c, err
}
