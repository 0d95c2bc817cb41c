package deployment

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// Begin begins an attempt to build a deployment, for the worker that claimed j, and returns the deployment. A queued
// deployment becomes building. Errors: job.ErrLost; job.ErrBusy if the account has reached its limit of builds in
// progress.
func (s Store) Begin(ctx context.Context, j job.Job, now time.Time) (d Deployment, err error) {
	builds := db.BuildsKey(j.Group)
	err = s.modifyBuild(ctx, "begin a build", j, now, func(c *change) error {
		d = c.deployment
		d.Status = Building
		if d.StartedAt == nil {
			d.StartedAt = new(clock.Stamp(now))
		}
		slot, err := s.beginBuild(j, c.Items[builds], now)
		if err != nil {
			return err
		}
		c.putDeployment(d)
		c.add(slot, s.jobs().Hold(j))
		return nil
	}, builds)
	return d, err
}

// modifyBuild opens the build of the worker that claimed j. It calls decide, which makes a change, and commits the
// change. It makes three calls to storage. Errors: job.ErrLost, also if the project was deleted; the errors of decide.
func (s Store) modifyBuild(
	ctx context.Context, operation string, j job.Job, now time.Time, decide func(c *change) error, more ...db.Key,
) error {
	return db.Retry(ctx, operation, func(ctx context.Context) error {
		c, err := s.openBuild(ctx, j, now, more...)
		if err == nil {
			err = decide(c)
		}
		if err == nil {
			err = c.commit(ctx)
		}
		if errors.Is(err, workspace.ErrProjectNotFound) {
			return fmt.Errorf("%w: %w", job.ErrLost, err)
		}
		return err
	})
}

// openBuild reads a deployment that is queued or building, its site, its project and more items. If the build must
// stop, openBuild ends the job and returns job.ErrLost. It also cancels the deployment if the workspace is read-only,
// if the account of the user who deployed is suspended, or if an operator has blocked the project. If the workspace has
// ended, its removal removes the deployment. openBuild makes two calls to storage. Errors: job.ErrLost;
// PROJECT_NOT_FOUND if the project is being deleted.
func (s Store) openBuild(ctx context.Context, j job.Job, now time.Time, more ...db.Key) (c *change, err error) {
	located, err := s.access().Locate(ctx, j.OwnerID,
		s.Projects.Refs(db.SiteKey(j.OwnerID), db.DeploymentKey(j.OwnerID, j.ID))...)
	if err == nil {
		c, err = s.newChange(located, j.ID, now)
	}
	isDeleted := errors.Is(err, workspace.ErrProjectNotFound)
	switch {
	case err != nil && !isDeleted:
		return nil, err
	case isDeleted, c.isNew, c.deployment.ID == "", c.deployment.Status.hasEnded():
		return nil, lost(s.jobs().Finish(ctx, j))
	}
	projectKey, workspaceKey := db.ProjectKey(c.WorkspaceID, j.OwnerID), db.WorkspaceKey(c.WorkspaceID)
	creatorKey := db.MemberKey(c.WorkspaceID, c.deployment.CreatedBy.ID)
	items, err := s.Projects.BatchGet(ctx, append(more, projectKey, workspaceKey, creatorKey)...)
	if err != nil {
		return nil, err
	}
	w, err := record.Decode(items[workspaceKey])
	switch {
	case err != nil:
		return nil, err
	case w == nil:
		return nil, lost(s.jobs().Finish(ctx, j))
	case items[projectKey] == nil:
		return nil, workspace.ErrProjectNotFound
	}
	project, err := db.Decode[workspace.ProjectAccess](items[projectKey])
	if err != nil {
		return nil, err
	}
	c.Name = project.Name // events contain it
	maps.Copy(c.Items, items)
	creator, err := db.Decode[workspace.Membership](items[creatorKey])
	mustStop := w.IsReadOnly() || creator.Suspended || c.site.Blocked
	if err != nil || !mustStop {
		return c, err
	}
	c.cancel(j.ID, c.deployment.CreatedBy)
	return nil, lost(c.commit(ctx))
}

