// Package codehost is the smallest code host to sign in with, in the form of Gitea: an OAuth 2.0 provider with a
// consent page, a token endpoint and a user API, for a laptop and for tests.
//
// It is as strict as a real code host where a client can make a mistake: it requires PKCE S256, a code works once and
// for ten minutes, and the redirect URI must begin with a registered prefix. It has no passwords, ignores scopes and
// stores nothing: everyone who can reach it can sign in as every user, and the id of a user depends only on the
// username. Nothing about the applications that sign in here may enter.
package codehost

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // the pages
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Path is the path below which all endpoints are.
const Path = "/codehost"

const (
	authorizePath = Path + "/login/oauth/authorize"
	codeLife      = 10 * time.Minute // GitHub's lifetime, the maximum that RFC 6749 §4.1.2 recommends
	tokenLife     = time.Hour
	maxForm       = 64 << 10
)

// Options configure a Server. All are required.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// ClientID and ClientSecret are the credentials of the one registered client.
	ClientID, ClientSecret string
	// RedirectPrefixes are the beginnings of the client's callback URLs, such as "http://localhost:3000/".
	RedirectPrefixes []string
	// Logger gets a line for each sign-in and each refused token.
	Logger *slog.Logger
}

// Server is the provider. It is safe for concurrent use.
type Server struct {
	options Options
	guard   *http.CrossOriginProtection
	mux     *http.ServeMux

	mu            sync.Mutex
	codes, tokens map[string]grant
}

// grant is an authorization by a user, to which a code or a token refers.
type grant struct {
	user                   user
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
func New(o Options) *Server {
	s := &Server{
		options: o, guard: http.NewCrossOriginProtection(), mux: http.NewServeMux(),
		codes: map[string]grant{}, tokens: map[string]grant{},
	}
	s.mux.HandleFunc("GET "+Path+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
		s.show(w, http.StatusOK, "home", nil)
	})
	s.mux.HandleFunc("GET "+authorizePath, s.askConsent)
	s.mux.HandleFunc("POST "+authorizePath, s.decide)
	s.mux.HandleFunc("POST "+Path+"/login/oauth/access_token", s.redeem)
	s.mux.HandleFunc("GET "+Path+"/api/v1/user", func(w http.ResponseWriter, r *http.Request) {
		if user, ok := s.bearer(w, r); ok {
			writeJSON(w, http.StatusOK, user)
		}
	})
	s.mux.HandleFunc("GET "+Path+"/api/v1/user/emails", func(w http.ResponseWriter, r *http.Request) {
		if user, ok := s.bearer(w, r); ok {
			writeJSON(w, http.StatusOK, []map[string]any{{"email": user.Email, "verified": user.verified, "primary": true}})
		}
	})
	return s
}

// ServeHTTP implements http.Handler. The path of a request begins with [Path].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send "Origin: null" with the form
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.mux.ServeHTTP(w, r)
}

// issue stores a grant under a new code or token, and deletes expired grants.
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

