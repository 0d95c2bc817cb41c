// Package codehost is a small OAuth 2.0 provider with the endpoints and the JSON of a self-hosted code host (Gitea),
// for a laptop and for tests: a consent page on which one chooses an identity, a token endpoint and a user API.
//
// It is at least as strict as a real code host: it has the authorization code flow only, always with PKCE S256, and a
// code works once. It has no passwords, so it must never be reachable from other machines. Nothing about the
// applications that sign in here may enter.
package codehost

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

const (
	codeLife  = 10 * time.Minute // the maximum that RFC 6749 §4.1.2 recommends, and GitHub's lifetime
	tokenLife = time.Hour
	maxForm   = 64 << 10
)

// Paths of the endpoints below the base path.
const (
	pathAuthorize = "/login/oauth/authorize"
	pathToken     = "/login/oauth/access_token" //nolint:gosec // a path, not a credential
	pathUser      = "/api/v1/user"
	pathEmails    = "/api/v1/user/emails"
)

// Options configure a Server.
type Options struct {
	// Dir is the folder with the file of identities. New creates it. If it is "", identities are kept in memory.
	// Codes and tokens are always in memory.
	Dir string
	// Now is the clock. The default is the system's.
	Now func() time.Time
	// ClientID and ClientSecret are the credentials of the one registered client.
	ClientID, ClientSecret string
	// RedirectPrefixes are the client's registered callback URLs. A redirect URI must have the scheme, host and port of
	// one of them, and its path or a path below it. If the host is a loopback address such as 127.0.0.1 (not "localhost"),
	// every port is allowed (RFC 8252 §7.3).
	RedirectPrefixes []string
	// BasePath is the path at which the server is mounted. The default is "/codehost".
	BasePath string
	// Logger gets a line for each sign-in and each refused token. The default discards them.
	Logger *slog.Logger
}

// Server is the provider. It is safe for concurrent use.
type Server struct {
	base       string
	clientID   string
	secretHash [sha256.Size]byte
	redirects  redirects
	identities *identities
	grants     *grants
	guard      *http.CrossOriginProtection
	mux        *http.ServeMux
	log        *slog.Logger
}

// New reads the identities of Options.Dir and returns a server. A file of identities that is not valid is an error, and
// is not changed.
func New(o Options) (*Server, error) {
	if o.ClientID == "" || o.ClientSecret == "" {
		return nil, errors.New("codehost: ClientID and ClientSecret are required")
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	registered, err := parseRedirects(o.RedirectPrefixes)
	if err != nil {
		return nil, err
	}
	known, err := openIdentities(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		base: strings.TrimSuffix("/"+strings.Trim(cmp.Or(o.BasePath, "/codehost"), "/"), "/"), clientID: o.ClientID,
		secretHash: sha256.Sum256([]byte(o.ClientSecret)), redirects: registered, identities: known,
		grants: &grants{now: o.Now, codes: map[string]grant{}, tokens: map[string]grant{}},
		guard:  http.NewCrossOriginProtection(), mux: http.NewServeMux(), log: o.Logger,
	}
	s.mux.HandleFunc("GET "+s.base+"/{$}", s.home)
	s.mux.HandleFunc("GET "+s.base+pathAuthorize, s.askConsent)
	s.mux.HandleFunc("POST "+s.base+pathAuthorize, s.decide)
	s.mux.HandleFunc("POST "+s.base+pathToken, s.redeem)
	s.mux.HandleFunc("GET "+s.base+pathUser, s.user)
	s.mux.HandleFunc("GET "+s.base+pathEmails, s.emails)
	return s, nil
}

// ServeHTTP implements http.Handler. The path of a request begins with the base path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send "Origin: null" with the consent form
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.mux.ServeHTTP(w, r)
}
