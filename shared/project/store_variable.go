package project

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// setVariables stores the variables of a project, and its new revision. v has the revision that follows the stored
// revision. Call it within db.Retry. Errors: PROJECT_NOT_FOUND; db.ErrStale if the project or its variables have
// changed.
func (s store) setVariables(ctx context.Context, old, p projectRecord, v variablesRecord, event db.Write) error {
	put := s.Projects.Create(db.VariablesKey(p.ID), v)
	if v.Revision > 1 {
		put = s.Projects.Put(db.VariablesKey(p.ID), v).If(attrRevision.Equal(expression.Value(v.Revision - 1)))
	}
	set := expression.Set(expression.Name("updatedAt"), expression.Value(p.UpdatedAt.String())).
		Set(attrRevision, expression.Value(p.Revision))
	return s.client.Tx(
		s.Projects.Update(db.ProjectKey(p.WorkspaceID, p.ID), set).If(s.isRevision(old.Revision)).
			ElseFunc(workspace.ChangeError),
		put, event,
	).CommitOnce(ctx)
}
