package file

import (
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/workspace"
)

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table // records of projects and files
	Contents db.Table
	Bucket   objectstore.Bucket // large contents
	Outbox   event.Outbox
	Cursors  *db.Cursors
	IDs      *id.Generator
	Clock    clock.Clock
	Quotas   Quotas
}

// Service implements the operations on files. Its methods return a *fault.Error or an error of package db. It is safe
// for concurrent use.
type Service struct {
	store   store
	cursors *db.Cursors
	ids     *id.Generator
	now     clock.Clock
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		store: store{
			Access: workspace.Access{Projects: d.Projects}, client: d.DB, contents: d.Contents, bucket: d.Bucket,
			quotas: d.Quotas, counters: limit.New(d.DB, d.Projects, d.Clock), outbox: d.Outbox,
		},
		cursors: d.Cursors, ids: d.IDs, now: d.Clock,
	}
}

// newVersion returns the ULID of a new version. previous is the replaced version of the same file, or "". The versions
// of a file sort in the order in which they were created, even if the clocks of two servers differ.
func (s *Service) newVersion(previous string) string {
	const kind id.Kind = "ver" // only to generate the ULID: versions have no prefix
	_, version, _ := strings.Cut(s.ids.NewAfter(kind, string(kind)+"_"+previous), "_")
	return version
}
