package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/limit"
	"devplatform/shared/workspace"
)

// store stores the records of exports in the projects table.
type store struct {
	workspace.Access
	client *db.Client
}

// Errors of the store.
var (
	// errNotRunning reports that an export does not exist, or is not running.
	errNotRunning = errors.New("export: the export is not running")
	// errLeased reports that another worker holds the lease of an export.
	errLeased = errors.New("export: another worker holds the lease")
)

// start stores the record of a new export, and counts it. old is the record that it replaces, zero if there is none.
// Call it within db.Retry. Errors: PROJECT_NOT_FOUND, RATE_LIMITED; db.ErrStale if old is not the stored record.
func (s store) start(
	ctx context.Context, projectID string, r, old record, counters *limit.Counters, rule limit.Rule, userID string,
) error {
	item, err := db.Encode(r)
	if err != nil {
		return err
	}
	key := db.ExportKey(projectID, r.ID)
	put := s.Projects.Create(key, item)
	if old.ID != "" {
		unchanged := equals("status", string(old.Status)).And(equals("startedAt", old.StartedAt.String()))
		put = s.Projects.Put(key, item).If(unchanged)
	}
	count, tooMany := counters.Write(rule, userID)
	err = s.client.TransactOnce(ctx, s.ProjectExists(projectID), put, count)
	switch {
	case db.FailedAt(err, 0):
		return workspace.ErrProjectNotFound.WithCause(err)
	case db.FailedAt(err, 1):
		return fmt.Errorf("%w: %w", db.ErrStale, err)
	case db.FailedAt(err, 2):
		return tooMany
	}
	return err
}

// equals returns the condition that an attribute has a value.
func equals(attribute, value string) expression.ConditionBuilder {
	return expression.Name(attribute).Equal(expression.Value(value))
}

// setSent stores the time at which the last message of a running export was sent. It reports false if the export is not
// running, if another request has changed the time, or if the response to the first attempt of the write was lost.
func (s store) setSent(ctx context.Context, projectID string, r record, at clock.Timestamp) (bool, error) {
	write := s.Projects.Update(db.ExportKey(projectID, r.ID), set("sentAt", at.String())).
		If(equals("status", string(Running)).And(equals("sentAt", r.SentAt.String())))
	_, err := s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}

func set(attribute string, value any) expression.UpdateBuilder {
	return expression.Set(expression.Name(attribute), expression.Value(value))
}

// lease assigns the lease of an export to a worker, and returns the export's record. If another worker holds the lease,
// it returns the record with that lease. Errors: errNotRunning, errLeased.
func (s store) lease(ctx context.Context, projectID, exportID, token string, now time.Time) (record, error) {
	at := clock.Stamp(now).String()
	free := expression.Name("leaseEnds").LessThanEqual(expression.Value(at))
	inTime := expression.Name("dueAt").GreaterThan(expression.Value(at))
	update := set("lease", token).
		Set(expression.Name("leaseEnds"), expression.Value(clock.Stamp(now.Add(leaseTime)).String()))
	write := s.Projects.Update(db.ExportKey(projectID, exportID), update).
		If(s.Projects.Exists().And(equals("status", string(Running)), inTime, free)).Mine(holds(token))
	item, err := s.client.Do(ctx, write)
	isHeld := errors.Is(err, db.ErrConditionFailed)
	if isHeld {
		item = db.OldItem(err, 0)
	} else if err != nil {
		return record{}, err
	}
	r, err := db.Decode[record](item)
	switch {
	case err != nil:
		return r, err
	case isHeld && r.statusAt(now) == Running && r.ExpiresAt > now.Unix():
		return r, errLeased
	case isHeld:
		return r, errNotRunning
	}
	return r, nil
}

// holds returns a function that reports whether a stored record has the lease with a token.
func holds(token string) func(db.Item) bool {
	return func(stored db.Item) bool {
		r, err := db.Decode[record](stored)
		return err == nil && r.Lease == token
	}
}

// update changes the record of an export on the condition that it is running, and that the worker with r still has the
// lease. status is the new status. Error: errLeased.
func (s store) update(
	ctx context.Context, projectID string, r record, status Status, update expression.UpdateBuilder,
) error {
	held := equals("status", string(Running)).And(equals("lease", r.Lease))
	write := s.Projects.Update(db.ExportKey(projectID, r.ID), update.Set(expression.Name("status"),
		expression.Value(string(status)))).If(held).Mine(func(stored db.Item) bool {
		current, err := db.Decode[record](stored)
		return err == nil && current.Lease == r.Lease && current.Status == status && status != Running
	})
	_, err := s.client.Do(ctx, write)
	if errors.Is(err, db.ErrConditionFailed) {
		return fmt.Errorf("%w: %w", errLeased, err)
	}
	return err
}

// saveUpload stores the upload of an export and its parts. Error: errLeased.
func (s store) saveUpload(ctx context.Context, projectID string, r record) error {
	return s.update(ctx, projectID, r, Running, set("upload", r.Upload).
		Set(expression.Name("parts"), expression.Value(r.Parts)))
}

// ready makes an export ready, unless its time is over. Error: errLeased.
func (s store) ready(ctx context.Context, projectID string, r record, now time.Time) error {
	if r.statusAt(now) != Running {
		return errLeased
	}
	return s.update(ctx, projectID, r, Ready, set("size", r.Size).
		Remove(expression.Name("upload")).Remove(expression.Name("parts")))
}

// fail makes an export failed. Error: errLeased.
func (s store) fail(ctx context.Context, projectID string, r record) error {
	return s.update(ctx, projectID, r, Failed, expression.
		Remove(expression.Name("upload")).Remove(expression.Name("parts")))
}

// release ends a worker's lease, so that another worker can continue. Error: errLeased.
func (s store) release(ctx context.Context, projectID string, r record) error {
	return s.update(ctx, projectID, r, Running, set("leaseEnds", clock.Timestamp{}.String()))
}
