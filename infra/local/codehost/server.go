// Package codehost is a small OAuth 2.0 provider with the endpoints and JSON of a self-hosted code host (Gitea's), for a laptop and
// for tests: a consent page on which one chooses whom to be, a token endpoint and a user API.
//
// It is as strict as the real ones, or stricter: authorization code flow only, PKCE S256 always, codes that work once. It keeps no
// passwords, so it must never be reachable by strangers. What belongs to the applications that sign in here may not enter.
//
// The grants run on go-oauth2's manager. That one lets a code be redeemed twice at the same moment, compares redirect URIs by the
// end of the host, and answers with status codes of its own; the store, the URI check and the endpoints around it do better.
package codehost

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-oauth2/oauth2/v4/manage"
)

const (
	codeLife  = 10 * time.Minute // the longest that RFC 6749 §4.1.2 recommends, and GitHub's
	tokenLife = time.Hour
	maxForm   = 64 << 10
)

// The endpoints, below the base path.
const (
	pathHome      = "/"
	pathAuthorize = "/login/oauth/authorize"
	pathToken     = "/login/oauth/access_token" //nolint:gosec // a path, not a credential
	pathUser      = "/api/v1/user"
	pathEmails    = "/api/v1/user/emails"
)

// Options configure a Server.
type Options struct {
	// Dir keeps the identities, in one file; made when missing. Empty: they are forgotten with the Server.
	// Codes and tokens never outlive it.
	Dir string
	Now func() time.Time // default: the system's clock
	// ClientID and ClientSecret are the one registered client's.
	ClientID, ClientSecret string
	// RedirectPrefixes are the client's registered callback URLs. A redirect URI must have the scheme, host and port of one and its
	// path, or a path below it. Where the host is a loopback address literal the port is free (RFC 8252 §7.3; "localhost" is none).
	RedirectPrefixes []string
	BasePath         string       // default "/codehost"
	Logger           *slog.Logger // default: nothing is logged
}

// Server is the provider. It is safe for concurrent use.
type Server struct {
	base       string
	clientID   string
	redirects  redirects
	identities *identities
	manager    *manage.Manager
	client     client
	csrfKey    []byte
	guard      *http.CrossOriginProtection
	routes     map[string]map[string]http.HandlerFunc // path → method → handler
	log        *slog.Logger
}

// New reads the identities of Options.Dir and returns a server that is ready. A file there that is not its own is an error and stays
// as it is.
func New(o Options) (*Server, error) {
	if o.ClientID == "" || o.ClientSecret == "" {
		return nil, errors.New("codehost: a client id and a client secret are needed")
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
		base:       "/" + strings.Trim(o.BasePath, "/"),
		clientID:   o.ClientID,
		redirects:  registered,
		identities: known,
		csrfKey:    make([]byte, 32),
		guard:      http.NewCrossOriginProtection(),
		log:        o.Logger,
	}
	if o.BasePath == "" {
		s.base = "/codehost"
	}
	if s.base == "/" {
		s.base = ""
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	now := o.Now
	if now == nil {
		now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if _, err := rand.Read(s.csrfKey); err != nil {
		return nil, fmt.Errorf("codehost: %w", err)
	}
	s.client = newClient(o.ClientID, o.ClientSecret)
	s.manager = newManager(newGrants(now, s.log), s.client, registered)
	s.routes = map[string]map[string]http.HandlerFunc{
		pathHome:      {http.MethodGet: s.home},
		pathAuthorize: {http.MethodGet: s.askConsent, http.MethodPost: s.decide},
		pathToken:     {http.MethodPost: s.redeem},
		pathUser:      {http.MethodGet: s.user},
		pathEmails:    {http.MethodGet: s.emails},
	}
	return s, nil
}

// ServeHTTP implements http.Handler. Requests come with the base path in front.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	// Not no-referrer: that would turn the Origin of the page's own form into "null".
	h.Set("Referrer-Policy", "same-origin")

	path, ok := strings.CutPrefix(r.URL.Path, s.base)
	methods := s.routes[path]
	if !ok || methods == nil {
		http.NotFound(w, r)
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	handle := methods[method]
	if handle == nil {
		for allowed := range methods {
			h.Add("Allow", allowed)
		}
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	handle(w, r)
}
