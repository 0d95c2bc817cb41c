package export

import (
	"context"

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

// start stores the record of a new export with its job. count is the write that counts the export. old is the record
// that r replaces. It has no status if there is none. Call start within db.Retry. Errors: PROJECT_NOT_FOUND; the error
// of count; db.ErrStale if old is not the stored record.
func (s store) start(ctx context.Context, j job.Job, r, old archive.Record, count db.Write) error {
	return s.client.Tx(s.ProjectExists(j.OwnerID), s.Put(j.OwnerID, r, old), count, s.Jobs.Add(j)).CommitOnce(ctx)
}
