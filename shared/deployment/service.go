package deployment

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/fault"
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
	access   workspace.Access
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
		access: workspace.Access{Projects: d.Projects}, counters: limit.New(d.DB, d.Projects, d.Clock),
		cursors: d.Cursors, bucket: d.Bucket, send: d.Send, ids: d.IDs, now: d.Clock, logger: d.Logger, limits: d.Limits,
	}
}

// Errors of the Service.
var (
	errNotFound = fault.New(fault.CodeDeploymentNotFound,
		"The deployment does not exist. It may have been deleted, or replaced by newer deployments.")
	errNoSite = fault.New(fault.CodeSiteNotFound,
		"The project has no site yet. The first deployment creates it.")
	errNotConfigured = fault.New(fault.CodeSitesNotConfigured,
		"Sites are not available, because the service has no domain for them. Ask its operator to set one.")
	errHasEnded = fault.New(fault.CodeConflict, "The deployment has already ended. Only a deployment that is queued or building can be canceled.")
	errNotReady = fault.New(fault.CodeConflict, "The deployment is not ready. Only a ready deployment can go live.")
	errLive     = fault.New(fault.CodeConflict,
		"The deployment is live. Promote another deployment or take the site offline first.")
)

// configured returns an error if sites are not configured. Error: SITES_NOT_CONFIGURED.
func (s *Service) configured() error {
	if s.store.Origin == "" {
		return errNotConfigured
	}
	return nil
}

// opened is a project with its site and one of its deployments.
type opened struct {
	workspace.ProjectAccess

	site       Site
	siteItem   db.Item    // nil if the project has no site
	deployment Deployment // zero if none was requested
}

// open reads a project and its site, and checks that the caller may do the action. If deploymentID is not "", it also
// reads that deployment, and more items. It makes two calls to storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// DEPLOYMENT_NOT_FOUND.
func (s *Service) open(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string, action workspace.Action, more ...db.Key,
) (o opened, err error) {
	site, key := db.SiteKey(projectID), db.DeploymentKey(projectID, deploymentID)
	keys := slices.Concat(more, []db.Key{site, key})
	if o.ProjectAccess, err = s.access.Project(ctx, caller.UserID, projectID, keys...); err != nil {
		return o, err
	}
	if err := o.Check(action); err != nil {
		return opened{}, err
	}
	o.siteItem = o.Items[site]
	if o.site, err = db.Decode[Site](o.siteItem); err != nil || deploymentID == "" {
		return o, err
	}
	if o.deployment, err = db.Decode[Deployment](o.Items[key]); err != nil {
		return o, err
	}
	if o.deployment.ID == "" || o.deployment.Status == Removing {
		return o, errNotFound
	}
	return o, nil
}

// change returns a change of the site of an opened project.
func (s *Service) change(o opened, now time.Time) (*change, error) {
	return s.store.change(o.ProjectID, o.WorkspaceID, o.Name, o.siteItem, now)
}

func actorOf(caller httpapi.Caller) event.Actor {
	return event.Actor{ID: caller.UserID, Username: caller.Account().Username}
}

// Deploy requests a deployment of the current files of a project. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// RATE_LIMITED, QUOTA_EXCEEDED, SITES_NOT_CONFIGURED, CONFLICT.
func (s *Service) Deploy(
	ctx context.Context, caller httpapi.Caller, projectID string, target Target, message string,
) (DeploymentItem, error) {
	var o opened
	d := Deployment{ProjectID: projectID, Status: Queued, Target: target, Message: message}
	claims := 0
	err := db.Retry(ctx, "deploy a project", func(ctx context.Context) (err error) {
		if o, d.AccountID, err = s.openToDeploy(ctx, caller, projectID); err != nil {
			return err
		}
		d.CreatedBy = actorOf(caller)
		d.ID = s.ids.New(id.Deployment) // IDs and numbers have the same order
		err = s.deploy(ctx, caller, o, &d, claims)
		if errors.Is(err, errLabelTaken) && claims < maxClaims {
			claims++
			return errors.Join(db.ErrStale, err)
		}
		return err
	})
	if err != nil {
		return DeploymentItem{}, err
	}
	if err := buildOf(d).Send(ctx, s.send); err != nil { // the sweep sends it
		s.logger.WarnContext(ctx, "the message for a deployment was not sent", "project", projectID, "deployment", d.ID,
			"cause", err.Error())
	}
	return s.view(d, o.site), nil
}

