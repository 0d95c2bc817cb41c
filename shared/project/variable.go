package project

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/setting"
	"devplatform/shared/workspace"
)

// variablesRecord is the record of a project's variables. It is an item of its own under db.VariablesKey, so that other
// reads of the project do not read it. A project whose variables were never set has none.
type variablesRecord struct {
	Variables []setting.Variable `dynamodbav:"variables"`
	Revision  int                `dynamodbav:"revision"` // incremented by every change
}

// etag returns the entity tag of the variables, even if they were never set.
func (v variablesRecord) etag() string { return strconv.Quote(strconv.Itoa(v.Revision)) }

// openVariables reads a project with its variables, and checks that the caller may do the action. It makes two calls to
// storage. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) openVariables(
	ctx context.Context, caller httpapi.Caller, projectID string, action workspace.Action,
) (p projectRecord, v variablesRecord, err error) {
	key := db.VariablesKey(projectID)
	access, p, err := s.open(ctx, caller, projectID, action, key)
	if err != nil {
		return p, v, err
	}
	v, err = db.Decode[variablesRecord](access.Items[key])
	return p, v, err
}

func (s *Service) handleReadVariables(
	ctx context.Context, caller httpapi.Caller, in *readVariablesInput,
) (*variablesOutput, error) {
	known, err := httpapi.ParsePreconditions("", in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	_, v, err := s.openVariables(ctx, caller, in.ProjectID, workspace.Read)
	if err != nil {
		return nil, err
	}
	out := v.output()
	if known.NotModified(out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

// handleSetVariables replaces the variables of a project. If the list does not change, it writes nothing and emits no
// event. The event does not contain the variables.
func (s *Service) handleSetVariables(
	ctx context.Context, caller httpapi.Caller, in *setVariablesInput,
) (*variablesOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	var v variablesRecord
	err = db.Retry(ctx, "set the variables of a project", func(ctx context.Context) error {
		var old projectRecord
		if old, v, err = s.openVariables(ctx, caller, in.ProjectID, workspace.Write); err != nil {
			return err
		}
		if err := condition.Check(v.etag()); err != nil {
			return err
		}
		if slices.Equal(v.Variables, in.Body.Variables) {
			return nil
		}
		now := s.now()
		next := old
		next.UpdatedAt, next.Revision = clock.Stamp(now), next.Revision+1
		v.Variables, v.Revision = in.Body.Variables, v.Revision+1
		e, err := s.outbox.Add(eventChange(event.ProjectUpdated, caller, next, "variables"), now)
		if err != nil {
			return err
		}
		return s.store.setVariables(ctx, old, next, v, e)
	})
	return v.output(), err
}
