package export

import (
	"devplatform/shared/archive"
	"devplatform/shared/db"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// store stores the records of exports in the projects table.
type store struct {
	workspace.Access
	archive.Store
	client *db.Client
}

func newStore(client *db.Client, projects db.Table) store {
	return store{
		Access: workspace.Access{Projects: projects}, client: client,
		Store: archive.Store{Table: projects, Jobs: job.Store{DB: client, Projects: projects}, Key: db.ExportKey},
	}
}
