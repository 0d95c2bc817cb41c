package project

import (
	"context"
	"strconv"

	"devplatform/shared/db"
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
