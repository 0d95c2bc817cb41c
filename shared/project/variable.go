package project

import (
	"context"
	"slices"
	"strconv"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/setting"
	"devplatform/shared/workspace"
)

// etag returns the entity tag of the variables, also if they were never set.
func (v variablesRecord) etag() string { return strconv.Quote(strconv.Itoa(v.Revision)) }

// openVariables reads a project with its variables, and checks that the caller may do the action. It makes two calls to
// storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) openVariables(
	ctx context.Context, caller httpapi.Caller, projectID string, action workspace.Action,
) (o opened, v variablesRecord, err error) {
	key := db.VariablesKey(projectID)
	if o, err = s.open(ctx, caller, projectID, action, key); err != nil {
		return o, v, err
	}
	v, err = db.Decode[variablesRecord](o.Items[key])
	return o, v, err
}

// setVariables replaces the variables of a project, and returns the new ones. If the list does not change, it writes
// nothing and emits no event. The event does not contain the variables. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED,
// PRECONDITION_FAILED, CONFLICT.
func (s *Service) setVariables(
	ctx context.Context, caller httpapi.Caller, projectID string, list []setting.Variable, condition httpapi.Preconditions,
) (v variablesRecord, err error) {
	err = db.Retry(ctx, "set the variables of a project", func(ctx context.Context) error {
		var o opened
		if o, v, err = s.openVariables(ctx, caller, projectID, workspace.Write); err != nil {
			return err
		}
		if err := condition.Check(v.etag()); err != nil {
			return err
		}
		if slices.Equal(v.Variables, list) {
			return nil
		}
		now := s.now()
		next := o.record
		next.UpdatedAt, next.Revision = clock.Stamp(now), next.Revision+1
		v.Variables, v.Revision = list, v.Revision+1
		e, err := s.event(event.ProjectUpdated, caller, next, now, "variables")
		if err != nil {
			return err
		}
		return s.store.setVariables(ctx, o.record, next, v, e)
	})
	return v, err
}
