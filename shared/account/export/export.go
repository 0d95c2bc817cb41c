// Package export makes documents with everything that the service stores about a user. It must not import the slices of
// the data that it reads, and must not contain secrets: it reads only the attributes that it names.
//
// An export is a record under the user in the accounts table, and a job of the kind Kind (packages archive and job).
// The document has these parts. "Their" means that the user created or wrote it.
//
//   - accounts: the account with its address, the identities, the sessions, the activity, the mails whose links are
//     valid, the known networks, and the exports. Left out: hashes of passwords, tokens and codes, and counters of
//     limits, which expire within a day and whose keys are hashes.
//   - projects: the workspaces in which the user is a member, with their role; the invitations to the user, and their
//     open invitations; the settings of their projects; their comments; their deployments. Left out: files and their
//     old versions, which belong to a project and are in its own export, and jobs, uploads and counters, which expire.
//   - webhooks: the settings of their webhooks, without secrets. Left out: deliveries, which repeat events.
//   - conversations: their questions to the assistant, and how much they used it. Left out: answers, which the model
//     wrote, and the records of answers in progress, which expire.
//   - sites: the bytes that the sites of the account served.
//   - events are left out: they repeat changes, and expire after 30 days. So are mails, which are encrypted under keys
//     that do not name a user, and expire after 7 days, and contents, which belong to files.
//
// Comments, deployments and questions are included only for workspaces in which the user is a member now. In other
// workspaces, the user has no access to them.
package export

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"devplatform/shared/account/user"
	"devplatform/shared/archive"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/limit"
	"devplatform/shared/objectstore"
)

// Kind is the kind of the jobs that make the documents.
const Kind = "accountExport"

// dailyLimit is the number of exports that a user can start in one day.
const dailyLimit = 3

// filename and contentType are the name and the content type of the document that clients download.
const (
	filename    = "account.json"
	contentType = "application/json"
)

var errNotFound = fault.New(fault.CodeExportNotFound,
	"The export does not exist or has expired. Start a new export of the account.")

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *db.Client
	Accounts db.Table
	// Projects is the table of the jobs.
	Projects db.Table
	Users    user.Store
	Bucket   objectstore.Bucket
	// Send sends a message with a message group to the queue of the worker.
	Send   func(ctx context.Context, body, group string) error
	IDs    *id.Generator
	Clock  clock.Clock
	Logger *slog.Logger
}

// Service starts exports and returns their state. It is safe for concurrent use.
type Service struct {
	Deps
	store    archive.Store
	counters *limit.Counters
}

// New returns a Service. It makes no calls to storage.
func New(d Deps) *Service {
	return &Service{
		Deps: d, store: newStore(d.DB, d.Accounts, d.Projects), counters: limit.New(d.DB, d.Accounts, d.Clock),
	}
}

func newStore(client *db.Client, accounts, projects db.Table) archive.Store {
	return archive.Store{
		Table: accounts, Jobs: job.Store{DB: client, Projects: projects}, Key: db.AccountExportKey,
	}
}

// Register adds the endpoints, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	const path = "/api/auth/export"
	httpapi.Private(r, httpapi.Operation{
		ID: "startAccountExport", Method: http.MethodPost, Path: path, Tag: tag, Status: http.StatusAccepted,
		SessionFirst: true, Summary: "Start an export of everything that is stored about the caller",
		Description: "Read the export until its status is ready, and download the JSON document from its URL. It has the " +
			"account, identities, sessions, activity, workspaces, invitations, projects, comments, deployments, webhooks and " +
			"questions of the user, without secrets and without the files of projects. 3 exports in one day (UTC). The session " +
			"must have started within the last 10 minutes.",
		Errors: []*fault.Error{httpapi.ErrNotFresh, limit.ErrTooMany},
	}, s.startAccountExport)
	httpapi.Private(r, httpapi.Operation{
		ID: "readAccountExport", Method: http.MethodGet, Path: path + "/{id}", Tag: tag,
		Summary:     "Read the state of an export of the caller's account",
		Description: "If the status is ready, the response has a new URL. An export can be downloaded for about a day.",
		Errors:      []*fault.Error{errNotFound},
	}, s.readAccountExport)
}

type startOutput struct{ Body archive.ExportRef }

// startAccountExport starts an export. Errors: AUTH_REAUTHENTICATION_REQUIRED, AUTH_INVALID_TOKEN, RATE_LIMITED.
func (s *Service) startAccountExport(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*startOutput, error) {
	now := s.Clock()
	if !caller.IsFresh(now) {
		return nil, httpapi.ErrNotFresh
	}
	r := archive.NewRecord(s.IDs.New(id.Export), now)
	j := job.New(Kind, caller.UserID, r.ID, caller.UserID, now)
	rule := limit.Rule{Name: "account-exports", Limit: dailyLimit, Window: 24 * time.Hour}
	err := s.DB.Tx(
		s.Users.Exists(caller.UserID).Else(httpapi.ErrNoSession), s.counters.Write(rule, caller.UserID),
		s.store.Put(caller.UserID, r, archive.Record{}), s.store.Jobs.Add(j),
	).Commit(ctx)
	if err != nil {
		return nil, err
	}
	j.Send(ctx, s.Send, s.Logger)
	return &startOutput{r.Ref()}, nil
}

type getInput struct {
	ID string `path:"id" doc:"The export's ID" example:"exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

type getOutput struct{ Body archive.ExportItem }

// readAccountExport returns an export of the caller, with the URL of its document if it is ready.
// Error: EXPORT_NOT_FOUND.
func (s *Service) readAccountExport(ctx context.Context, caller httpapi.Caller, in *getInput) (*getOutput, error) {
	key := db.AccountExportKey(caller.UserID, in.ID)
	items, err := s.Accounts.BatchGet(ctx, key)
	if err != nil {
		return nil, err
	}
	if items[key] == nil {
		return nil, errNotFound
	}
	r, err := db.Decode[archive.Record](items[key])
	if err != nil {
		return nil, err
	}
	item, err := r.Item(ctx, s.Bucket, filename, contentType, s.Clock())
	if err != nil {
		return nil, err
	}
	return &getOutput{item}, nil
}
