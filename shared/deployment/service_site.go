package deployment

import (
	"context"
	"errors"

	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// decide changes the site of an opened project, and returns false if nothing has to be written.
type decide func(o *opened, c *change) (bool, error)

// modify opens a project, and a deployment if deploymentID is not "", and stores the change that a decision makes. It
// returns the project after the change. It makes three calls to storage.
func (s *Service) modify(
	ctx context.Context, caller httpapi.Caller, operation, projectID, deploymentID string, d decide,
) (o opened, err error) {
	err = db.Retry(ctx, operation, func(ctx context.Context) error {
		if o, err = s.open(ctx, caller, projectID, deploymentID, workspace.Write); err != nil {
			return err
		}
		if o.siteItem == nil {
			return errNoSite
		}
		c, err := s.change(o, s.now())
		if err != nil {
			return err
		}
		isChanged, err := d(&o, c)
		if err != nil || !isChanged {
			return err
		}
		if err := c.commit(ctx); err != nil {
			return err
		}
		o.site = c.site
		return nil
	})
	return o, err
}

// deploymentOf makes modify require a deployment.
func deploymentOf(d decide) decide {
	return func(o *opened, c *change) (bool, error) {
		if _, ok := c.site.Deployments[o.deployment.ID]; !ok {
			// Another request removes it: the two records were not read at the same time.
			return false, errNotFound
		}
		return d(o, c)
	}
}

// Cancel cancels a deployment that has not ended. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND,
// CONFLICT if it has ended.
func (s *Service) Cancel(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string,
) (DeploymentItem, error) {
	o, err := s.modify(ctx, caller, "cancel a deployment", projectID, deploymentID, deploymentOf(
		func(o *opened, c *change) (bool, error) {
			if c.site.Deployments[deploymentID].Status.hasEnded() {
				return false, errHasEnded
			}
			o.deployment.Status, o.deployment.EndedAt = Canceled, stamp(c.now)
			return true, c.cancel(deploymentID, actorOf(caller))
		}))
	return s.view(o.deployment, o.site), notFound(err)
}

// Promote makes a ready deployment the live one. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, DEPLOYMENT_NOT_FOUND,
// SITES_NOT_CONFIGURED; CONFLICT if it is not ready.
func (s *Service) Promote(
	ctx context.Context, caller httpapi.Caller, projectID, deploymentID string,
) (DeploymentItem, error) {
	o, err := s.modify(ctx, caller, "promote a deployment", projectID, deploymentID, deploymentOf(
		func(_ *opened, c *change) (bool, error) {
			if err := s.configured(); err != nil {
				return false, err
			}
			if c.site.Deployments[deploymentID].Status != Ready {
				return false, errNotReady
			}
			return true, c.goLive(deploymentID, c.nextSequence(), actorOf(caller), reasonPromote)
		}))
	return s.view(o.deployment, o.site), notFound(err)
}

// Delete deletes a deployment that is not live. One that has not ended is canceled. Errors: PROJECT_NOT_FOUND,
// ACCESS_DENIED, DEPLOYMENT_NOT_FOUND; CONFLICT if it is live.
func (s *Service) Delete(ctx context.Context, caller httpapi.Caller, projectID, deploymentID string) error {
	_, err := s.modify(ctx, caller, "delete a deployment", projectID, deploymentID, deploymentOf(
		func(_ *opened, c *change) (bool, error) {
			if c.site.DeploymentID == deploymentID {
				return false, errLive
			}
			return true, c.remove(deploymentID, actorOf(caller))
		}))
	return notFound(err)
}

// notFound converts the error for a project without a site, in an operation on a deployment.
func notFound(err error) error {
	if errors.Is(err, errNoSite) {
		return errNotFound.WithCause(err)
	}
	return err
}

// Site returns the site of a project. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, SITE_NOT_FOUND.
func (s *Service) Site(ctx context.Context, caller httpapi.Caller, projectID string) (SiteItem, error) {
	o, err := s.open(ctx, caller, projectID, "", workspace.Read)
	if err == nil && o.siteItem == nil {
		err = errNoSite
	}
	return s.siteView(o.site), err
}

// SiteSettings are the settings of a site that can be changed. A nil field is not changed.
type SiteSettings struct {
	Label *string
	SPA   *bool
}

// UpdateSite changes the settings of a site. A new label is the address of the site immediately; the old one stays
// reserved for the workspace for 30 days. Errors: PROJECT_NOT_FOUND; ACCESS_DENIED, also if an operator has blocked the
// address whose label would change; SITE_NOT_FOUND, SITES_NOT_CONFIGURED, RATE_LIMITED; CONFLICT if another site has
// the label.
func (s *Service) UpdateSite(
	ctx context.Context, caller httpapi.Caller, projectID string, in SiteSettings,
) (SiteItem, error) {
	o, err := s.modify(ctx, caller, "change a site", projectID, "", func(o *opened, c *change) (bool, error) {
		if err := s.configured(); err != nil {
			return false, err
		}
		isMoved := in.Label != nil && *in.Label != o.site.Label
		isChanged := in.SPA != nil && *in.SPA != o.site.SPA
		if isChanged {
			c.setSPA(*in.SPA)
		}
		if !isMoved {
			if isChanged {
				c.updateAddress(set("spa", *in.SPA))
			}
			return isChanged, nil
		}
		c.add(s.counters.Write(labelRule, c.workspaceID))
		c.leave()
		return true, s.claim(ctx, c, *in.Label, c.accountID())
	})
	return s.siteView(o.site), err
}

// accountID returns the account of the live deployment, otherwise of the latest one. "" if there is none.
func (c *change) accountID() string {
	latest := Summary{}
	for id, d := range c.site.Deployments {
		if id == c.site.DeploymentID {
			return d.AccountID
		}
		if d.Number > latest.Number {
			latest = d
		}
	}
	return latest.AccountID
}

// TakeOffline takes a site offline. Its label and its deployments remain. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// SITE_NOT_FOUND.
func (s *Service) TakeOffline(ctx context.Context, caller httpapi.Caller, projectID string) error {
	_, err := s.modify(ctx, caller, "take a site offline", projectID, "", func(_ *opened, c *change) (bool, error) {
		c.goOffline()
		return true, nil
	})
	return err
}
