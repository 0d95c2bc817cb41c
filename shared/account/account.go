package account

import (
	"log/slog"

	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

// parallelHashes bounds the memory of password hashes: four of 19 MiB in a function that has 512 MiB. A Lambda instance
// serves one request at a time; the bound is for everything else that this code may run under.
const parallelHashes = 4

// Deps are what accounts are built on. Where a comment says so, the zero value is fine.
type Deps struct {
	DB       *db.Client
	Tables   config.Tables
	Keys     *config.Keys
	Provider *oauth.Provider // nil: no code host is configured
	IDs      *id.Generator
	Clock    clock.Clock
	Logger   *slog.Logger
	Limits   Limits
	Hasher   *Hasher // nil: the production parameters
	// PlainHTTPCookies also gives cookies to clients on plain http (COOKIE_PLAIN_HTTP).
	PlainHTTPCookies bool
}

// Service is accounts: sign-up, login, sessions, passwords and sign-in with a code host. Its methods answer with
// *fault.Error, or with an error of storage's or the key ring's classes. It is safe for concurrent use.
type Service struct {
	store     store
	hasher    *Hasher
	tokens    tokens
	provider  *oauth.Provider
	limits    Limits
	ids       *id.Generator
	now       clock.Clock
	logger    *slog.Logger
	plainHTTP bool
}

// New builds accounts. It does no input or output.
func New(d Deps) *Service {
	if d.Hasher == nil {
		d.Hasher = NewHasher(DefaultHashParams(), parallelHashes)
	}
	return &Service{
		store:     store{client: d.DB, accounts: d.DB.Table(d.Tables.Accounts), projects: d.DB.Table(d.Tables.Projects)},
		hasher:    d.Hasher,
		tokens:    tokens{keys: d.Keys, now: d.Clock},
		provider:  d.Provider,
		limits:    d.Limits,
		ids:       d.IDs,
		now:       d.Clock,
		logger:    d.Logger,
		plainHTTP: d.PlainHTTPCookies,
	}
}

// Sessions is the part of accounts that every function needs; NewSessions is it without the rest.
func (s *Service) Sessions() *Sessions {
	return &Sessions{store: s.store, tokens: s.tokens, now: s.now, logger: s.logger}
}

// SignedIn is a session that has just begun.
type SignedIn struct {
	UserID string
	Token  httpapi.Renewal
}