var (
	loginPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$`)
	// challengePattern is the base64url of 32 bytes, without padding (RFC 7636 §4.2).
	challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
)

// newUser returns the user of a form. It returns false if the username or the e-mail address is not valid.
func newUser(form url.Values) (user, bool) {
	login, email := form.Get("login"), form.Get("email")
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || !loginPattern.MatchString(login) {
		return user{}, false
	}
	sum := sha256.Sum256([]byte(strings.ToLower(login)))
	id := int64(binary.BigEndian.Uint32(sum[:])) + 1 // 0 would look like a missing id
	return user{ID: id, Login: login, Username: login, Email: email, verified: form.Get("verified") != ""}, true
}

//go:embed page.html
var pagesSource string

var pages = template.Must(template.New("").Parse(pagesSource))

// pagePolicy allows form-action to all web addresses, because browsers also apply it to the redirects after the form.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' http: https:; " +
	"frame-ancestors 'none'"

func (s *Server) show(w http.ResponseWriter, status int, name string, data any) {
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := pages.ExecuteTemplate(w, name, data); err != nil {
		s.options.Logger.Error("codehost: page", "error", err)
	}
}

// checkAuthorization reports whether an authorization request is valid. If it is not, it responds with an error: to the
// user if the redirect URI cannot be trusted, and otherwise to the client.
func (s *Server) checkAuthorization(w http.ResponseWriter, r *http.Request, q url.Values) bool {
	isTrusted := slices.ContainsFunc(s.options.RedirectPrefixes, func(prefix string) bool {
		return strings.HasPrefix(q.Get("redirect_uri"), prefix)
	})
	switch {
	case q.Get("client_id") != s.options.ClientID || !isTrusted:
		s.show(w, http.StatusBadRequest, "error", "The client_id or the redirect_uri is not registered.")
	case q.Get("response_type") != "code":
		redirect(w, r, q, "error", "unsupported_response_type")
	case q.Get("code_challenge_method") != "S256" || !challengePattern.MatchString(q.Get("code_challenge")):
		redirect(w, r, q, "error", "invalid_request") // PKCE is required
	default:
		return true
	}
	return false
}

// redirect sends the browser back to the client, with a parameter and the state of the request.
func redirect(w http.ResponseWriter, r *http.Request, q url.Values, name, value string) {
	separator := "?"
	if strings.Contains(q.Get("redirect_uri"), "?") {
		separator = "&"
	}
	target := q.Get("redirect_uri") + separator + url.Values{name: {value}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, target, http.StatusFound) //nolint:gosec // checkAuthorization has checked the redirect URI
}

// askConsent handles GET /login/oauth/authorize.
func (s *Server) askConsent(w http.ResponseWriter, r *http.Request) {
	query, fields := r.URL.Query(), map[string]string{}
	for name := range strings.FieldsSeq(
		"client_id redirect_uri response_type state code_challenge code_challenge_method") {
		fields[name] = query.Get(name)
	}
	if s.checkAuthorization(w, r, query) {
		s.show(w, http.StatusOK, "consent", map[string]any{"Client": s.options.ClientID, "Fields": fields})
	}
}

// decide handles POST /login/oauth/authorize, the form of the consent page. Pages of other sites can't consent.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if s.guard.Check(r) != nil || r.ParseForm() != nil {
		s.show(w, http.StatusForbidden, "error", "The form came from another site, or is malformed or too large.")
		return
	}
	form := r.PostForm
	if !s.checkAuthorization(w, r, form) {
		return
	}
	if form.Get("decision") != "authorize" {
		redirect(w, r, form, "error", "access_denied")
		return
	}
	user, ok := newUser(form)
	if !ok {
		s.show(w, http.StatusUnprocessableEntity, "error", "Go back, and enter a username of 1 to 39 letters, digits, dots, "+
			"dashes or underscores, and a valid e-mail address.")
		return
	}
	code := s.issue(s.codes, grant{
		user: user, redirectURI: form.Get("redirect_uri"), challenge: form.Get("code_challenge"),
	}, codeLife)
	s.options.Logger.Info("codehost: authorized", "login", user.Login)
	redirect(w, r, form, "code", code)
}

// redeem handles POST /login/oauth/access_token: it exchanges a code for an access token. It reads only the body,
// because URLs are logged. A code can be used once, even if the redirect URI or the verifier is wrong.
func (s *Server) redeem(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code string) {
		s.options.Logger.Info("codehost: token refused", "error", code)
		writeJSON(w, status, map[string]string{"error": code})
	}
	if r.ParseForm() != nil {
		refuse(http.StatusBadRequest, "invalid_request")
		return
	}
	form := r.PostForm
	if !s.isClient(r, form) {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	if form.Get("grant_type") != "authorization_code" {
		refuse(http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	s.mu.Lock()
	granted, ok := s.codes[form.Get("code")]
	delete(s.codes, form.Get("code"))
	s.mu.Unlock()
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !ok || !s.options.Now().Before(granted.expires) || form.Get("redirect_uri") != granted.redirectURI ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != granted.challenge {
		refuse(http.StatusBadRequest, "invalid_grant")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": s.issue(s.tokens, granted, tokenLife), "token_type": "Bearer",
		"expires_in": int64(tokenLife / time.Second),
	})
}

// isClient checks the client's credentials, which are in the Authorization header or in the form (RFC 6749 §2.3).
func (s *Server) isClient(r *http.Request, form url.Values) bool {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if user, password, isBasic := r.BasicAuth(); isBasic { // both are form-encoded (§2.3.1)
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	hasSecret := subtle.ConstantTimeCompare([]byte(secret), []byte(s.options.ClientSecret)) == 1
	return id == s.options.ClientID && hasSecret
}

// bearer returns the user of the request's token. Without a valid token, it responds with an error.
func (s *Server) bearer(w http.ResponseWriter, r *http.Request) (user, bool) {
	token, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	granted, ok := s.tokens[token]
	s.mu.Unlock()
	if !isBearer || !ok || !s.options.Now().Before(granted.expires) {
		writeJSON(w, http.StatusUnauthorized, map[string]string{"message": "the token is missing, unknown or expired"})
		return user{}, false
	}
	return granted.user, true
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
