package deployment

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// dueIndex is the index of the deployments on which work must be done, ordered by the time. It projects all attributes.
var dueIndex = db.Index{Name: "due", PK: "due", SK: "dueAt"}

// Due returns up to limit deployments on which work must be done by a time, the most overdue first:
//
//   - Queued and Building: no worker has begun, or the lease of the last one has expired. Send a message for it.
//   - Any other status: remove its objects, and call Removed.
//
// If a record cannot be decoded, Due returns the others and an error. The index is eventually consistent: call Wake
// before the work.
func (s Store) Due(ctx context.Context, by time.Time, limit int) ([]Deployment, error) {
	page, err := s.Projects.QueryIndex(ctx, db.IndexQuery{
		Index: dueIndex, Partition: due, Upto: clock.Stamp(by).String(), Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	var all []Deployment
	var errs []error
	for _, item := range page.Items {
		d, err := db.Decode[Deployment](item)
		if err != nil {
			errs = append(errs, fmt.Errorf("decode the deployment %s: %w", db.KeyOf(item).SK, err))
			continue
		}
		all = append(all, d)
	}
	return all, errors.Join(errs...)
}

// Wake moves the time at which a deployment of Due is due to next, and returns the deployment as it is stored. So the
// work is repeated at that time, unless it succeeds. Error: db.ErrStale if the deployment has changed or is due at
// another time: do nothing.
func (s Store) Wake(ctx context.Context, d Deployment, next time.Time) (Deployment, error) {
	since := expression.Name("overdueSince")
	return s.moveDue(ctx, d, next, func(u expression.UpdateBuilder) expression.UpdateBuilder {
		return u.Set(since, since.IfNotExists(expression.Value(d.DueAt.String())))
	})
}

// Postpone is like Wake, for a deployment that a worker has received but may not build yet.
func (s Store) Postpone(ctx context.Context, d Deployment, next time.Time) (Deployment, error) {
	return s.moveDue(ctx, d, next, func(u expression.UpdateBuilder) expression.UpdateBuilder {
		return u.Remove(expression.Name("overdueSince"))
	})
}

func (s Store) moveDue(
	ctx context.Context, d Deployment, next time.Time, more func(expression.UpdateBuilder) expression.UpdateBuilder,
) (Deployment, error) {
	if d.DueAt == nil {
		return d, db.ErrStale
	}
	by := rand.Text()
	update := set("wokenBy", by).Set(expression.Name("dueAt"), expression.Value(clock.Stamp(next).String()))
	write := s.Projects.Update(db.DeploymentKey(d.ProjectID, d.ID), more(update)).
		If(equals("status", d.Status).And(equals("dueAt", d.DueAt.String()))).
		Mine(func(stored db.Item) bool {
			text, ok := stored["wokenBy"].(*types.AttributeValueMemberS)
			return ok && text.Value == by
		})
	item, err := s.DB.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return d, db.ErrStale
	}
	if err != nil {
		return d, err
	}
	return db.Decode[Deployment](item)
}

// Removed completes the removal of the objects of a deployment of Due. It deletes the records of a deployment that is
// removing, or whose project was deleted. Any other deployment is no longer due.
func (s Store) Removed(ctx context.Context, d Deployment) error {
	key := db.DeploymentKey(d.ProjectID, d.ID)
	if d.Status != Removing {
		err := s.DB.Transact(ctx, s.access().ProjectExists(d.ProjectID),
			s.Projects.Update(key, clearDue(expression.UpdateBuilder{})).If(equals("status", d.Status)))
		if !db.FailedAt(err, 0) {
			if db.FailedAt(err, 1) {
				return nil // it became removing, and is due again
			}
			return err
		}
	}
	return s.Projects.DeleteAll(ctx, key, db.DeploymentLogKey(d.ProjectID, d.ID))
}
