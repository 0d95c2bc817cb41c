package deployment

import (
	"context"
	"maps"
	"time"

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

// located is a deployment, its site and the workspace of its project, as they were read.
type located struct {
	workspaceID string // "" if the project does not exist
	site        db.Item
	deployment  Deployment // zero if it does not exist
}

// locate reads a deployment with the site of its project.
func (s Store) locate(ctx context.Context, projectID, deploymentID string) (l located, err error) {
	tree, site := db.TreeKey(projectID), db.SiteKey(projectID)
	key := db.DeploymentKey(projectID, deploymentID)
	items, err := s.Projects.BatchGet(ctx, tree, site, key)
	if err != nil {
		return l, err
	}
	project, err := db.Decode[workspace.ProjectAccess](items[tree])
	if err != nil {
		return l, err
	}
	l.workspaceID, l.site = project.WorkspaceID, items[site]
	l.deployment, err = db.Decode[Deployment](items[key])
	return l, err
}

// change returns a change of the site of a project. item is the record of the site as it was read; nil if there is
// none.
func (s Store) change(projectID, workspaceID, name string, item db.Item, now time.Time) (*change, error) {
	site, err := db.Decode[Site](item)
	if err != nil {
		return nil, err
	}
	c := &change{
		store: s, projectID: projectID, workspaceID: workspaceID, name: name, now: now,
		before: site, site: site, isNew: item == nil, output: map[string]int{},
		touched: map[string]bool{},
	}
	c.site.Deployments = maps.Clone(site.Deployments)
	if c.site.Deployments == nil {
		c.site.Deployments = map[string]Summary{}
	}
	return c, nil
}
