package deployment

import (
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
