package deployment

import (
	"context"
	"errors"

	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// Store stores deployments, sites and addresses. It is safe for concurrent use.
type Store struct {
	DB       *db.Client
	Projects db.Table
	Sites    db.Table
	Outbox   event.Outbox
	Origin   config.Origin // of the sites; "" if they are not configured
	// MaxBuilds is the maximum number of builds of an account that are in progress at the same time. Only Begin uses it.
	MaxBuilds int
	// MaxOutput is the maximum size of the stored output of an account, in bytes.
	MaxOutput int
}

func (s Store) access() workspace.Access { return workspace.Access{Projects: s.Projects} }

func (s Store) jobs() job.Store { return job.Store{DB: s.DB, Projects: s.Projects} }

// read reads a deployment with the site of its project, for a worker. If the project does not exist, the result has no
// WorkspaceID.
func (s Store) read(ctx context.Context, projectID, deploymentID string) (state, error) {
	site, key := db.SiteKey(projectID), db.DeploymentKey(projectID, deploymentID)
	access, err := s.access().Locate(ctx, projectID, site, key)
	if errors.Is(err, workspace.ErrProjectNotFound) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	return stateOf(access, deploymentID)
}
