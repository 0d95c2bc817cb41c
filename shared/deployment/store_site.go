package deployment

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/site"
)

// This file contains the changes of what the addresses of a project show.

// Reasons of project.deployed.
const (
	reasonDeploy  = "deploy"
	reasonPromote = "promote"
)

// goLive makes a ready deployment the live one, by the request with a number of the site's sequence. It does nothing if
// a later request has changed the live deployment.
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

// earlier returns the deployments that were live when the deployment next goes live: the live one, and those before it
// that still exist.
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

// isEarlier reports whether the address of the site still serves files of a deployment that was live earlier.
func (c *change) isEarlier(id string) bool {
	return slices.ContainsFunc(c.site.Earlier, func(e site.EarlierDeployment) bool {
		return e.DeploymentID == id && c.now.Unix() < e.Until
	})
}

// goOffline takes the site offline, by a request with the next number of the site's sequence.
func (c *change) goOffline() {
	c.site.LiveSequence = c.nextSequence()
	if c.site.DeploymentID != "" {
		c.site.DeploymentID, c.site.Earlier = "", nil
		c.updateAddress(set("deploymentId", "").Remove(expression.Name("earlier")))
	}
}

func (c *change) nextSequence() int {
	c.site.Sequence++
	return c.site.Sequence
}

// updateAddress changes the address of the site. It keeps attributes that operators set.
func (c *change) updateAddress(update expression.UpdateBuilder) {
	c.add(c.store.Sites.Update(db.AddressKey(c.site.Label), update).If(equals("projectId", c.projectID)))
}

// setSPA changes the setting of the site, and of the own addresses of its deployments.
func (c *change) setSPA(spa bool) {
	c.site.SPA = spa
	for _, d := range c.site.Deployments {
		if d.Status == Ready {
			c.add(c.store.Sites.Update(db.AddressKey(d.Label), set("spa", spa)).If(equals("projectId", c.projectID)))
		}
	}
}

// createSite decides the settings of a new site by the record of its project, and takes its first label. takenLabels is
// the number of labels that were taken before. Error, of this call or of the transaction: errLabelTaken.
func (c *change) createSite(ctx context.Context, item db.Item, accountID string, takenLabels int) error {
	project, err := db.Decode[struct {
		Slug      string `dynamodbav:"slug"`
		Framework string `dynamodbav:"framework"`
	}](item)
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
		ProjectID: c.projectID, WorkspaceID: c.workspaceID, AccountID: accountID, DeploymentID: c.site.DeploymentID,
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
	case before.ReservedFor != c.workspaceID:
		return errLabelTaken
	}
	address.Blocked = before.Blocked // operators set it
	c.isBlocked = before.Blocked
	isBlockUnchanged := hasBlock()
	if !before.Blocked {
		isBlockUnchanged = expression.Not(isBlockUnchanged)
	}
	c.add(c.store.Sites.Put(key, address).If(equals("reservedFor", c.workspaceID).And(isBlockUnchanged)),
		c.store.Projects.Delete(db.LabelKey(c.workspaceID, label)))
	return nil
}

// hasBlock returns the condition that an operator has blocked an address.
func hasBlock() expression.ConditionBuilder { return equals("blocked", true) }
