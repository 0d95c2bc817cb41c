package deployment

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/job"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// Store stores deployments, sites and addresses. It is safe for concurrent use.
type Store struct {
	DB       *db.Client
	Projects db.Table
	Sites    db.Table
	Outbox   event.Outbox
	Origin   config.Origin // of the sites; "" if they are not configured
	// MaxBuilds is the maximum number of builds of an account that are in progress at the same time. Only Begin uses it.
	MaxBuilds int
	// MaxOutput is the maximum size of the stored output of an account, in bytes.
	MaxOutput int
}

func (s Store) access() workspace.Access { return workspace.Access{Projects: s.Projects} }

func (s Store) jobs() job.Store { return job.Store{DB: s.DB, Projects: s.Projects} }

// change is a change of the site of a project and of its deployments, which becomes one transaction. It begins with the
// site and one deployment as they were read. Its methods change the site, and collect the writes.
type change struct {
	workspace.ProjectAccess

	store        Store
	now          time.Time
	deployment   Deployment // as it was read, or the new one; zero if newChange got no ID, or if it does not exist
	before, site Site       // as it was read, and as it will be
	isNew        bool       // whether the site has no record yet
	isBlocked    bool       // whether an operator has blocked the label that the site takes
	writes       []db.Write
	addedBytes   map[string]int // bytes to add to the stored output, by account
	// writtenIDs contains the IDs of the records that the change writes. A transaction can write a record only once.
	writtenIDs map[string]bool
	spaceFor   string // see needSpace
	noSpace    error
	err        error // the first error of addEvent; nothing is written then
}

// newChange returns a change of the site of a project. The items of a contain the record of the site and of the
// deployment. deploymentID is "" if the change needs no deployment.
func (s Store) newChange(a workspace.ProjectAccess, deploymentID string, now time.Time) (*change, error) {
	item := a.Items[db.SiteKey(a.ProjectID)]
	before, err := db.Decode[Site](item)
	if err != nil {
		return nil, err
	}
	d, err := db.Decode[Deployment](a.Items[db.DeploymentKey(a.ProjectID, deploymentID)])
	c := &change{
		ProjectAccess: a, store: s, now: now, deployment: d, before: before, site: before, isNew: item == nil,
		addedBytes: map[string]int{}, writtenIDs: map[string]bool{},
	}
	c.site.Deployments = map[string]Summary{}
	maps.Copy(c.site.Deployments, before.Deployments)
	return c, err
}

// isEmpty reports whether nothing has to be written.
func (c *change) isEmpty() bool { return len(c.writes) == 0 && c.site.Sequence == c.before.Sequence }

func (c *change) add(writes ...db.Write) { c.writes = append(c.writes, writes...) }

// addEvent adds the event of a deployment. reason is "" for deployment.completed.
func (c *change) addEvent(kind event.Type, id string, actor event.Actor, reason string) {
	d := c.site.Deployments[id]
	w, err := c.store.Outbox.Add(event.Change{
		Type: kind, WorkspaceID: c.WorkspaceID, ProjectID: c.ProjectID,
		Data: event.Data{
			Actor: actor, Project: &event.Project{ID: c.ProjectID, Name: c.Name}, Reason: reason,
			Deployment: &event.Deployment{
				ID: id, Status: string(d.Status), URL: site.URL(c.store.Origin, d.Label), Version: d.Number,
				Target: string(d.Target),
			},
		},
	}, c.now)
	c.err = cmp.Or(c.err, err)
	c.add(w)
}

// createDeployment stores a new deployment with the job that builds it. It cancels the queued deployments with the same
// target.
func (c *change) createDeployment(d Deployment) {
	for _, id := range slices.Sorted(maps.Keys(c.site.Deployments)) {
		if queued := c.site.Deployments[id]; queued.Status == Queued && queued.Target == d.Target {
			c.cancel(id, d.CreatedBy)
		}
	}
	c.deployment = d
	c.site.Deployments[d.ID], c.writtenIDs[d.ID] = d.Summary, true
	c.add(c.store.jobs().Add(newBuildJob(d)), c.store.Projects.Create(db.DeploymentKey(d.ProjectID, d.ID), d))
	if c.Visibility == workspace.Private {
		notice := LogLine{At: d.CreatedAt, Level: Warning, Text: "The project is private. Deploying publishes it: " +
			"everyone who knows the address of the deployment can open it."}
		c.add(c.store.Projects.Put(db.DeploymentLogKey(d.ProjectID, d.ID), logRecord{Notices: []LogLine{notice}}))
	}
	c.prune()
}

// putDeployment stores the record of the deployment that was read, unless its status has changed since then, and its
// summary in the site.
func (c *change) putDeployment(d Deployment) {
	c.site.Deployments[d.ID], c.writtenIDs[d.ID] = d.Summary, true
	c.add(c.store.Projects.Put(db.DeploymentKey(d.ProjectID, d.ID), d).If(equals("status", c.deployment.Status)))
}

// updateDeployment changes attributes of a record that has a summary in the site. The write has no condition, so that a
// damaged record of an old deployment does not prevent all later changes. The condition of commit on the version of the
// site is enough: every change of a status increments the version.
func (c *change) updateDeployment(id string, update expression.UpdateBuilder) {
	c.writtenIDs[id] = true
	c.add(c.store.Projects.Update(db.DeploymentKey(c.ProjectID, id), update))
}

// cancel cancels a deployment that has not ended. A build that a worker has begun counts as in progress until the
// worker stops.
func (c *change) cancel(id string, actor event.Actor) {
	update := set("status", Canceled).Set(expression.Name("endedAt"), expression.Value(clock.Stamp(c.now).String()))
	c.updateDeployment(id, update)
	c.removeOutput(id)
	c.markCanceled(id, actor)
}

