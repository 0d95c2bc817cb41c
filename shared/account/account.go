package account

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/limit"
)

// parallelHashes limits the memory for password hashes: 4 × 19 MiB in a function that has 512 MiB. A Lambda instance
// serves one request at a time, so the limit matters only for other servers that run this code.
const parallelHashes = 4

// User is the owner of an account.
type User struct {
	ID         string
	Email      string // in lower case
	Username   string // as entered at sign-up
	CreatedAt  time.Time
	Generation int // see Session.Generation
}

// Credential is stored under the e-mail address, so that a login needs one read.
type Credential struct {
	UserID       string
	PasswordHash string // PHC string; empty if the account has no password and signs in with a code host
	Verified     bool   // a code host reported the address as verified
	Generation   int    // User.Generation
}

// Client describes the client that sends a request.
type Client struct {
	IP        string // the source address that the gateway saw
	UserAgent string
}

// network returns the network whose attempts are counted together: the IPv4 address, or the /64 prefix of an IPv6
// address.
func (c Client) network() string { return httpapi.RateKey(c.IP) }

// Deps are the dependencies of a Service. Only the fields marked as optional may be nil.
type Deps struct {
	DB       *db.Client
	Tables   config.Tables
	Keys     *config.Keys
	Provider *oauth.Provider // optional: nil if no code host is configured
	IDs      *id.Generator
	Clock    clock.Clock
	Logger   *slog.Logger
	Limits   Limits
	Hasher   *Hasher // optional: nil selects DefaultHashParams
	Edge     config.Edge
}

// Service implements the operations on accounts. Its methods return *fault.Error, or an error of the storage or of the
// key ring. It is safe for concurrent use.
type Service struct {
	store    store
	sessions *Sessions
	hasher   *Hasher
	tokens   tokens
	provider *oauth.Provider
	counters *limit.Counters
	cursors  *db.Cursors
	rules    rules
	ids      *id.Generator
	now      clock.Clock
	logger   *slog.Logger
	edge     config.Edge
}

// New returns a Service. It does no I/O.
func New(d Deps) *Service {
	if d.Hasher == nil {
		d.Hasher = NewHasher(DefaultHashParams(), parallelHashes)
	}
	sessions := NewSessions(d.DB, d.Tables, d.Keys, d.Clock, d.Logger)
	return &Service{
		store:    sessions.store,
		sessions: sessions,
		hasher:   d.Hasher,
		tokens:   sessions.tokens,
		provider: d.Provider,
		counters: limit.New(d.DB, d.DB.Table(d.Tables.Accounts), d.Clock),
		cursors:  db.NewCursors(d.Keys),
		rules:    d.Limits.rules(),
		ids:      d.IDs,
		now:      d.Clock,
		logger:   d.Logger,
		edge:     d.Edge,
	}
}

// Router returns the HTTP handler of the service.
func (s *Service) Router() http.Handler {
	return httpapi.NewRouter(httpapi.Config{
		Edge: s.edge, Logger: s.logger, Auth: s.sessions, Clock: s.now,
	}, s.Register)
}

// SignedIn is a session that has just started.
type SignedIn struct {
	UserID string
	Token  httpapi.Renewal
}

// newSignIn returns a new session of a user. The caller stores it and then returns its token to the client.
func (s *Service) newSignIn(ctx context.Context, user User, client Client) (signIn, error) {
	session := newSession(s.ids.New(id.Session), user, client, s.now())
	token, err := s.tokens.sign(ctx, session, session.CreatedAt)
	return signIn{session: session, token: token, email: user.Email}, err
}
