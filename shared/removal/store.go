package removal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
)

// store stores removals in the projects table.
type store struct {
	client   *db.Client
	projects db.Table
}

// dueIndex is the index of the removals, ordered by the time at which they are due. It projects all attributes.
var dueIndex = db.Index{Name: "due", PK: "due", SK: "dueAt"}

var (
	attrLease    = expression.Name("lease")
	attrAttempts = expression.Name("attempts")
	attrDueAt    = expression.Name("dueAt")
)

func timeValue(t time.Time) expression.ValueBuilder { return expression.Value(clock.Stamp(t).String()) }

// CheckNone returns a check that no removal of a workspace or an account exists. Error: db.ErrConditionFailed.
func CheckNone(projects db.Table, id string) db.Write {
	return projects.Check(db.RemovalKey(id), expression.AttributeNotExists(expression.Name(db.AttrPK)))
}

// due returns up to limit removals that are due at a time or earlier, the most overdue first. If an item cannot be
// decoded, due returns the others and an error. The index is eventually consistent: claim decides.
func (s store) due(ctx context.Context, by time.Time, limit int) (due []record, _ error) {
	page, err := s.projects.QueryIndex(ctx, db.IndexQuery{
		Index: dueIndex, Partition: duePartition, Upto: clock.Stamp(by).String(), Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	var unreadable error
	for _, item := range page.Items {
		r, err := db.Decode[record](item)
		if err != nil {
			unreadable = errors.Join(unreadable, fmt.Errorf("decode the removal %s: %w", db.KeyOf(item).PK, err))
			continue
		}
		due = append(due, r)
	}
	return due, unreadable
}

// claim gives the caller the lease of a removal, and returns the removal. Error: errLost if the removal has ended, is
// not due, or another worker has claimed it.
func (s store) claim(ctx context.Context, id string, now time.Time) (record, error) {
	token := rand.Text()
	update := expression.Set(attrLease, expression.Value(token)).Set(attrDueAt, timeValue(now.Add(LeaseTime))).
		Add(attrAttempts, expression.Value(1))
	item, err := s.client.Do(ctx, s.projects.Update(db.RemovalKey(id), update).
		If(attrDueAt.LessThanEqual(timeValue(now))).
		Recognize(func(stored db.Item) bool {
			r, err := db.Decode[record](stored)
			return err == nil && r.Lease == token
		}).Else(errLost))
	if err != nil {
		return record{}, err
	}
	return db.Decode[record](item)
}

// release ends the lease of a worker before the removal has ended. The removal is due again at due. Error: errLost.
func (s store) release(ctx context.Context, r record, due time.Time) error {
	update := expression.Remove(attrLease).Set(attrDueAt, timeValue(due))
	_, err := s.client.Do(ctx, s.projects.Update(db.RemovalKey(r.ID), update).If(holdsLease(r)).Else(errLost))
	return err
}

// end ends a removal. Error: errLost.
func (s store) end(ctx context.Context, r record) error {
	_, err := s.client.Do(ctx, s.projects.Delete(db.RemovalKey(r.ID)).If(holdsLease(r)).Else(errLost))
	return err
}

// holdsLease returns the condition that the lease that claim stored in r has not been lost.
func holdsLease(r record) expression.ConditionBuilder {
	return attrLease.Equal(expression.Value(r.Lease))
}
