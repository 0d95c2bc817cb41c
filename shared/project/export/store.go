package export

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/job"
	"devplatform/shared/limit"
	"devplatform/shared/workspace"
)

// store stores the records of exports in the projects table.
type store struct {
	workspace.Access
	client *db.Client
}

func (s store) jobs() job.Store { return job.Store{DB: s.client, Projects: s.Projects} }

// jobOf returns the job of a new export. Users are the message groups, so that a user with many exports does not delay
// the others.
func jobOf(projectID string, r record, userID string) job.Job {
	return job.New(Kind, projectID, r.ID, userID, r.StartedAt.Time())
}

// start stores the record of a new export with its job, and counts it. old is the record that it replaces. It has no
// status if there is none. Call it within db.Retry. Errors: PROJECT_NOT_FOUND, RATE_LIMITED; db.ErrStale if old is not
// the stored record.
func (s store) start(
	ctx context.Context, projectID string, r, old record, counters *limit.Counters, rule limit.Rule, userID string,
) error {
	key := db.ExportKey(projectID, r.ID)
	put := s.Projects.Create(key, r)
	if old.Status != "" {
		unchanged := equals("status", string(old.Status)).And(equals("startedAt", old.StartedAt.String()))
		put = s.Projects.Put(key, r).If(unchanged)
	}
	return s.client.Tx(
		s.ProjectExists(projectID), put, counters.Write(rule, userID),
		s.jobs().Add(jobOf(projectID, r, userID)),
	).CommitOnce(ctx)
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
