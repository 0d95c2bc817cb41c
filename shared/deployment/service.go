package deployment

import (
	"context"
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/workspace"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table
	Sites    db.Table
	Outbox   event.Outbox
	Cursors  *db.Cursors
	// Bucket contains the manifests.
	Bucket objectstore.Bucket
	// Send sends a message with a message group to the queue of the worker.
	Send   func(ctx context.Context, body, group string) error
	IDs    *id.Generator
	Clock  clock.Clock
	Logger *slog.Logger
	// Origin is the origin of the sites. "" if sites are not configured.
	Origin config.Origin
	Limits Limits
}

// Service implements the operations of clients on deployments and sites. Its methods return a *fault.Error or an error
// of package db. It is safe for concurrent use.
type Service struct {
	store    Store
	counters *limit.Counters
	cursors  *db.Cursors
	bucket   objectstore.Bucket
	send     func(ctx context.Context, body, group string) error
	ids      *id.Generator
	now      clock.Clock
	logger   *slog.Logger
	limits   Limits
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		store: Store{
			DB: d.DB, Projects: d.Projects, Sites: d.Sites, Outbox: d.Outbox, Origin: d.Origin,
			MaxOutput: d.Limits.AccountBytes,
		},
		counters: limit.New(d.DB, d.Projects, d.Clock), cursors: d.Cursors, bucket: d.Bucket, send: d.Send, ids: d.IDs,
		now: d.Clock, logger: d.Logger, limits: d.Limits,
	}
}

// checkConfigured returns an error if sites are not configured. Error: SITES_NOT_CONFIGURED.
func (s *Service) checkConfigured() error {
	if s.store.Origin == "" {
		return errNotConfigured
	}
	return nil
}

// state is a project with its site and one of its deployments, as they were read.
type state struct {
	workspace.ProjectAccess

	site       Site
	hasSite    bool
	deployment Deployment // zero if none was requested, or if it does not exist
}

// stateOf returns the state among the items that were read with a project.
func stateOf(a workspace.ProjectAccess, deploymentID string) (p state, err error) {
	p.ProjectAccess = a
	item := a.Items[db.SiteKey(a.ProjectID)]
	p.hasSite = item != nil
	if p.site, err = db.Decode[Site](item); err != nil {
		return p, err
	}
	p.deployment, err = db.Decode[Deployment](a.Items[db.DeploymentKey(a.ProjectID, deploymentID)])
	return p, err
}

// open reads a project and its site, and checks that the caller may do the action. If deploymentID is not "", it also
// reads that deployment, and more items. It makes two calls to storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// DEPLOYMENT_NOT_FOUND.
func (s *Service) open(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string, action workspace.Action, more ...db.Key,
) (state, error) {
	keys := append(more, db.SiteKey(projectID), db.DeploymentKey(projectID, deploymentID))
	access, err := s.store.access().Project(ctx, caller.UserID, projectID, action, keys...)
	if err != nil {
		return state{}, err
	}
	p, err := stateOf(access, deploymentID)
	if err == nil && deploymentID != "" && (p.deployment.ID == "" || p.deployment.Status == Removing) {
		err = errNotFound
	}
	return p, err
}

// modify opens a project, and a deployment if deploymentID is not "". It calls decide, which makes a change of the
// site, and commits the change. It returns the project after the change. It makes three calls to storage. Errors: the
// errors of open; SITE_NOT_FOUND if deploymentID is ""; the errors of decide.
func (s *Service) modify(
	ctx context.Context, caller httpapi.Caller, operation, projectID, deploymentID string, decide func(c *change) error,
) (p state, err error) {
	err = db.Retry(ctx, operation, func(ctx context.Context) error {
		if p, err = s.open(ctx, caller, projectID, deploymentID, workspace.Write); err != nil {
			return err
		}
		_, isListed := p.site.Deployments[deploymentID]
		switch {
		case deploymentID != "" && !isListed: // perhaps another request removes it, between the reads of the two records
			return errNotFound
		case !p.hasSite:
			return errNoSite
		}
		c := s.store.newChange(p, s.now())
		if err := decide(c); err != nil || c.isEmpty() {
			return err
		}
		err := c.commit(ctx)
		p.site = c.site
		return err
	})
	return p, err
}

func actorOf(caller httpapi.Caller) event.Actor {
	return event.Actor{ID: caller.UserID, Username: caller.Account().Username}
}
