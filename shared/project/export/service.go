package export

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
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
	Send  func(ctx context.Context, body, group string) error
	Clock clock.Clock
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
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		store: store{Access: workspace.Access{Projects: d.Projects}, client: d.DB}, bucket: d.Bucket, send: d.Send,
		counters: limit.New(d.DB, d.Projects, d.Clock), now: d.Clock,
		rule: limit.Rule{Name: "exports", Limit: d.HourlyLimit, Window: time.Hour},
	}
}

// message is the body of a message for the worker.
type message struct {
	ProjectID string `json:"projectId"`
	ExportID  string `json:"exportId"`
}

// parseMessage parses the body of a message. It reports false if the body is not valid.
func parseMessage(body string) (m message, ok bool) {
	err := json.Unmarshal([]byte(body), &m)
	return m, err == nil && id.Project.Valid(m.ProjectID) && id.Export.Valid(m.ExportID)
}

// Start starts an export of the current files of a project. If the files in their current state have an export that is
// running or ready, Start returns this export and does not count.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, RATE_LIMITED, SERVICE_UNAVAILABLE.
func (s *Service) Start(ctx context.Context, caller httpapi.Caller, projectID string) (ExportRef, error) {
	var r record
	var isNew bool
	err := db.Retry(ctx, "start an export", func(ctx context.Context) (err error) {
		if r, err = s.current(ctx, caller, projectID); err != nil {
			return err
		}
		now := s.now()
		if isNew = r.statusAt(now) != Running && r.statusAt(now) != Ready; !isNew {
			return nil
		}
		old := r
		r = newRecord(r.ID, now)
		if old.Status == "" {
			old = record{}
		}
		return s.store.start(ctx, projectID, r, old, s.counters, s.rule, caller.UserID)
	})
	switch {
	case err != nil:
	case isNew:
		err = s.notify(ctx, caller, projectID, r)
	default:
		err = s.resend(ctx, caller, projectID, r)
	}
	return ExportRef{ID: r.ID, Status: r.Status}, err
}

// resend sends another message for a running export on which no worker works: the request that should have sent the
// last message, or the worker, may have been interrupted. Error: SERVICE_UNAVAILABLE.
func (s *Service) resend(ctx context.Context, caller httpapi.Caller, projectID string, r record) error {
	now := s.now()
	if r.statusAt(now) != Running || now.Sub(r.SentAt.Time()) < resendAfter || now.Before(r.LeaseEnds.Time()) {
		return nil
	}
	isSet, err := s.store.setSent(ctx, projectID, r, clock.Stamp(now))
	if err != nil || !isSet { // another request sends it
		return err
	}
	r.SentAt = clock.Stamp(now)
	return s.notify(ctx, caller, projectID, r)
}

// undoTime is the time limit for recording that a message was not sent. Without the record, a request sends it later.
const undoTime = 5 * time.Second

// notify sends a message for an export. If that fails, the next request sends it. Error: SERVICE_UNAVAILABLE.
func (s *Service) notify(ctx context.Context, caller httpapi.Caller, projectID string, r record) error {
	body, err := json.Marshal(message{projectID, r.ID})
	if err != nil {
		return err //nolint:wrapcheck // strings only: cannot fail
	}
	// Users are the groups of a fair queue, so that a user with many exports does not delay the others.
	if err := s.send(ctx, string(body), caller.UserID); err != nil {
		ctx, cancel := async.Detach(ctx, undoTime)
		defer cancel()
		_, undo := s.store.setSent(ctx, projectID, r, clock.Timestamp{})
		return fault.ErrUnavailable.WithCause(errors.Join(err, undo))
	}
	return nil
}

// current returns the export of the project's files in their current state. If there is none, it returns a record that
// has only an ID. Errors: PROJECT_NOT_FOUND, ACCESS_DENIED.
func (s *Service) current(ctx context.Context, caller httpapi.Caller, projectID string) (record, error) {
	access, err := s.store.Locate(ctx, projectID)
	if err != nil {
		return record{}, err
	}
	tree, err := db.Decode[file.Tree](access.Items[db.TreeKey(projectID)])
	if err != nil {
		return record{}, err
	}
	exportID := idOf(projectID, tree.Changes)
	key := db.ExportKey(projectID, exportID)
	if err := s.store.Load(ctx, caller.UserID, &access, s.store.Projects.Ref(key)); err != nil {
		return record{}, err
	}
	if err := access.Check(workspace.Read); err != nil {
		return record{}, err
	}
	r, err := db.Decode[record](access.Items[key])
	r.ID = exportID
	return r, err
}

// Get returns an export, and the URL of its archive if it is ready.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED, EXPORT_NOT_FOUND, SERVICE_UNAVAILABLE.
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
	if err != nil {
		return item, err
	}
	if item.Status != Ready {
		return item, s.resend(ctx, caller, projectID, r)
	}
	project, err := db.Decode[struct {
		Slug string `dynamodbav:"slug"`
	}](access.Items[db.ProjectKey(access.WorkspaceID, projectID)])
	if err != nil {
		return item, err
	}
	item.URL, err = s.bucket.PresignGet(ctx, objectstore.Download{
		Key: objectKey(projectID, exportID), Filename: cmp.Or(project.Slug, "project") + ".zip", ContentType: contentType,
	}, urlValid)
	return item, err
}
