package job

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

// Store stores jobs. It is safe for concurrent use.
type Store struct {
	DB       *db.Client
	Projects db.Table
}

// dueIndex is the index of the jobs, ordered by the time at which they are due. It projects all attributes.
var dueIndex = db.Index{Name: "due", PK: "due", SK: "dueAt"}

var (
	attrLease        = expression.Name("lease")
	attrLeaseEnds    = expression.Name("leaseEnds")
	attrAttempts     = expression.Name("attempts")
	attrDueAt        = expression.Name("dueAt")
	attrOverdueSince = expression.Name("overdueSince")
	attrStartedAt    = expression.Name("startedAt")
)

func timeValue(t time.Time) expression.ValueBuilder { return expression.Value(clock.Stamp(t).String()) }

func keyOf(j Job) db.Key { return db.JobKey(j.OwnerID, j.ID) }

// holdsLease returns the condition that the worker that claimed j holds the lease.
func holdsLease(j Job) expression.ConditionBuilder { return attrLease.Equal(expression.Value(j.Lease)) }

// Add returns the write that adds a job. If the record has a job, the write replaces it, and its worker loses the
// lease.
func (s Store) Add(j Job) db.Write { return s.Projects.Put(keyOf(j), j) }

// Hold returns the write that makes a transaction fail with ErrLost unless the worker that claimed j holds the lease.
func (s Store) Hold(j Job) db.Write { return s.Projects.Check(keyOf(j), holdsLease(j)).Else(ErrLost) }

// End returns the write that ends a job. Error: ErrLost.
func (s Store) End(j Job) db.Write {
	return s.Projects.Delete(keyOf(j)).If(holdsLease(j)).Else(ErrLost)
}

// Replace returns the write that ends a job and adds the next job of the same record. Error: ErrLost.
func (s Store) Replace(j, next Job) db.Write { return s.Add(next).If(holdsLease(j)).Else(ErrLost) }

// Finish ends a job, and executes writes in the same transaction, if the worker that claimed j holds the lease. Error:
// ErrLost, also if the condition of a write fails.
func (s Store) Finish(ctx context.Context, j Job, writes ...db.Write) error {
	tx := s.DB.Tx(s.End(j))
	for _, w := range writes {
		tx.Add(w.Else(ErrLost))
	}
	return tx.Commit(ctx)
}

// Claim gives the caller the lease of a job, and returns the job. Error: ErrNotClaimable.
func (s Store) Claim(ctx context.Context, ownerID, recordID string, now time.Time) (Job, error) {
	token, ends := rand.Text(), timeValue(now.Add(LeaseTime))
	update := expression.Set(attrLease, expression.Value(token)).Set(attrLeaseEnds, ends).Set(attrDueAt, ends).
		Set(attrStartedAt, attrStartedAt.IfNotExists(timeValue(now))).Add(attrAttempts, expression.Value(1))
	write := s.Projects.Update(db.JobKey(ownerID, recordID), update).
		If(s.Projects.Exists().And(attrLeaseEnds.AttributeNotExists().Or(attrLeaseEnds.LessThanEqual(timeValue(now))))).
		Recognize(func(stored db.Item) bool {
			j, err := db.Decode[Job](stored)
			return err == nil && j.Lease == token
		}).Else(ErrNotClaimable)
	item, err := s.DB.Do(ctx, write)
	if errors.Is(err, db.ErrUnavailable) { // the claim may have been written: write recognizes its token
		item, err = s.DB.Do(ctx, write)
	}
	if err != nil {
		return Job{}, err
	}
	return db.Decode[Job](item)
}

// Check returns ErrLost if the worker that claimed j does not hold the lease. It reads one small item.
func (s Store) Check(ctx context.Context, j Job) error {
	item, err := s.Projects.Get(ctx, keyOf(j))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	stored, err := db.Decode[Job](item)
	if err == nil && stored.Lease != j.Lease {
		return ErrLost
	}
	return err
}

// Release ends the lease of a worker without a result. The job is due again at due. The attempt does not count.
// Error: ErrLost.
func (s Store) Release(ctx context.Context, j Job, due time.Time) error {
	return s.release(ctx, j, due, expression.UpdateBuilder{})
}

// Postpone is like Release, for a job that has to wait because of a limit. Its age begins again when it is due.
func (s Store) Postpone(ctx context.Context, j Job, due time.Time) error {
	return s.release(ctx, j, due, expression.Remove(attrStartedAt).Remove(attrOverdueSince))
}

func (s Store) release(ctx context.Context, j Job, due time.Time, update expression.UpdateBuilder) error {
	update = update.Remove(attrLease).Remove(attrLeaseEnds).Set(attrDueAt, timeValue(due)).
		Add(attrAttempts, expression.Value(-1))
	_, err := s.DB.Do(ctx, s.Projects.Update(keyOf(j), update).If(holdsLease(j)).Else(ErrLost))
	return err
}

// Due returns up to limit jobs that are due at a time or earlier, the most overdue first. If an item cannot be decoded,
// Due returns the others and an error. The index is eventually consistent: send the message of a job only after Wake.
func (s Store) Due(ctx context.Context, by time.Time, limit int) (jobs []Job, _ error) {
	page, err := s.Projects.QueryIndex(ctx, db.IndexQuery{
		Index: dueIndex, Partition: duePartition, Upto: clock.Stamp(by).String(), Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, item := range page.Items {
		j, err := db.Decode[Job](item)
		if err != nil {
			errs = append(errs, fmt.Errorf("decode the job %s: %w", db.KeyOf(item).SK, err))
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs, errors.Join(errs...)
}

// Wake moves the time at which a job is due to next, so that its message is sent again at that time unless a worker
// claims it. Error: db.ErrStale if the job has ended or is due at another time. The caller must then do nothing.
func (s Store) Wake(ctx context.Context, j Job, next time.Time) error {
	was := expression.Value(j.DueAt.String())
	update := expression.Set(attrDueAt, timeValue(next)).Set(attrOverdueSince, attrOverdueSince.IfNotExists(was))
	_, err := s.DB.Do(ctx, s.Projects.Update(keyOf(j), update).If(attrDueAt.Equal(was)).Else(db.ErrStale))
	return err
}
