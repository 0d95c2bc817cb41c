package archive

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/job"
)

// Store stores the records of exports in a table. It is safe for concurrent use.
type Store struct {
	Table db.Table
	Jobs  job.Store
	// Key returns the key of the record of an export.
	Key func(ownerID, exportID string) db.Key
}

// Put returns the write that stores a record. It replaces old, which has no status if there is none. Error: db.ErrStale
// if old is not the stored record.
func (s Store) Put(ownerID string, r, old Record) db.Write {
	key := s.Key(ownerID, r.ID)
	if old.Status == "" {
		return s.Table.Create(key, r).Else(db.ErrStale)
	}
	unchanged := equals("status", string(old.Status)).And(equals("startedAt", old.StartedAt.String()))
	return s.Table.Put(key, r).If(unchanged).Else(db.ErrStale)
}

// equals returns the condition that an attribute has a value.
func equals(attribute, value string) expression.ConditionBuilder {
	return expression.Name(attribute).Equal(expression.Value(value))
}

// Get returns the export of a job, zero if it does not exist.
func (s Store) Get(ctx context.Context, j job.Job) (Record, error) {
	item, err := s.Table.Get(ctx, s.Key(j.OwnerID, j.ID))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return Record{}, err
	}
	return db.Decode[Record](item)
}

// finish ends a running export, whose object was uploaded, and its job. Error: job.ErrLost.
func (s Store) finish(ctx context.Context, j job.Job, size int) error {
	return s.end(ctx, j, Ready, objectKey(j), size)
}

// Fail ends an export, which becomes failed if it is running, and its job. Error: job.ErrLost.
func (s Store) Fail(ctx context.Context, j job.Job) error {
	r, err := s.Get(ctx, j)
	switch {
	case err != nil:
		return err
	case r.Status != Running: // it has expired, or was removed with its project or account
		return s.Jobs.Finish(ctx, j)
	}
	return s.end(ctx, j, Failed, "", 0)
}

func (s Store) end(ctx context.Context, j job.Job, status Status, key string, size int) error {
	end := expression.Set(expression.Name("status"), expression.Value(string(status))).
		Set(expression.Name("archive"), expression.Value(key)).
		Set(expression.Name("size"), expression.Value(size))
	return s.Jobs.Finish(ctx, j,
		s.Table.Update(s.Key(j.OwnerID, j.ID), end).If(equals("status", string(Running))))
}
