// Package account joins the rooms of accounts into one service. Each room is a package with one purpose, and imports
// only the rooms before it in this list:
//
//   - user has the records of accounts, attempt the limits of attempts, and oauth talks to code hosts.
//   - activity has the log of each account: its logins and changes.
//   - session has sessions and their tokens. The functions of other slices use only user and session.
//   - mailtoken stores the mails to users, with their links and codes.
//   - password has the sign-up, the login and the change of a password.
//   - codehost runs the sign-in with a code host, and decides which account a user of a code host signs in to.
//   - page serves the pages to which the links in mails lead. It imports no other room.
//   - address confirms and changes e-mail addresses, and resets forgotten passwords.
//   - export makes documents with everything that is stored about a user, deletion ends accounts.
//
// The rooms must not contain projects or workspaces, with three exceptions: a sign-up creates the personal workspace,
// export lists them, and deletion decides which workspaces end with an account. The rooms must not depend on Lambda or
// read the environment.
package account

import (
	"context"
	"log/slog"
	"net/http"

	"devplatform/shared/account/activity"
	"devplatform/shared/account/address"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/codehost"
	"devplatform/shared/account/deletion"
	"devplatform/shared/account/export"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/page"
	"devplatform/shared/account/password"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/objectstore"
)

var tag = httpapi.Tag{
	Name: "Authentication",
	Description: "Accounts, passwords, sessions, and sign-in with a code host. A login returns the session cookie that the " +
		"endpoints of all other groups require. The maximum size of a body is 16 KiB.",
	// Clients without a session can send these requests, and parsing 4 MiB of JSON costs more than a password hash.
	MaxBody: 16 << 10,
}

// parallelHashes limits the memory for password hashes: 4 × 19 MiB in a function that has 512 MiB. A Lambda instance
// serves one request at a time, so the limit matters only for other servers that run this code.
const parallelHashes = 4

// Deps are the dependencies of a Service. Only the fields marked as optional may be nil.
type Deps struct {
	DB       *db.Client
	Tables   config.Tables
	Keys     *config.Keys
	Provider *oauth.Provider // optional: nil if no code host is configured
	IDs      *id.Generator
	Clock    clock.Clock
	Logger   *slog.Logger
	Limits   attempt.Limits
	Mail     mail.Settings
	// Bucket stores the documents of exports. Send sends a message with a message group to the queue of export jobs.
	Bucket objectstore.Bucket
	Send   func(ctx context.Context, body, group string) error
	Hasher *password.Hasher // optional: nil selects password.DefaultHashParams
	Edge   config.Edge
}

// Service serves the endpoints of all rooms. It is safe for concurrent use.
type Service struct {
	Deps

	shared    password.Deps // the dependencies that most rooms have
	passwords *password.Service
	codehost  *codehost.Service
	addresses *address.Service
	exports   *export.Service
	deletion  *deletion.Service
}

// New returns a Service. It does no I/O.
func New(d Deps) *Service {
	if d.Hasher == nil {
		d.Hasher = password.NewHasher(password.DefaultHashParams(), parallelHashes)
	}
	accounts, projects := d.DB.Table(d.Tables.Accounts), d.DB.Table(d.Tables.Projects)
	mails := mailtoken.Mails{
		Outbox: mail.NewOutbox(d.DB, d.Tables, d.Keys, d.IDs, d.Clock, d.Mail),
		Tokens: mailtoken.NewStore(d.DB, accounts, d.Keys, d.Clock), Users: user.NewStore(d.DB, d.Tables),
	}
	s := &Service{Deps: d}
	s.shared = password.Deps{
		DB: d.DB, Accounts: accounts, Users: mails.Users, Sessions: session.New(d.DB, d.Tables, d.Keys, d.Clock, d.Logger),
		Limiter: attempt.New(d.DB, accounts, d.Limits, d.Clock), Hasher: d.Hasher, Tokens: mails.Tokens, Mails: mails,
		Activity: activity.New(d.DB, accounts, d.Clock), Cursors: db.NewCursors(d.Keys), IDs: d.IDs, Clock: d.Clock,
	}
	s.passwords = password.New(s.shared)
	s.codehost = codehost.New(codehost.Deps{
		Deps: s.shared, Passwords: s.passwords, Provider: d.Provider, Logger: d.Logger, Edge: d.Edge,
	})
	s.addresses = address.New(address.Deps{Deps: s.shared, Identities: s.codehost})
	s.exports = export.New(export.Deps{
		DB: d.DB, Accounts: accounts, Projects: projects, Users: mails.Users, Bucket: d.Bucket, Send: d.Send, IDs: d.IDs,
		Clock: d.Clock, Logger: d.Logger,
	})
	s.deletion = deletion.New(deletion.Deps{
		DB: d.DB, Accounts: accounts, Projects: projects, Users: mails.Users, Mails: mails, Activity: s.shared.Activity,
		Clock: d.Clock,
	})
	return s
}

// Router returns the HTTP handler of the service.
func (s *Service) Router() http.Handler {
	return httpapi.NewRouter(httpapi.Config{
		Edge: s.Edge, Logger: s.Logger, Auth: s.shared.Sessions, Clock: s.Clock,
	}, s.Register)
}

// Register adds the endpoints of all rooms. The zero Service is enough for a list of the endpoints.
func (s *Service) Register(r *httpapi.Routes) {
	s.passwords.Register(r, tag)
	s.shared.Sessions.Register(r, tag)
	s.codehost.Register(r, tag)
	page.Register(r, tag)
	s.addresses.Register(r, tag)
	activity.Service{Log: s.shared.Activity, Cursors: s.shared.Cursors}.Register(r, tag)
	s.exports.Register(r, tag)
	s.deletion.Register(r, tag)
}
