package httpapi

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"time"

	"devplatform/shared/fault"
)

// Caller is the user of a request. When the handler starts, the session may not have been read yet: the first read of
// the database also reads the session, and fails if the session has ended (see db.Client.WithGuard).
type Caller struct {
	UserID    string
	SessionID string

	session *sessionState
}

// sessionState is the part of a caller that is read from storage.
type sessionState struct {
	account *Account // nil until the session has been read
	renewal *Renewal
}

// Account is the account of a caller, with the data of the session that depends on it.
type Account struct {
	Email         string // "" if the owner of the address rejected the account
	EmailVerified bool   // whether the user has proven that Email is theirs
	PendingEmail  string // the address that the user asked for and has not confirmed, or ""
	Username      string
	CreatedAt     time.Time
	LoggedInAt    time.Time // when the session started
	Generation    int       // of the session: a password change ends the sessions of earlier generations
}

// freshLogin is the maximum time since the login in which a session may perform sensitive operations. A stolen session
// is usually older.
const freshLogin = 10 * time.Minute

// ErrNotFresh reports that an operation needs a session that logged in within the last 10 minutes.
var ErrNotFresh = fault.New(fault.CodeReauthRequired, "Log in again, and repeat the request within 10 minutes.")

// IsFresh reports whether the session logged in within the last 10 minutes. The renewal of a session is not a login. It
// needs the account, see Caller.Account.
func (c Caller) IsFresh(now time.Time) bool { return now.Sub(c.Account().LoggedInAt) <= freshLogin }

// NewCaller returns a caller whose session has not been read. Complete adds the account.
func NewCaller(userID, sessionID string) Caller {
	return Caller{UserID: userID, SessionID: sessionID, session: &sessionState{}}
}

// Complete sets the account of the caller after the session was read. renewal is the new token of the session, or nil.
// It returns the caller.
func (c Caller) Complete(account Account, renewal *Renewal) Caller {
	c.session.account, c.session.renewal = &account, renewal
	return c
}

// Account returns the caller's account. It panics if the session has not been read: a handler that needs the account
// before it reads from the database must be registered with SessionFirst.
func (c Caller) Account() Account {
	if c.session == nil || c.session.account == nil {
		panic("httpapi: the account of a caller was used before the session was read")
	}
	return *c.session.account
}

// RequestInfo contains the data about a request that the gateway provides. Clients control only UserAgent.
type RequestInfo struct {
	// RequestID is the gateway's request ID. It is returned as X-Request-Id and logged with the request.
	RequestID string
	// SourceIP is the address of the client's connection to the gateway, or the address that a trusted Proxy sent.
	SourceIP string
	// UserAgent is the User-Agent header.
	UserAgent string
	// HTTPS reports whether the client used HTTPS to reach the gateway.
	HTTPS bool
	// BaseURL is the URL at which clients reach the service, without a trailing slash: APP_URL if it is set, otherwise
	// the gateway's scheme, host and stage, such as https://api.example.com/prod. If the host is unknown, BaseURL
	// contains only the stage, such as /prod.
	BaseURL string
}

type infoKey struct{}

// WithRequestInfo returns a context that carries the info.
func WithRequestInfo(ctx context.Context, info RequestInfo) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// RequestInfoFrom returns the info of the current request. Outside of a request, it returns the zero RequestInfo.
func RequestInfoFrom(ctx context.Context) RequestInfo {
	info, _ := ctx.Value(infoKey{}).(RequestInfo)
	return info
}

// info returns the request info that the Lambda adapter stored in the context, with APP_URL. If there is none, because
// the router runs in an ordinary HTTP server, info derives the request info from the connection.
func (e *edge) info(r *http.Request) RequestInfo {
	info := RequestInfoFrom(r.Context())
	if info.RequestID == "" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		info = RequestInfo{RequestID: rand.Text(), SourceIP: host, UserAgent: r.UserAgent(), HTTPS: r.TLS != nil}
		info.BaseURL = BaseURL(info.HTTPS, r.Host, "")
	}
	if app := e.cfg.Edge.AppURL; app != "" {
		info.BaseURL = string(app)
	}
	return info
}

// BaseURL returns the URL of a gateway's stage. stage is the first part of the path, such as /prod, or empty. If host
// is empty, BaseURL returns only the stage, which is a relative URL.
func BaseURL(https bool, host, stage string) string {
	if host == "" {
		return stage
	}
	scheme := "http://"
	if https {
		scheme = "https://"
	}
	return scheme + host + stage
}

// RateKey returns the key of a client's IP address for rate limits. The key is the address itself for IPv4, and its /64
// network for IPv6, because internet providers assign whole networks to customers. All invalid addresses share one key.
func RateKey(ip string) string {
	const unknown = "unknown"
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return unknown
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return unknown
	}
	return network.String()
}
