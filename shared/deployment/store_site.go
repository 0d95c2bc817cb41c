package deployment

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/site"
)

// This file contains the record of a site, and the changes of the deployments that the addresses of a project show.

const (
	// earlierTime is the time for which the files with hashed names of a deployment stay available at the address of the
	// site after another deployment went live.
	earlierTime = 7 * 24 * time.Hour
	// maxEarlier is the maximum number of earlier live deployments whose files stay available.
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

// Reasons of project.deployed.
const (
	reasonDeploy  = "deploy"
	reasonPromote = "promote"
)

// goLive makes a ready deployment the live one. sequence is the number of the request. goLive does nothing if a later
// request has changed the live deployment.
func (c *change) goLive(id string, sequence int, actor event.Actor, reason string) {
	if sequence < c.site.LiveSequence {
		return
	}
	c.site.LiveSequence = sequence
	if c.site.DeploymentID == id {
		return
	}
	c.site.Earlier = c.earlier(id)
	c.site.DeploymentID = id
	c.updateAddress(set("deploymentId", id).
		Set(expression.Name("earlier"), expression.Value(c.site.Earlier)).
		Set(expression.Name("manifest"), expression.Value(c.site.Deployments[id].Manifest)).
		Set(expression.Name("accountId"), expression.Value(c.site.Deployments[id].AccountID)))
	c.addEvent(event.ProjectDeployed, id, actor, reason)
}

// earlier returns the value of Site.Earlier after the deployment next has gone live: the deployment that is live now,
// and the earlier deployments that still exist.
func (c *change) earlier(next string) []site.EarlierDeployment {
	var all []site.EarlierDeployment
	if live := c.site.DeploymentID; live != "" {
		label, until := c.site.Deployments[live].Label, c.now.Add(earlierTime).Unix()
		all = append(all, site.EarlierDeployment{DeploymentID: live, Label: label, Until: until})
	}
	for _, e := range c.site.Earlier {
		if _, exists := c.site.Deployments[e.DeploymentID]; exists && e.DeploymentID != next && len(all) < maxEarlier {
			all = append(all, e)
		}
	}
	return all
}

// goOffline takes the site offline, by a request with the next number of the site's sequence.
func (c *change) goOffline() {
	c.site.Sequence++
	c.site.LiveSequence = c.site.Sequence
	if c.site.DeploymentID != "" {
		c.site.DeploymentID, c.site.Earlier = "", nil
		c.updateAddress(set("deploymentId", "").Remove(expression.Name("earlier")))
	}
}

// updateAddress changes the address of the site. It keeps attributes that operators set.
func (c *change) updateAddress(update expression.UpdateBuilder) {
	c.add(c.store.Sites.Update(db.AddressKey(c.site.Label), update).If(equals("projectId", c.ProjectID)))
}

// setSPA changes the setting of the site, and of the own addresses of its deployments.
func (c *change) setSPA(spa bool) {
	c.site.SPA = spa
	for _, d := range c.site.Deployments {
		if d.Status == Ready {
			c.add(c.store.Sites.Update(db.AddressKey(d.Label), set("spa", spa)).If(equals("projectId", c.ProjectID)))
		}
	}
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

// createSite decides the settings of a new site by the record of its project, and takes its first label. takenLabels is
// the number of earlier attempts whose label was taken. Error, of this call or of the transaction: errLabelTaken.
func (c *change) createSite(ctx context.Context, accountID string, takenLabels int) error {
	project, err := db.Decode[struct {
		Slug      string `dynamodbav:"slug"`
		Framework string `dynamodbav:"framework"`
	}](c.Items[db.ProjectKey(c.WorkspaceID, c.ProjectID)])
	if err != nil {
		return err
	}
	// The pages of such projects are usually routed in the browser.
	c.site.SPA = strings.EqualFold(strings.TrimSpace(project.Framework), "react")
	return c.takeLabel(ctx, firstLabel(project.Slug, takenLabels), accountID)
}

// takeLabel makes a label that is free, or reserved for the workspace, the address of the site. It makes one call to
// storage. Error, of this call or of the transaction: errLabelTaken.
func (c *change) takeLabel(ctx context.Context, label, accountID string) error {
	key := db.AddressKey(label)
	item, err := c.store.Sites.Get(ctx, key)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	c.site.Label = label
	address := site.Address{
		ProjectID: c.ProjectID, WorkspaceID: c.WorkspaceID, AccountID: accountID, DeploymentID: c.site.DeploymentID,
		Manifest: c.site.Deployments[c.site.DeploymentID].Manifest, Production: true, SPA: c.site.SPA,
		Earlier: c.site.Earlier,
	}
	if item == nil {
		c.add(c.store.Sites.Create(key, address).Else(errLabelTaken))
		return nil
	}
	before, err := db.Decode[site.Address](item)
	switch {
	case err != nil:
		return err
	case before.ReservedFor != c.WorkspaceID:
		return errLabelTaken
	}
	address.Blocked = before.Blocked // operators set it
	c.isBlocked = before.Blocked
	isBlockUnchanged := hasBlock()
	if !before.Blocked {
		isBlockUnchanged = expression.Not(isBlockUnchanged)
	}
	c.add(c.store.Sites.Put(key, address).If(equals("reservedFor", c.WorkspaceID).And(isBlockUnchanged)),
		c.store.Projects.Delete(db.LabelKey(c.WorkspaceID, label)))
	return nil
}

// hasBlock returns the condition that an operator has blocked an address.
func hasBlock() expression.ConditionBuilder { return equals("blocked", true) }
