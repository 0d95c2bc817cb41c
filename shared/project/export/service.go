package export

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/job"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

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
		store: store{Access: workspace.Access{Projects: d.Projects}, client: d.DB}, bucket: d.Bucket, send: d.Send,
		counters: limit.New(d.DB, d.Projects, d.Clock), now: d.Clock, logger: d.Logger,
		rule: limit.Rule{Name: "exports", Limit: d.HourlyLimit, Window: time.Hour},
	}
}

// Start starts an export of the current files of a project. If the files in their current state have an export that is
// running or ready, Start returns this export and does not count.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, RATE_LIMITED.
func (s *Service) Start(ctx context.Context, caller httpapi.Caller, projectID string) (ExportRef, error) {
	var r record
	var j job.Job
	var isNew bool
	err := db.Retry(ctx, "start an export", func(ctx context.Context) (err error) {
		if r, err = s.exportOfFiles(ctx, caller, projectID); err != nil {
			return err
		}
		now := s.now()
		if isNew = r.statusAt(now) != Running && r.statusAt(now) != Ready; !isNew {
			return nil
		}
		old := r
		r = record{ID: r.ID, Status: Running, StartedAt: clock.Stamp(now), ExpiresAt: now.Add(lifetime).Unix()}
		// Users are the message groups, so that a user with many exports does not delay the others.
		j = job.New(Kind, projectID, r.ID, caller.UserID, now)
		return s.store.start(ctx, j, r, old, s.counters.Write(s.rule, caller.UserID))
	})
	if err == nil && isNew {
		if err := j.Send(ctx, s.send); err != nil { // the sweep sends it
			s.logger.WarnContext(ctx, "the message for an export was not sent", "project", projectID, "export", r.ID,
				"cause", err.Error())
		}
	}
	return ExportRef{ID: r.ID, Status: r.Status}, err
}

// exportOfFiles returns the export of a project's files in their current state. If there is none, it returns a record
// that has only an ID. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) exportOfFiles(ctx context.Context, caller httpapi.Caller, projectID string) (record, error) {
	access, err := s.store.Locate(ctx, projectID)
	if err != nil {
		return record{}, err
	}
	tree, err := db.Decode[file.Tree](access.Items[db.TreeKey(projectID)])
	if err != nil {
		return record{}, err
	}
	id := exportID(projectID, tree.Changes)
	key := db.ExportKey(projectID, id)
	if err := s.store.Load(ctx, caller.UserID, &access, s.store.Projects.Ref(key)); err != nil {
		return record{}, err
	}
	if err := access.Check(workspace.Read); err != nil {
		return record{}, err
	}
	r, err := db.Decode[record](access.Items[key])
	r.ID = id
	return r, err
}

// Get returns an export, and the URL of its archive if it is ready.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, EXPORT_NOT_FOUND.
func (s *Service) Get(ctx context.Context, caller httpapi.Caller, projectID, exportID string) (ExportItem, error) {
	key := db.ExportKey(projectID, exportID)
	access, err := s.store.Project(ctx, caller.UserID, projectID, key)
	if err != nil {
		return ExportItem{}, err
	}
	if err := access.Check(workspace.Read); err != nil {
		return ExportItem{}, err
	}
	if access.Items[key] == nil {
		return ExportItem{}, errNotFound
	}
	r, err := db.Decode[record](access.Items[key])
	item := ExportItem{ID: r.ID, Status: r.statusAt(s.now()), Size: r.Size}
	if err != nil || item.Status != Ready {
		return item, err
	}
	project, err := db.Decode[struct {
		Slug string `dynamodbav:"slug"`
	}](access.Items[db.ProjectKey(access.WorkspaceID, projectID)])
	if err != nil {
		return item, err
	}
	item.URL, err = s.bucket.PresignGet(ctx, objectstore.Download{
		Key: r.Archive, Filename: cmp.Or(project.Slug, "project") + ".zip", ContentType: contentType,
	}, urlValid)
	return item, err
}
