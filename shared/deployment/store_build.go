package deployment

import (
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
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// interrupted is the error of a deployment whose build was interrupted too often.
var interrupted = &failure.Error{
	Code: failure.BuildInterrupted,
	Message: "The build was interrupted repeatedly. Deploy again. If this error returns, make the project smaller: the " +
		"build may need too much time or memory.",
}

// Begin assigns the lease of a deployment to a worker, and returns the deployment: a queued one becomes building, a
// building one is taken over if no other worker holds its lease. token is the random token of the worker; Begin with
// the same token again has no further effect. The second time that a lease has expired, the deployment fails instead
// with BUILD_INTERRUPTED. Errors: ErrEnded; ErrLeased, with the deployment, which says when that lease ends; ErrBusy. A
// deployment of a deleted project becomes removing.
func (s Store) Begin(
	ctx context.Context, projectID, deploymentID, token string, now time.Time,
) (d Deployment, err error) {
	err = db.Retry(ctx, "begin a build", func(ctx context.Context) error {
		d, err = s.begin(ctx, projectID, deploymentID, token, now)
		return err
	})
	return d, err
}

func (s Store) begin(ctx context.Context, projectID, deploymentID, token string, now time.Time) (Deployment, error) {
	l, err := s.locate(ctx, projectID, deploymentID)
	d := l.deployment
	switch {
	case err != nil:
		return d, err
	case d.ID == "" || d.Status.hasEnded():
		return d, ErrEnded
	case d.Status == Building && d.Lease == token:
		return d, nil // an earlier call, whose response was lost
	case d.isLeased(now):
		return d, ErrLeased
	case l.workspaceID == "" || l.site == nil:
		return d, s.abandon(ctx, d, now)
	}
	isInterrupted := d.Status == Building && d.Lease != ""
	if isInterrupted {
		d.Interruptions++
	}
	isOverdue := d.StartedAt != nil && now.Sub(d.StartedAt.Time()) > maxBuilding
	if d.Interruptions >= maxInterruptions || isOverdue {
		return d, s.interrupt(ctx, l, d, now)
	}
	return s.lease(ctx, l, d, token, now)
}

// lease stores the lease of a worker.
func (s Store) lease(ctx context.Context, l located, d Deployment, token string, now time.Time) (Deployment, error) {
	slot, err := s.takeBuild(ctx, d.AccountID, d.ID, now)
	if err != nil {
		return d, err
	}
	c, err := s.change(d.ProjectID, l.workspaceID, "", l.site, now)
	if err != nil {
		return d, err
	}
	before := l.deployment
	d.Status, d.Lease, d.LeaseEnds = Building, token, stamp(now.Add(LeaseTime))
	d.Due, d.DueAt = due, d.LeaseEnds
	if d.StartedAt == nil {
		d.StartedAt = stamp(now)
	}
	if err := c.putDeployment(d, unchanged(before), nil); err != nil {
		return d, err
	}
	c.add(slot, nil)
	return d, ended(c.commit(ctx))
}

// unchanged returns the condition that status and lease of a record are those that were read.
func unchanged(d Deployment) expression.ConditionBuilder {
	lease, ends := expression.Name("lease"), expression.Name("leaseEnds")
	same := expression.AttributeNotExists(lease)
	if d.Lease != "" {
		same = lease.Equal(expression.Value(d.Lease))
	}
	if d.LeaseEnds != nil {
		same = same.And(ends.Equal(expression.Value(d.LeaseEnds.String())))
	}
	return equals("status", d.Status).And(same)
}

// ended converts the error of a change if the project was deleted meanwhile.
func ended(err error) error {
	if errors.Is(err, workspace.ErrProjectNotFound) {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return err
}

// abandon makes a deployment of a deleted project removing, so that its objects are removed. Error: always ErrEnded, or
// a class of db.
func (s Store) abandon(ctx context.Context, d Deployment, now time.Time) error {
	update := setDue(set("status", Removing), now)
	_, err := s.DB.Do(ctx, s.Projects.Update(db.DeploymentKey(d.ProjectID, d.ID), update).If(unchanged(d)))
	if err == nil || errors.Is(err, db.ErrConditionFailed) {
		return ErrEnded
	}
	return err
}

// interrupt makes a deployment failed that was interrupted too often. Error: always ErrEnded, or a class of db.
func (s Store) interrupt(ctx context.Context, l located, d Deployment, now time.Time) error {
	d.Status, d.Error, d.EndedAt = Failed, interrupted, stamp(now)
	d.Due, d.DueAt = due, stamp(now) // the interrupted workers may have left objects
	if err := s.end(ctx, l, d, unchanged(l.deployment), now); err != nil {
		return ended(err)
	}
	return ErrEnded
}

// end stores the record of a deployment that has become ready or failed, with everything that follows from it.
func (s Store) end(
	ctx context.Context, l located, d Deployment, condition expression.ConditionBuilder, now time.Time,
) error {
	project, err := s.Projects.Get(ctx, db.ProjectKey(l.workspaceID, d.ProjectID))
	if errors.Is(err, db.ErrNotFound) {
		return workspace.ErrProjectNotFound.WithCause(err)
	}
	if err != nil {
		return err
	}
	name, err := db.Decode[workspace.ProjectAccess](project)
	if err != nil {
		return err
	}
	c, err := s.change(d.ProjectID, l.workspaceID, name.Name, l.site, now)
	if err != nil {
		return err
	}
	if err := c.putDeployment(d, condition, nil); err != nil {
		return err
	}
	c.add(s.endBuild(d.AccountID, d.ID), nil)
	if err := c.addEvent(event.DeploymentCompleted, d.ID, d.CreatedBy, ""); err != nil {
		return err
	}
	if d.Status == Ready {
		c.output[d.AccountID] += d.Bytes
		if err := c.addAddress(d); err != nil {
			return err
		}
		if d.Target == Production {
			if err := c.goLive(d.ID, d.Sequence, d.CreatedBy, reasonDeploy); err != nil {
				return err
			}
		}
	}
	if err := c.prune(); err != nil {
		return err
	}
	if c.output[d.AccountID] > 0 {
		c.quota = &quota{d.AccountID, errNoSpace(s.MaxOutput)}
	}
	return c.commit(ctx)
}

// Outcome is the result of a build.
type Outcome struct {
	// Error is the reason why the build failed. nil if the deployment is ready: all its objects are stored.
	Error *failure.Error
	Files int // number of files of the output
	Bytes int // of the output, not compressed
	// Manifest is the SHA-256 of the manifest of the output.
	Manifest []byte
	// Hashed are the files of the output with hashed names.
	Hashed site.Names
}

// Finish ends a deployment, if the worker with d still holds the lease: it becomes ready or failed, and goes live if
// its target is production and no later request has changed the live deployment. It returns the deployment as it is
// stored. Finish with the same deployment and outcome again has no further effect. Errors: ErrLost, also if the
// project was deleted; the sweep then removes the objects. *failure.Error if the output would exceed the limit of the
// account: the deployment is still building, and the worker must finish it with this error.
func (s Store) Finish(ctx context.Context, d Deployment, o Outcome, now time.Time) (finished Deployment, err error) {
	err = db.Retry(ctx, "finish a build", func(ctx context.Context) error {
		finished, err = s.finish(ctx, d, o, now)
		return err
	})
	return finished, err
}

func (s Store) finish(ctx context.Context, held Deployment, o Outcome, now time.Time) (Deployment, error) {
	l, err := s.locate(ctx, held.ProjectID, held.ID)
	if err != nil {
		return held, err
	}
	d := l.deployment
	if d.ID == "" || d.Lease != held.Lease || held.Lease == "" {
		return d, ErrLost
	}
	status := Ready
	if o.Error != nil {
		status = Failed
	}
	if d.Status == status {
		return d, nil // an earlier call, whose response was lost
	}
	if d.Status != Building || l.workspaceID == "" || l.site == nil {
		return d, ErrLost
	}
	d.Status, d.EndedAt, d.LeaseEnds = status, stamp(now), nil
	d.Due, d.DueAt = "", nil
	if status == Ready {
		d.Files, d.Bytes, d.Manifest, d.Hashed, d.ReadyAt = o.Files, o.Bytes, o.Manifest, o.Hashed, stamp(now)
	} else {
		d.Error = o.Error
		d.Due, d.DueAt = due, stamp(now) // the worker may have stored objects
	}
	if err := s.end(ctx, l, d, equals("status", Building).And(equals("lease", held.Lease)), now); err != nil {
		if errors.Is(err, workspace.ErrProjectNotFound) {
			return d, fmt.Errorf("%w: %w", ErrLost, err)
		}
		return d, err
	}
	return d, nil
}

// Release ends the lease of a worker without a result, because it was interrupted or failed for a transient reason. The
// deployment stays building, and is due after a wait. It does not count as interrupted. Error: ErrLost.
func (s Store) Release(ctx context.Context, d Deployment, now time.Time, wait time.Duration) error {
	update := setDue(expression.Remove(expression.Name("lease")).Remove(expression.Name("leaseEnds")), now.Add(wait))
	return lost(s.DB.Transact(ctx, s.whileLeased(d, update), s.endBuild(d.AccountID, d.ID)))
}

// CheckLease returns ErrLost if the worker with d does not hold the lease, or if the project was deleted. It reads two
// small records.
func (s Store) CheckLease(ctx context.Context, d Deployment) error {
	tree, key := db.TreeKey(d.ProjectID), db.DeploymentKey(d.ProjectID, d.ID)
	items, err := s.Projects.BatchGet(ctx, tree, key)
	if err != nil {
		return err
	}
	stored, err := db.Decode[Deployment](items[key])
	if err == nil && (items[tree] == nil || stored.Status != Building || stored.Lease != d.Lease) {
		return ErrLost
	}
	return err
}

// whileLeased returns the write that changes the record of a deployment if the worker with d holds the lease.
func (s Store) whileLeased(d Deployment, update expression.UpdateBuilder) db.Write {
	return s.Projects.Update(db.DeploymentKey(d.ProjectID, d.ID), update).
		If(equals("status", Building).And(equals("lease", d.Lease)))
}

// lost converts the error of a transaction whose first write is conditional on the lease.
func lost(err error) error {
	if db.FailedAt(err, 0) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// takeBuild returns the write that adds a build to those that an account has in progress, with the end of its lease.
// The item has one attribute for each build. Its version changes whenever one is added, so that two workers cannot
// both add the last one. The write removes the builds whose lease has expired. Error: ErrBusy.
func (s Store) takeBuild(ctx context.Context, accountID, deploymentID string, now time.Time) (db.Write, error) {
	key, version := db.BuildsKey(accountID), expression.Name("version")
	item, err := s.Projects.Get(ctx, key)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return db.Write{}, err
	}
	update := expression.Add(version, expression.Value(1)).
		Set(expression.Name(deploymentID), expression.Value(clock.Stamp(now.Add(LeaseTime)).String()))
	n := 0
	for name, value := range item {
		ends, isText := value.(*types.AttributeValueMemberS)
		switch {
		case !isText || name == db.AttrPK || name == db.AttrSK || name == deploymentID:
		case ends.Value > clock.Stamp(now).String():
			n++
		default:
			update = update.Remove(expression.Name(name))
		}
	}
	if n >= s.MaxBuilds {
		return db.Write{}, ErrBusy
	}
	same := expression.AttributeNotExists(version)
	if before := item["version"]; before != nil {
		same = version.Equal(expression.Value(before))
	}
	return s.Projects.Update(key, update).If(same), nil
}

// EndBuild ends the build of a worker that has lost its lease, so that the account can start another one.
func (s Store) EndBuild(ctx context.Context, d Deployment) error {
	if d.LeaseEnds == nil {
		return nil
	}
	_, err := s.DB.Do(ctx, s.endBuild(d.AccountID, d.ID).If(equals(d.ID, d.LeaseEnds.String())))
	if errors.Is(err, db.ErrConditionFailed) {
		return nil // another worker builds the deployment, or the build has ended already
	}
	return err
}

// endBuild returns the write that removes a build from those that an account has in progress.
func (s Store) endBuild(accountID, deploymentID string) db.Write {
	return s.Projects.Update(db.BuildsKey(accountID), expression.Remove(expression.Name(deploymentID)))
}