// maxClaims is the maximum number of labels that can be taken before the first deployment of a project fails.
const maxClaims = 5

// openToDeploy opens a project and finds its account. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, SITES_NOT_CONFIGURED.
func (s *Service) openToDeploy(
	ctx context.Context, caller httpapi.Caller, projectID string,
) (o opened, accountID string, err error) {
	site := db.SiteKey(projectID)
	if o.ProjectAccess, err = s.access.Locate(ctx, projectID, site); err != nil {
		return o, "", err
	}
	group, groupCtx := async.WithContext(ctx)
	workspaceID := o.WorkspaceID
	group.Go(func() (err error) {
		accountID, err = s.access.Account(groupCtx, workspaceID)
		if errors.Is(err, workspace.ErrNotFound) {
			return workspace.ErrProjectNotFound.WithCause(err)
		}
		return err
	})
	group.Go(func() error { return s.access.Load(groupCtx, caller.UserID, &o.ProjectAccess) })
	if err := group.Wait(); err != nil {
		return o, "", err
	}
	if err := o.Check(workspace.Write); err != nil {
		return o, "", err
	}
	if err := s.configured(); err != nil {
		return o, "", err
	}
	o.siteItem = o.Items[site]
	o.site, err = db.Decode[Site](o.siteItem)
	return o, accountID, err
}

// deploy stores a new deployment. claims is the number of labels that were already taken. Errors: the errors of Deploy;
// errLabelTaken; db.ErrStale.
func (s *Service) deploy(ctx context.Context, caller httpapi.Caller, o opened, d *Deployment, claims int) error {
	now := s.now()
	c, err := s.change(o, now)
	if err != nil {
		return err
	}
	s.count(c, d.AccountID)
	if c.isNew {
		if err := s.claimFirst(ctx, c, o, d.AccountID, claims); err != nil {
			return err
		}
	}
	if err := c.supersede(d.Target, actorOf(caller)); err != nil {
		return err
	}
	c.site.Number++
	d.WorkspaceID, d.Number, d.Sequence = o.WorkspaceID, c.site.Number, c.nextSequence()
	d.Label, d.CreatedAt = ownLabel(c.site.Label), clock.Stamp(now)
	c.createDeployment(*d)
	if o.Visibility == workspace.Private {
		log, err := s.store.writeNotices(d.ProjectID, d.ID, privateNotice(d.CreatedAt))
		if err != nil {
			return err
		}
		c.add(log)
	}
	if err := c.prune(); err != nil {
		return err
	}
	return c.commit(ctx)
}

// count adds the writes that count a request to deploy, and check that the account may store more output.
func (s *Service) count(c *change, accountID string) {
	c.add(s.counters.Write(s.limits.projectRule(), c.projectID), s.counters.Write(s.limits.accountRule(), accountID))
	c.quota = &quota{accountID, errOutput(s.limits.AccountBytes)}
}

// react is the framework of projects whose pages are usually routed in the browser.
const react = "react"

// claimFirst adds the write that claims the first label of a site, and decides its first settings. Error:
// errLabelTaken.
func (s *Service) claimFirst(ctx context.Context, c *change, o opened, accountID string, claims int) error {
	project, err := db.Decode[struct {
		Slug      string `dynamodbav:"slug"`
		Framework string `dynamodbav:"framework"`
	}](o.Items[db.ProjectKey(o.WorkspaceID, o.ProjectID)])
	if err != nil {
		return err
	}
	c.site.SPA = strings.EqualFold(strings.TrimSpace(project.Framework), react)
	return s.claim(ctx, c, labelOf(project.Slug, claims), accountID)
}

// claim adds the writes that claim a label. Error: errLabelTaken.
func (s *Service) claim(ctx context.Context, c *change, label, accountID string) error {
	stored, err := s.store.Sites.Get(ctx, db.AddressKey(label))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if stored != nil {
		address, err := db.Decode[addressOwner](stored)
		if err != nil {
			return err
		}
		if address.ReservedFor != c.workspaceID {
			return errLabelTaken
		}
	}
	return c.claim(label, stored, accountID)
}

// addressOwner is the attribute of an address that says for which workspace it is reserved.
type addressOwner struct {
	ReservedFor string `dynamodbav:"reservedFor"`
}
