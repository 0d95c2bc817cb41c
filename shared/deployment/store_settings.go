package deployment

import (
	"context"

	"devplatform/shared/db"
	"devplatform/shared/project/setting"
	"devplatform/shared/workspace"
)

// BuildSettings are the settings of a project that a build uses.
type BuildSettings struct {
	Framework string `dynamodbav:"framework"`
	RootDir   string `dynamodbav:"rootDir"` // the folder that is built; "" if the build finds it
	// Variables are the values of the variables that the deployment gets, by name.
	Variables map[string]string `dynamodbav:"-"`
}

// BuildSettings returns the settings of a deployment's project, with the variables for the deployment's target. It
// makes one call to storage. Error: PROJECT_NOT_FOUND.
func (s Store) BuildSettings(ctx context.Context, d Deployment) (b BuildSettings, err error) {
	project, variables := db.ProjectKey(d.WorkspaceID, d.ProjectID), db.VariablesKey(d.ProjectID)
	items, err := s.Projects.BatchGet(ctx, project, variables)
	if err != nil {
		return b, err
	}
	if items[project] == nil {
		return b, workspace.ErrProjectNotFound
	}
	if b, err = db.Decode[BuildSettings](items[project]); err != nil {
		return b, err
	}
	stored, err := db.Decode[struct {
		Variables []setting.Variable `dynamodbav:"variables"`
	}](items[variables])
	b.Variables = setting.Values(stored.Variables, setting.Target(d.Target))
	return b, err
}
