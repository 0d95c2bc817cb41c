// Package codehost is a small code host to sign in with, like Gitea: an OAuth 2.0 provider with a consent page, a token
// endpoint and a user API, for a laptop and for tests.
//
// It is as strict as a real code host where a client can make a mistake: it requires PKCE S256, a code works once and
// for ten minutes, and the redirect URI must be below a registered one. It has no passwords and stores nothing:
// everyone who can reach it can sign in as every user, and the id of a user depends only on the username. Nothing about
// the applications that sign in here may enter.
package codehost

import (
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // the pages
	"encoding/base64"
	"encoding/binary"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Path is the path below which all endpoints are.
const Path = "/codehost"

const (
	codeLife  = 10 * time.Minute // GitHub's lifetime, the maximum that RFC 6749 §4.1.2 recommends
	tokenLife = time.Hour
	maxForm   = 64 << 10
)

// Options configure a Server.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// ClientID and ClientSecret are the credentials of the one registered client.
	ClientID, ClientSecret string
	// RedirectPrefixes are the client's registered callback URLs. A redirect URI must have the scheme, host and port of
	// one of them, and its path or a path below it. For 127.0.0.1, every port is allowed (RFC 8252 §7.3).
	RedirectPrefixes []string
	// Logger gets a line for each sign-in and each refused token. The default discards them.
	Logger *slog.Logger
}

// Server is the provider. It is safe for concurrent use.
type Server struct {
	options   Options
	redirects []*url.URL
	guard     *http.CrossOriginProtection
	mux       *http.ServeMux

	mu            sync.Mutex
	codes, tokens map[string]grant
}

// grant is an authorization by a user, to which a code or a token refers.
type grant struct {
	user                   user
	scopes                 []string
	redirectURI, challenge string
	expires                time.Time
}

// user has the fields of Gitea's User that sign-in needs.
type user struct {
	ID       int64  `json:"id"`
	Login    string `json:"login"`
	Username string `json:"username"`
	Email    string `json:"email"`
	verified bool
}

// New returns a server.
func New(o Options) (*Server, error) {
	if o.Now == nil || o.ClientID == "" || o.ClientSecret == "" || len(o.RedirectPrefixes) == 0 {
		return nil, errors.New("codehost: Now, ClientID, ClientSecret and RedirectPrefixes are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		options: o, guard: http.NewCrossOriginProtection(), mux: http.NewServeMux(),
		codes: map[string]grant{}, tokens: map[string]grant{},
	}
	for _, prefix := range o.RedirectPrefixes {
		u := parseRedirect(prefix)
		if u == nil {
			return nil, errors.New("codehost: not a redirect URI: " + prefix)
		}
		s.redirects = append(s.redirects, u)
	}
	s.mux.HandleFunc("GET "+Path+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
		s.show(w, http.StatusOK, "home", nil)
	})
	s.mux.HandleFunc("GET "+Path+"/login/oauth/authorize", s.askConsent)
	s.mux.HandleFunc("POST "+Path+"/login/oauth/authorize", s.decide)
	s.mux.HandleFunc("POST "+Path+"/login/oauth/access_token", s.redeem)
	s.mux.HandleFunc("GET "+Path+"/api/v1/user", s.serveUser)
	s.mux.HandleFunc("GET "+Path+"/api/v1/user/emails", s.serveEmails)
	return s, nil
}

// ServeHTTP implements http.Handler. The path of a request begins with [Path].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send "Origin: null" with the form
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.mux.ServeHTTP(w, r)
}

// issue stores a grant under a new code or token, and deletes expired ones.
func (s *Server) issue(all map[string]grant, g grant, life time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	for key, stored := range all {
		if now.After(stored.expires) {
			delete(all, key)
		}
	}
	key := rand.Text()
	g.expires = now.Add(life)
	all[key] = g
	return key
}

var loginPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$`)

// newUser returns the user of a form. It returns false if the username or the e-mail address is not valid.
func newUser(login, email string, isVerified bool) (user, bool) {
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || !loginPattern.MatchString(login) {
		return user{}, false
	}
	sum := sha256.Sum256([]byte(strings.ToLower(login)))
	id := int64(binary.BigEndian.Uint32(sum[:])) + 1 // 0 would look like a missing id
	return user{ID: id, Login: login, Username: login, Email: email, verified: isVerified}, true
}

// parseRedirect returns a redirect URI, or nil if it is not an absolute URL that all parsers read in the same way.
func parseRedirect(raw string) *url.URL {
	u, err := url.Parse(raw)
	isPlain := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		!strings.ContainsAny(raw, `\ #`) && !strings.Contains(u.EscapedPath(), "%") && !strings.Contains(u.Path, "/.")
	if !isPlain {
		return nil
	}
	return u
}

// allowsRedirect reports whether a redirect URI is below a registered one.
func (s *Server) allowsRedirect(raw string) bool {
	u := parseRedirect(raw)
	for _, registered := range s.redirects {
		if u == nil || u.Scheme != registered.Scheme || u.Hostname() != registered.Hostname() {
			continue
		}
		base := strings.TrimRight(registered.Path, "/")
		isPort := u.Port() == registered.Port() || u.Hostname() == "127.0.0.1"
		if isPort && (u.Path == base || strings.HasPrefix(u.Path, base+"/")) {
			return true
		}
	}
	return false
}

//go:embed page.html
var pagesSource string

var pages = template.Must(template.New("").Parse(pagesSource))

// pagePolicy allows form-action to all web addresses, because browsers also apply it to the redirects after the form.
var pagePolicy = func() string {
	_, css, _ := strings.Cut(pagesSource, `{{define "css"}}`)
	css, _, _ = strings.Cut(css, "{{end}}")
	hash := sha256.Sum256([]byte(css))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; form-action 'self' http: https:; frame-ancestors 'none'; base-uri 'none'"
}()

func (s *Server) show(w http.ResponseWriter, status int, name string, data any) {
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := pages.ExecuteTemplate(w, name, data); err != nil {
		s.options.Logger.Error("codehost: page", "error", err)
	}
}
