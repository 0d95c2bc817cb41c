package export

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"devplatform/shared/archive"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/job"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
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

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Projects db.Table
	Bucket   objectstore.Bucket
	// Send sends a message with a message group to the queue of the worker.
	Send   func(ctx context.Context, body, group string) error
	Clock  clock.Clock
	Logger *slog.Logger
	// HourlyLimit is the number of exports that a user can start in one hour.
	HourlyLimit int
}

// Service starts exports and returns their state. Its methods return a *fault.Error or an error of package db. It is
// safe for concurrent use.
type Service struct {
	store    store
	bucket   objectstore.Bucket
	send     func(ctx context.Context, body, group string) error
	counters *limit.Counters
	rule     limit.Rule
	now      clock.Clock
	logger   *slog.Logger
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		store: newStore(d.DB, d.Projects), bucket: d.Bucket, send: d.Send,
		counters: limit.New(d.DB, d.Projects, d.Clock), now: d.Clock, logger: d.Logger,
		rule: limit.Rule{Name: "exports", Limit: d.HourlyLimit, Window: time.Hour},
	}
}

// StartExport starts an export of the current files of a project. If the files in their current state have an export
// that is running or ready, StartExport returns this export and does not count.
func (s *Service) StartExport(
	ctx context.Context, caller httpapi.Caller, in *file.InProject,
) (*StartExportOutput, error) {
	projectID := in.ProjectID
	var r archive.Record
	var j job.Job
	var isNew bool
	err := db.Retry(ctx, "start an export", func(ctx context.Context) (err error) {
		if r, err = s.exportOfFiles(ctx, caller, projectID); err != nil {
			return err
		}
		now := s.now()
		if isNew = r.StatusAt(now) != archive.Running && r.StatusAt(now) != archive.Ready; !isNew {
			return nil
		}
		old := r
		r = archive.NewRecord(r.ID, now)
		// Users are the message groups, so that a user with many exports does not delay the others.
		j = job.New(Kind, projectID, r.ID, caller.UserID, now)
		return s.store.client.Tx(
			s.store.ProjectExists(projectID), s.store.Put(projectID, r, old),
			s.counters.Write(s.rule, caller.UserID), s.store.Jobs.Add(j),
		).CommitOnce(ctx)
	})
	if err == nil && isNew {
		j.Send(ctx, s.send, s.logger)
	}
	return &StartExportOutput{r.Ref()}, err
}

// exportOfFiles returns the export of a project's files in their current state. If there is none, it returns a record
// that has only an ID. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) exportOfFiles(ctx context.Context, caller httpapi.Caller, projectID string) (archive.Record, error) {
	access, err := s.store.Locate(ctx, projectID)
	if err != nil {
		return archive.Record{}, err
	}
	tree, err := db.Decode[file.Tree](access.Items[db.TreeKey(projectID)])
	if err != nil {
		return archive.Record{}, err
	}
	id := exportID(projectID, tree.Revision)
	key := db.ExportKey(projectID, id)
	access, err = s.store.Load(ctx, caller.UserID, access, workspace.Read, s.store.Projects.Ref(key))
	if err != nil {
		return archive.Record{}, err
	}
	r, err := db.Decode[archive.Record](access.Items[key])
	r.ID = id
	return r, err
}

// readExport returns an export, and the URL of its archive if it is ready.
func (s *Service) readExport(
	ctx context.Context, caller httpapi.Caller, in *readExportInput,
) (*readExportOutput, error) {
	key := db.ExportKey(in.ProjectID, in.ExportID)
	access, err := s.store.Project(ctx, caller.UserID, in.ProjectID, workspace.Read, key)
	if err != nil {
		return nil, err
	}
	if access.Items[key] == nil {
		return nil, errNotFound
	}
	r, err := db.Decode[archive.Record](access.Items[key])
	if err != nil {
		return nil, err
	}
	project, err := db.Decode[struct {
		Slug string `dynamodbav:"slug"`
	}](access.Items[db.ProjectKey(access.WorkspaceID, in.ProjectID)])
	if err != nil {
		return nil, err
	}
	item, err := r.Item(ctx, s.bucket, cmp.Or(project.Slug, "project")+".zip", contentType, s.now())
	return &readExportOutput{item}, err
}
