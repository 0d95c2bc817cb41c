package deployment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/event"
	"devplatform/shared/excerpt"
	"devplatform/shared/job"
	"devplatform/shared/project/setting"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
	"devplatform/shared/workspace/record"
)

// Begin begins an attempt to build a deployment, for the worker with j, and returns the deployment: a queued one
// becomes building. Errors: job.ErrLost; job.ErrBusy if the account has reached its limit of builds in progress.
func (s Store) Begin(ctx context.Context, j job.Job, now time.Time) (d Deployment, err error) {
	err = db.Retry(ctx, "begin a build", func(ctx context.Context) error {
		p, err := s.readBuild(ctx, j)
		if err != nil {
			return err
		}
		builds := db.BuildsKey(j.Group)
		items, err := s.readInUse(ctx, j, &p, now, builds)
		if err != nil {
			return err
		}
		slot, err := s.beginBuild(j, items[builds], now)
		if err != nil {
			return err
		}
		d = p.deployment
		d.Status = Building
		if d.StartedAt == nil {
			d.StartedAt = new(clock.Stamp(now))
		}
		c := s.newChange(p, now)
		c.putDeployment(d, equals("status", p.deployment.Status))
		c.add(slot, s.jobs().Hold(j))
		return asLost(c.commit(ctx))
	})
	return d, err
}

// readBuild reads a deployment that is queued or building, and its site. If there is none, it ends the job. Error:
// job.ErrLost.
func (s Store) readBuild(ctx context.Context, j job.Job) (state, error) {
	p, err := s.read(ctx, j.OwnerID, j.ID)
	if err != nil || p.hasSite && p.deployment.ID != "" && !p.deployment.Status.hasEnded() {
		return p, err
	}
	if err := s.jobs().Finish(ctx, j); err != nil {
		return p, err
	}
	return p, job.ErrLost
}

// readInUse reads the items that a build needs before it begins and before its outcome is stored: the project, whose
// name p gets, and more items. If the build must stop, it ends the job: if the workspace has ended, it leaves the rest
// to the removal of the workspace. If the workspace is read-only, the account of the user who deployed is suspended, or
// an operator has blocked the project, it cancels the deployment. It makes one call to storage. Error: job.ErrLost.
func (s Store) readInUse(
	ctx context.Context, j job.Job, p *state, now time.Time, more ...db.Key,
) (map[db.Key]db.Item, error) {
	project, ws := db.ProjectKey(p.WorkspaceID, j.OwnerID), db.WorkspaceKey(p.WorkspaceID)
	member := db.MemberKey(p.WorkspaceID, p.deployment.CreatedBy.ID)
	items, err := s.Projects.BatchGet(ctx, append(more, project, ws, member)...)
	if err != nil {
		return nil, err
	}
	w, err := record.Decode(items[ws])
	if err == nil && w == nil {
		if err = s.jobs().Finish(ctx, j); err == nil {
			err = job.ErrLost
		}
	}
	if err != nil {
		return nil, err
	}
	if items[project] == nil {
		return nil, fmt.Errorf("%w: %w", job.ErrLost, workspace.ErrProjectNotFound)
	}
	named, err := db.Decode[workspace.ProjectAccess](items[project]) // events contain its name
	if err != nil {
		return nil, err
	}
	p.Name = named.Name
	by, err := db.Decode[workspace.Membership](items[member])
	if err != nil || !w.IsReadOnly() && !by.Suspended && !p.site.Blocked {
		return items, err
	}
	c := s.newChange(*p, now)
	c.cancel(j.ID, p.deployment.CreatedBy)
	if err := asLost(c.commit(ctx)); err != nil {
		return nil, err
	}
	return nil, job.ErrLost
}

// asLost returns job.ErrLost if a change failed because the project was deleted.
func asLost(err error) error {
	if errors.Is(err, workspace.ErrProjectNotFound) {
		return fmt.Errorf("%w: %w", job.ErrLost, err)
	}
	return err
}

