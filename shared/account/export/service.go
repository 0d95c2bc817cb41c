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
//   - events are left out: they repeat changes, and expire after 30 days. Mails are left out too: their keys do not
//     name a user, and they expire after 7 days. Contents are left out, because they belong to files.
//
// Comments, deployments and questions are included only for workspaces in which the user is a member now. In other
// workspaces, the user has no access to them.
package export

import (
	"context"
	"log/slog"

	"devplatform/shared/account/user"
	"devplatform/shared/archive"
	"devplatform/shared/clock"
	"devplatform/shared/db"
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
