package deployment

import (
	"slices"

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
func (c *change) goLive(id string, sequence int, actor event.Actor, reason string) error {
	if sequence < c.site.LiveSequence {
		return nil
	}
	c.site.LiveSequence = sequence
	if c.site.DeploymentID == id {
		return nil
	}
	c.site.Earlier = c.earlier(id)
	c.site.DeploymentID = id
	c.updateAddress(set("deploymentId", id).
		Set(expression.Name("earlier"), expression.Value(c.site.Earlier)).
		Set(expression.Name("manifest"), expression.Value(c.site.Deployments[id].Manifest)).
		Set(expression.Name("accountId"), expression.Value(c.site.Deployments[id].AccountID)))
	return c.addEvent(event.ProjectDeployed, id, actor, reason)
}

// earlier returns the deployments that were live when the deployment next goes live: the live one, and those before it
// that still exist.
func (c *change) earlier(next string) []site.Earlier {
	var all []site.Earlier
	if live := c.site.DeploymentID; live != "" {
		label, until := c.site.Deployments[live].Label, c.now.Add(earlierTime).Unix()
		all = append(all, site.Earlier{DeploymentID: live, Label: label, Until: until})
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
	return slices.ContainsFunc(c.site.Earlier, func(e site.Earlier) bool {
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
func (c *change) updateAddress(update expression.UpdateBuilder) { c.add(c.addressUpdate(update)) }

func (c *change) addressUpdate(update expression.UpdateBuilder) db.Write {
	return c.store.Sites.Update(db.AddressKey(c.site.Label), update).If(equals("projectId", c.projectID))
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

// addAddress adds the own address of a deployment that is ready.
func (c *change) addAddress(d Deployment) {
	c.add(c.store.Sites.Create(db.AddressKey(d.Label), site.Address{
		ProjectID: c.projectID, AccountID: d.AccountID, DeploymentID: d.ID, Manifest: d.Manifest, SPA: c.site.SPA,
		Hashed: d.Hashed,
	}))
}

// summaryWrites returns the write that stores what has changed of the site in the record of its project. Operators set
// siteBlocked, so it only changes with the label.
func (c *change) summaryWrites() []db.Write {
	label, deploymentID := c.site.Label, c.site.DeploymentID
	isMoved := c.isNew || label != c.before.Label
	if !isMoved && deploymentID == c.before.DeploymentID {
		return nil
	}
	update := set("site", site.Summary{Label: label, DeploymentID: deploymentID})
	if isMoved {
		update = update.Set(expression.Name("siteBlocked"), expression.Value(c.isBlocked))
	}
	return []db.Write{
		c.store.Projects.Update(db.ProjectKey(c.workspaceID, c.projectID), update).If(c.store.Projects.Exists()),
	}
}

// claim makes a label that is free, or reserved for the workspace, the address of the site. stored is the address as it
// was read, nil if there is none. Error of the transaction: errLabelTaken.
func (c *change) claim(label string, stored db.Item, accountID string) error {
	c.site.Label = label
	address := site.Address{
		ProjectID: c.projectID, AccountID: accountID, DeploymentID: c.site.DeploymentID,
		Manifest: c.site.Deployments[c.site.DeploymentID].Manifest, Production: true, SPA: c.site.SPA,
		Earlier: c.site.Earlier,
	}
	if stored == nil {
		c.add(c.store.Sites.Create(db.AddressKey(label), address).Else(errLabelTaken))
		return nil
	}
	update := set("projectId", address.ProjectID).
		Set(expression.Name("accountId"), expression.Value(address.AccountID)).
		Set(expression.Name("deploymentId"), expression.Value(address.DeploymentID)).
		Set(expression.Name("manifest"), expression.Value(address.Manifest)).
		Set(expression.Name("earlier"), expression.Value(address.Earlier)).
		Set(expression.Name("production"), expression.Value(true)).
		Set(expression.Name("spa"), expression.Value(address.SPA)).
		Remove(expression.Name("reservedFor")).Remove(expression.Name(db.AttrExpiresAt))
	before, err := db.Decode[site.Address](stored)
	c.isBlocked = before.Blocked
	block := isBlocked()
	if !before.Blocked {
		block = expression.Not(block)
	}
	c.add(c.store.Sites.Update(db.AddressKey(label), update).If(equals("reservedFor", c.workspaceID).And(block)))
	return err
}

// giveUp reserves the label of the site for the workspace.
func (c *change) giveUp() { c.add(c.reserve()) }

// leave is like giveUp, for a site that moves to another label. Error of the transaction: errBlocked.
func (c *change) leave() { c.add(c.reserve().If(expression.Not(isBlocked())).Else(errBlocked)) }

// isBlocked returns the condition that an operator has blocked an address.
func isBlocked() expression.ConditionBuilder { return equals("blocked", true) }

func (c *change) reserve() db.Write {
	return c.addressUpdate(set("deploymentId", "").
		Set(expression.Name("reservedFor"), expression.Value(c.workspaceID)).
		Set(expression.Name(db.AttrExpiresAt), expression.Value(c.now.Add(reservedTime).Unix())))
}
