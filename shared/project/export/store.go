package export

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// store stores the records of exports in the projects table.
type store struct {
	workspace.Access
	client *db.Client
}

func (s store) jobs() job.Store { return job.Store{DB: s.client, Projects: s.Projects} }

// start stores the record of a new export with its job. count is the write that counts the export. old is the record
// that r replaces. It has no status if there is none. Call start within db.Retry. Errors: PROJECT_NOT_FOUND; the error
// of count; db.ErrStale if old is not the stored record.
func (s store) start(ctx context.Context, j job.Job, r, old record, count db.Write) error {
	key := db.ExportKey(j.ProjectID, r.ID)
	put := s.Projects.Create(key, r)
	if old.Status != "" {
		unchanged := equals("status", string(old.Status)).And(equals("startedAt", old.StartedAt.String()))
		put = s.Projects.Put(key, r).If(unchanged)
	}
	return s.client.Tx(s.ProjectExists(j.ProjectID), put, count, s.jobs().Add(j)).CommitOnce(ctx)
}

// equals returns the condition that an attribute has a value.
func equals(attribute, value string) expression.ConditionBuilder {
	return expression.Name(attribute).Equal(expression.Value(value))
}

// get returns the export of a job, zero if it does not exist.
func (s store) get(ctx context.Context, j job.Job) (record, error) {
	item, err := s.Projects.Get(ctx, db.ExportKey(j.ProjectID, j.ID))
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return record{}, err
	}
	return db.Decode[record](item)
}

// end ends a running export, which becomes ready or failed, and its job. archive is the key of the archive, which is
// ready. Error: job.ErrLost.
func (s store) end(ctx context.Context, j job.Job, status Status, archive string, size int) error {
	end := expression.Set(expression.Name("status"), expression.Value(string(status))).
		Set(expression.Name("archive"), expression.Value(archive)).
		Set(expression.Name("size"), expression.Value(size))
	return s.jobs().Finish(ctx, j,
		s.Projects.Update(db.ExportKey(j.ProjectID, j.ID), end).If(equals("status", string(Running))))
}