// lost returns job.ErrLost after a write that ended the job of the caller, or the error of the write.
func lost(err error) error {
	if err != nil {
		return err
	}
	return job.ErrLost
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

// Finish ends a deployment and its job, for the worker that claimed j: the deployment becomes ready or failed, and goes
// live if its target is production and no later request has changed the live deployment. It returns the deployment as
// it is stored. Errors: job.ErrLost; *failure.Error if the output would exceed the limit of the account: the deployment
// is still building, and the worker must finish it with this error.
func (s Store) Finish(ctx context.Context, j job.Job, o Outcome, now time.Time) (d Deployment, err error) {
	err = s.modifyBuild(ctx, "finish a build", j, now, func(c *change) error {
		d = c.deployment
		d.EndedAt = new(clock.Stamp(now))
		end := s.jobs().End(j)
		if o.Error != nil {
			failed := *o.Error
			failed.Message, failed.Path = excerpt.Start(failed.Message, maxText), excerpt.Start(failed.Path, maxPath)
			d.Status, d.Error = Failed, &failed
			// The worker may have stored objects.
			end = s.jobs().Replace(j, job.New(RemovalJob, d.ProjectID, d.ID, d.AccountID, now).After(now))
		} else {
			d.Status, d.ReadyAt = Ready, d.EndedAt
			d.Files, d.Bytes, d.Manifest, d.HashedPaths = o.Files, o.Bytes, o.Manifest, o.HashedPaths
		}
		c.putDeployment(d)
		c.add(end, s.endBuild(j))
		if len(o.Log) > 0 { // it replaces the log of an earlier attempt
			item, err := db.Encode(logRecord{Lines: fitLog(o.Log)})
			if err != nil {
				return err
			}
			c.add(s.Projects.Update(db.DeploymentLogKey(d.ProjectID, d.ID), set("lines", item["lines"])))
		}
		c.addEvent(event.DeploymentCompleted, d.ID, d.CreatedBy, "")
		if d.Status == Ready {
			c.addedBytes[d.AccountID] += d.Bytes
			c.add(s.Sites.Create(db.AddressKey(d.Label), site.Address{
				ProjectID: c.ProjectID, WorkspaceID: c.WorkspaceID, AccountID: d.AccountID, DeploymentID: d.ID,
				Manifest: d.Manifest, SPA: c.site.SPA, HashedPaths: d.HashedPaths,
			}))
			if d.Target == Production {
				c.goLive(d.ID, d.Sequence, d.CreatedBy, reasonDeploy)
			}
		}
		c.prune()
		if c.addedBytes[d.AccountID] > 0 {
			c.needSpace(d.AccountID, errNoSpace(s.MaxOutput))
		}
		return nil
	})
	return d, err
}

// beginBuild returns the write that adds a build to the builds in progress of its account, with the end of its lease,
// and removes the builds whose lease has expired. item is the item of these builds, with one attribute for each build.
// Its version changes with each build that is added, so that two workers cannot exceed the limit together. Error:
// job.ErrBusy.
func (s Store) beginBuild(j job.Job, item db.Item, now time.Time) (db.Write, error) {
	version := expression.Name("version")
	update := expression.Add(version, expression.Value(1)).
		Set(expression.Name(j.ID), expression.Value(j.LeaseEnds.String()))
	inProgress, nowText, latest := 0, clock.Stamp(now).String(), clock.Stamp(now.Add(2*job.LeaseTime)).String()
	for name, value := range item {
		ends, isText := value.(*types.AttributeValueMemberS)
		switch {
		case !isText || name == db.AttrPK || name == db.AttrSK || name == j.ID:
		case ends.Value > nowText && ends.Value < latest: // a lease that ends later is damaged
			inProgress++
		default:
			update = update.Remove(expression.Name(name))
		}
	}
	if inProgress >= s.MaxBuilds {
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

// FinishRemoval ends the removal of the objects of a deployment, for the worker that claimed j. It deletes the records
// of a deployment that is removing, or whose project was deleted. Error: job.ErrLost.
func (s Store) FinishRemoval(ctx context.Context, j job.Job) error {
	key := db.DeploymentKey(j.OwnerID, j.ID)
	access, err := s.access().Locate(ctx, j.OwnerID, s.Projects.Ref(key))
	isDeleted := errors.Is(err, workspace.ErrProjectNotFound)
	if err != nil && !isDeleted {
		return err
	}
	d, err := db.Decode[Deployment](access.Items[key])
	switch {
	case err != nil:
		return err
	case isDeleted || d.Status == Removing:
		return s.jobs().Finish(ctx, j, s.Projects.Delete(key), s.Projects.Delete(db.DeploymentLogKey(j.OwnerID, j.ID)))
	}
	return s.jobs().Finish(ctx, j)
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
