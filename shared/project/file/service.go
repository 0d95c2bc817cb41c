package file

import (
	"fmt"
	"strings"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/content"
	"devplatform/shared/workspace"
)

// Quotas limit the number and the total size of a project's files, and the bytes that a user writes.
type Quotas struct {
	Files         int
	Bytes         int // of the current contents, decoded
	OldBytes      int // of the replaced versions, decoded
	WrittenPerDay int // bytes of new content, decoded
}

// DefaultQuotas returns the quotas that apply if the environment sets no others.
func DefaultQuotas() Quotas {
	return Quotas{Files: 5000, Bytes: 200 << 20, OldBytes: 400 << 20, WrittenPerDay: 2 << 30}
}

// QuotaSettings are the quotas that environment variables set, in MiB: the library that reads the variables accepts
// only 32 bits for an int.
type QuotaSettings struct {
	OldVersions   int `env:"LIMIT_OLD_VERSIONS_MIB" envDefault:"400"`
	WrittenPerDay int `env:"LIMIT_WRITTEN_MIB_DAY" envDefault:"2048"`
}

// Quotas returns the quotas with these settings. It returns an error if a quota is smaller than a file can be. The
// error names the environment variable.
func (s QuotaSettings) Quotas() (Quotas, error) {
	for name, value := range map[string]int{
		"LIMIT_OLD_VERSIONS_MIB": s.OldVersions, "LIMIT_WRITTEN_MIB_DAY": s.WrittenPerDay,
	} {
		if least := content.MaxUpload >> 20; value < least { // otherwise the largest file could not be replaced or deleted
			return Quotas{}, fmt.Errorf("%s=%d: must be at least %d, the size of the largest file", name, value, least)
		}
	}
	q := DefaultQuotas()
	q.OldBytes, q.WrittenPerDay = s.OldVersions<<20, s.WrittenPerDay<<20
	return q, nil
}

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
	outbox  event.Outbox
	cursors *db.Cursors
	ids     *id.Generator
	now     clock.Clock
	quotas  Quotas
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		store: store{
			Access: workspace.Access{Projects: d.Projects}, client: d.DB, contents: d.Contents, bucket: d.Bucket,
			quotas: d.Quotas, counters: limit.New(d.DB, d.Projects, d.Clock),
		},
		outbox: d.Outbox, cursors: d.Cursors, ids: d.IDs, now: d.Clock, quotas: d.Quotas,
	}
}

// newVersion returns the ULID of a new version. previous is the replaced version of the same file, or "". The versions
// of a file sort in the order in which they were created, even if the clocks of two servers differ.
func (s *Service) newVersion(previous string) string {
	const kind id.Kind = "ver" // only to generate the ULID: versions have no prefix
	_, version, _ := strings.Cut(s.ids.NewAfter(kind, string(kind)+"_"+previous), "_")
	return version
}