// removeOutput replaces the job of a deployment with the removal of its objects, which also ends its build. If a worker
// may still write objects, the removal waits until the lease of the worker has expired.
func (c *change) removeOutput(id string) {
	d, after := c.site.Deployments[id], c.now
	if d.Status == Building || d.Status == Canceled {
		after = c.now.Add(job.LeaseTime)
	}
	c.add(c.store.jobs().Add(job.New(RemovalJob, c.ProjectID, id, d.AccountID, c.now).After(after)))
}

// markCanceled makes a deployment canceled in the record of the site, and adds its event.
func (c *change) markCanceled(id string, actor event.Actor) {
	d := c.site.Deployments[id]
	d.Status = Canceled
	c.site.Deployments[id] = d
	c.addEvent(event.DeploymentCompleted, id, actor, "")
}

// remove hides a deployment that is not live from clients, and adds the job that removes it. If the deployment has not
// ended, it is canceled first.
func (c *change) remove(id string, actor event.Actor) {
	d := c.site.Deployments[id]
	c.updateDeployment(id, set("status", Removing))
	c.removeOutput(id)
	if !d.Status.hasEnded() {
		c.markCanceled(id, actor)
	}
	if d.Status == Ready {
		c.add(c.store.Sites.Delete(db.AddressKey(d.Label)))
		c.addedBytes[d.AccountID] -= d.Bytes
	}
	delete(c.site.Deployments, id)
}

// maxPruned is the maximum number of deployments that one change prunes. The next change continues.
const maxPruned = 10

// prune removes deployments that have ended. It keeps the live deployment, the last maxKept deployments, deployments
// whose files are still available at the address of the site, and deployments that this change writes.
func (c *change) prune() {
	kept := map[string]bool{}
	for _, e := range c.site.Earlier {
		kept[e.DeploymentID] = c.now.Unix() < e.Until
	}
	kept[c.site.DeploymentID] = true
	pruned := 0
	ids := slices.SortedFunc(maps.Keys(c.site.Deployments), func(a, b string) int {
		return cmp.Compare(c.site.Deployments[b].Number, c.site.Deployments[a].Number)
	})
	for _, id := range ids[min(maxKept, len(ids)):] {
		if c.site.Deployments[id].Status.hasEnded() && !kept[id] && !c.writtenIDs[id] && pruned < maxPruned {
			c.remove(id, event.Actor{})
			pruned++
		}
	}
}

// commit executes the transaction. Call it within db.Retry. Errors: the first error of addEvent; PROJECT_NOT_FOUND if
// the project does not exist; the failure of a write whose condition failed; db.ErrStale.
func (c *change) commit(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	isAddressChanged := c.isNew || c.site.Label != c.before.Label
	isLiveChanged := c.site.DeploymentID != c.before.DeploymentID
	if isAddressChanged || isLiveChanged || c.site.SPA != c.before.SPA {
		c.site.UpdatedAt = clock.Stamp(c.now)
	}
	c.site.Version = c.before.Version + 1
	key := db.SiteKey(c.ProjectID)
	put := c.store.Projects.Create(key, c.site)
	if !c.isNew {
		put = c.store.Projects.Put(key, c.site).If(equals("version", c.before.Version))
	}
	tx := c.store.DB.Tx(c.store.access().ProjectExists(c.ProjectID), put)
	tx.Add(c.writes...)
	if isAddressChanged || isLiveChanged { // the record of the project has a summary
		update := set("site", site.Summary{Label: c.site.Label, DeploymentID: c.site.DeploymentID})
		if isAddressChanged { // operators set siteBlocked, so it only changes with the label
			update = update.Set(expression.Name("siteBlocked"), expression.Value(c.isBlocked))
		}
		tx.Add(c.store.Projects.Update(db.ProjectKey(c.WorkspaceID, c.ProjectID), update).If(c.store.Projects.Exists()))
	}
	tx.Add(c.outputWrites()...)
	return tx.CommitOnce(ctx)
}

// needSpace makes the transaction fail with noSpace if the account has no space for the output that the change adds, or
// for one byte if it adds none.
func (c *change) needSpace(account string, noSpace error) {
	c.spaceFor, c.noSpace = account, noSpace
	c.addedBytes[account] += 0 // lists the account for outputWrites
}

// outputWrites returns the writes that count the stored output of accounts, and the check of needSpace.
func (c *change) outputWrites() (writes []db.Write) {
	for _, account := range slices.Sorted(maps.Keys(c.addedBytes)) {
		n, key := c.addedBytes[account], db.OutputKey(account)
		hasSpace := expression.AttributeNotExists(attrBytes).
			Or(attrBytes.LessThanEqual(expression.Value(c.store.MaxOutput - max(n, 1))))
		count := c.store.Projects.Update(key, expression.Add(attrBytes, expression.Value(n)))
		needsSpace := account == c.spaceFor
		switch {
		case needsSpace && n == 0:
			writes = append(writes, c.store.Projects.Check(key, hasSpace).Else(c.noSpace))
		case needsSpace:
			writes = append(writes, count.If(hasSpace).Else(c.noSpace))
		case n != 0:
			writes = append(writes, count)
		}
	}
	return writes
}

var attrBytes = expression.Name("bytes")

func set(attribute string, value any) expression.UpdateBuilder {
	return expression.Set(expression.Name(attribute), expression.Value(value))
}

func equals(attribute string, value any) expression.ConditionBuilder {
	return expression.Name(attribute).Equal(expression.Value(value))
}