// Outcome is the result of a build.
type Outcome struct {
	// Error is the reason why the build failed. nil if the deployment is ready: all its objects are stored.
	Error *failure.Error
	Files int // number of files of the output
	Bytes int // of the output, not compressed
	// Manifest is the SHA-256 of the manifest of the output.
	Manifest []byte
	// HashedPaths are the files of the output with hashed names.
	HashedPaths site.PathSet
	// Log is the log of the attempt. It replaces the log of earlier attempts. nil keeps it.
	Log []LogLine
}

// applyTo returns a deployment with the outcome.
func (o Outcome) applyTo(d Deployment, now time.Time) Deployment {
	d.EndedAt = new(clock.Stamp(now))
	if o.Error != nil {
		short := *o.Error
		short.Message, short.Path = excerpt.Start(short.Message, maxText), excerpt.Start(short.Path, maxPath)
		d.Status, d.Error = Failed, &short
		return d
	}
	d.Status, d.ReadyAt = Ready, d.EndedAt
	d.Files, d.Bytes, d.Manifest, d.HashedPaths = o.Files, o.Bytes, o.Manifest, o.HashedPaths
	return d
}

// Finish ends a deployment and its job, for the worker with j: the deployment becomes ready or failed, and goes live if
// its target is production and no later request has changed the live deployment. It returns the deployment as it is
// stored. Errors: job.ErrLost; *failure.Error if the output would exceed the limit of the account: the deployment is
// still building, and the worker must finish it with this error.
func (s Store) Finish(ctx context.Context, j job.Job, o Outcome, now time.Time) (d Deployment, err error) {
	err = db.Retry(ctx, "finish a build", func(ctx context.Context) error {
		p, err := s.readBuild(ctx, j)
		if err != nil {
			return err
		}
		if _, err := s.readInUse(ctx, j, &p, now); err != nil {
			return err
		}
		d = o.applyTo(p.deployment, now)
		c := s.newChange(p, now)
		c.putDeployment(d, equals("status", p.deployment.Status))
		c.finish(j, d, o.Log)
		return asLost(c.commit(ctx))
	})
	return d, err
}

// finish adds what follows from a deployment that has become ready or failed, and from the end of its job.
func (c *change) finish(j job.Job, d Deployment, log []LogLine) {
	end := c.store.jobs().End(j)
	if d.Status == Failed { // its workers may have stored objects
		end = c.store.jobs().Replace(j, job.New(RemovalJob, d.ProjectID, d.ID, d.AccountID, c.now).After(c.now))
	}
	c.add(end, c.store.endBuild(j))
	if len(log) > 0 { // it replaces the log of an earlier attempt
		item, err := db.Encode(logRecord{Lines: fitLog(log)})
		c.err = cmp.Or(c.err, err)
		c.add(c.store.Projects.Update(db.DeploymentLogKey(d.ProjectID, d.ID), set("lines", item["lines"])))
	}
	c.addEvent(event.DeploymentCompleted, d.ID, d.CreatedBy, "")
	if d.Status == Ready {
		c.addedBytes[d.AccountID] += d.Bytes
		c.add(c.store.Sites.Create(db.AddressKey(d.Label), site.Address{
			ProjectID: c.projectID, WorkspaceID: c.workspaceID, AccountID: d.AccountID, DeploymentID: d.ID,
			Manifest: d.Manifest, SPA: c.site.SPA, HashedPaths: d.HashedPaths,
		}))
	}
	if d.Status == Ready && d.Target == Production {
		c.goLive(d.ID, d.Sequence, d.CreatedBy, reasonDeploy)
	}
	c.prune()
	if c.addedBytes[d.AccountID] > 0 {
		c.quota = &quota{d.AccountID, errNoSpace(c.store.MaxOutput)}
	}
}

