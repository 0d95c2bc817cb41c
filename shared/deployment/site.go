package deployment

import (
	"context"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

const (
	// earlierTime is the time for which the files with hashed names of a deployment stay available at the address of the
	// site after another deployment went live.
	earlierTime = 7 * 24 * time.Hour
	// maxEarlier is the number of deployments that were live earlier whose files stay available.
	maxEarlier = 5
	// reservedTime is the time for which a label that was given up stays reserved for its workspace.
	reservedTime = 30 * 24 * time.Hour
)

// Site is the record of a project's site, in the projects table under db.SiteKey. It exists from the first deployment
// on. The attribute names are part of the data format.
type Site struct {
	Label string `dynamodbav:"label"` // of the site's address
	SPA   bool   `dynamodbav:"spa"`
	// DeploymentID is the live deployment. "" if the site is offline.
	DeploymentID string `dynamodbav:"deploymentId"`
	// Earlier are the deployments that were live since the site was last offline, the latest first. They may have expired
	// or been removed.
	Earlier []site.EarlierDeployment `dynamodbav:"earlier,omitempty"`
	// Sequence is the last number that was taken, and LiveSequence the number of the request that last changed the live
	// deployment.
	Sequence     int             `dynamodbav:"sequence"`
	LiveSequence int             `dynamodbav:"liveSequence"`
	Number       int             `dynamodbav:"number"`  // of the last deployment
	Version      int             `dynamodbav:"version"` // incremented by every transaction that changes the record
	UpdatedAt    clock.Timestamp `dynamodbav:"updatedAt"`
	// Blocked reports that an operator has blocked the project: nothing is built or made live, and all its addresses are
	// blocked.
	Blocked bool `dynamodbav:"blocked,omitempty"`
	// Deployments are the deployments that are not removed, by ID.
	Deployments map[string]Summary `dynamodbav:"deployments"`
}

// SiteSettings are the settings of a site that can be changed. A nil field is not changed.
type SiteSettings struct {
	Label *string
	SPA   *bool
}

// ReadSite returns the site of a project. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, SITE_NOT_FOUND.
func (s *Service) ReadSite(ctx context.Context, caller httpapi.Caller, projectID string) (SiteItem, error) {
	p, err := s.open(ctx, caller, projectID, "", workspace.Read)
	if err == nil && !p.hasSite {
		err = errNoSite
	}
	return p.site.item(s.store.Origin), err
}

// UpdateSite changes the settings of a site. A new label is the address of the site immediately; the old one stays
// reserved for the workspace for 30 days. Errors: PROJECT_NOT_FOUND; ACCESS_DENIED, also if an operator has blocked the
// address whose label would change; SITE_NOT_FOUND, SITES_NOT_CONFIGURED, RATE_LIMITED; CONFLICT if another site has
// the label.
func (s *Service) UpdateSite(
	ctx context.Context, caller httpapi.Caller, projectID string, in SiteSettings,
) (SiteItem, error) {
	p, err := s.modify(ctx, caller, "change a site", projectID, "", func(c *change) error {
		if err := s.checkConfigured(); err != nil {
			return err
		}
		if in.SPA != nil && *in.SPA != c.site.SPA {
			c.setSPA(*in.SPA)
		}
		switch {
		case in.Label != nil && *in.Label != c.site.Label:
			c.add(s.counters.Write(labelRule, c.workspaceID))
			c.leaveLabel()
			return c.takeLabel(ctx, *in.Label, c.site.accountID())
		case c.site.SPA != c.before.SPA:
			c.updateAddress(set("spa", c.site.SPA))
		}
		return nil
	})
	return p.site.item(s.store.Origin), err
}

// accountID returns the account of the live deployment, otherwise of the latest one. "" if there is none.
func (s Site) accountID() string {
	if live, ok := s.Deployments[s.DeploymentID]; ok {
		return live.AccountID
	}
	latest := Summary{}
	for _, d := range s.Deployments {
		if d.Number > latest.Number {
			latest = d
		}
	}
	return latest.AccountID
}

// TakeSiteOffline takes a site offline. Its label and its deployments remain. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// SITE_NOT_FOUND.
func (s *Service) TakeSiteOffline(ctx context.Context, caller httpapi.Caller, projectID string) error {
	_, err := s.modify(ctx, caller, "take a site offline", projectID, "", func(c *change) error {
		c.goOffline()
		return nil
	})
	return err
}