// beginBuild returns the write that adds a build to the builds in progress of its account, with the end of its lease,
// and removes the builds whose lease has expired. item is the item of these builds, which has one attribute for each of
// them. Its version changes whenever a build is added, so that two workers cannot both add the last one. Error:
// job.ErrBusy.
func (s Store) beginBuild(j job.Job, item db.Item, now time.Time) (db.Write, error) {
	version := expression.Name("version")
	update := expression.Add(version, expression.Value(1)).
		Set(expression.Name(j.ID), expression.Value(j.LeaseEnds.String()))
	n, past, never := 0, clock.Stamp(now).String(), clock.Stamp(now.Add(2*job.LeaseTime)).String()
	for name, value := range item {
		ends, isText := value.(*types.AttributeValueMemberS)
		switch {
		case !isText || name == db.AttrPK || name == db.AttrSK || name == j.ID:
		case ends.Value > past && ends.Value < never: // a lease that ends later is damaged
			n++
		default:
			update = update.Remove(expression.Name(name))
		}
	}
	if n >= s.MaxBuilds {
		return db.Write{}, job.ErrBusy
	}
	isUnchanged := expression.AttributeNotExists(version)
	if before := item["version"]; before != nil {
		isUnchanged = version.Equal(expression.Value(before))
	}
	return s.Projects.Update(db.BuildsKey(j.Group), update).If(isUnchanged), nil
}

// EndBuild ends an attempt to build that has no outcome, so that the account can start another build.
func (s Store) EndBuild(ctx context.Context, j job.Job) error {
	_, err := s.DB.Do(ctx, s.endBuild(j).If(equals(j.ID, j.LeaseEnds.String())))
	if errors.Is(err, db.ErrConditionFailed) {
		return nil // another worker builds the deployment, or the build has ended already
	}
	return err
}

// endBuild returns the write that removes a build from the builds in progress of its account.
func (s Store) endBuild(j job.Job) db.Write {
	return s.Projects.Update(db.BuildsKey(j.Group), expression.Remove(expression.Name(j.ID)))
}

// FinishRemoval ends the removal of the objects of a deployment, for the worker with j. It deletes the records of a
// deployment that is removing, or whose project was deleted. Error: job.ErrLost.
func (s Store) FinishRemoval(ctx context.Context, j job.Job) error {
	p, err := s.read(ctx, j.OwnerID, j.ID)
	if err != nil {
		return err
	}
	if p.WorkspaceID != "" && p.deployment.Status != Removing {
		return s.jobs().Finish(ctx, j)
	}
	return s.jobs().Finish(ctx, j, s.Projects.Delete(db.DeploymentKey(j.OwnerID, j.ID)),
		s.Projects.Delete(db.DeploymentLogKey(j.OwnerID, j.ID)))
}

// BuildSettings are the settings of a project that a build uses.
type BuildSettings struct {
	Framework string `dynamodbav:"framework"`
	RootDir   string `dynamodbav:"rootDir"` // the folder that is built; "" if the build finds it
	// Variables are the values of the variables that the deployment gets, by name.
	Variables map[string]string `dynamodbav:"-"`
}

// BuildSettings returns the settings of a deployment's project, with the variables for the deployment's target. It
// makes one call to storage. Error: PROJECT_NOT_FOUND.
func (s Store) BuildSettings(ctx context.Context, d Deployment) (b BuildSettings, err error) {
	project, variables := db.ProjectKey(d.WorkspaceID, d.ProjectID), db.VariablesKey(d.ProjectID)
	items, err := s.Projects.BatchGet(ctx, project, variables)
	if err != nil {
		return b, err
	}
	if items[project] == nil {
		return b, workspace.ErrProjectNotFound
	}
	if b, err = db.Decode[BuildSettings](items[project]); err != nil {
		return b, err
	}
	stored, err := db.Decode[struct {
		Variables []setting.Variable `dynamodbav:"variables"`
	}](items[variables])
	b.Variables = setting.Values(stored.Variables, setting.Target(d.Target))
	return b, err
}

// read reads a deployment with the site of its project, for a worker. If the project does not exist, the result has no
// WorkspaceID.
func (s Store) read(ctx context.Context, projectID, deploymentID string) (state, error) {
	site, key := db.SiteKey(projectID), db.DeploymentKey(projectID, deploymentID)
	access, err := s.access().Locate(ctx, projectID, s.Projects.Refs(site, key)...)
	if errors.Is(err, workspace.ErrProjectNotFound) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	return stateOf(access, deploymentID)
}
