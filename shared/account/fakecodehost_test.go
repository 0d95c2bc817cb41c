package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/oauth"
)

// fakeCodeHost is a code host whose users, addresses and failures a test chooses. It checks the client, PKCE, the
// redirect URI and the single use of codes as strictly as real code hosts do. TestLocalCodeHost tests the code host of
// the local platform.
type fakeCodeHost struct {
	t      *testing.T
	server *httptest.Server

	mu          sync.Mutex
	codes       map[string]grant
	tokens      map[string]codeHostUser
	failingPath string // requests to this path fail
	meanwhile   func() // called once, before the addresses of a user are returned
}

// grant is the data of an authorization code.
type grant struct {
	user                       codeHostUser
	codeChallenge, redirectURI string
}

type codeHostUser struct {
	ID     int
	Login  string
	Emails []userEmail
}

type userEmail struct {
	Email    string `json:"email"`
	Verified bool   `json:"verified"`
	Primary  bool   `json:"primary"`
}

// octocat returns a user whose login is octocat.
func octocat(id int, emails ...userEmail) codeHostUser {
	return codeHostUser{ID: id, Login: "octocat", Emails: emails}
}

// verified returns a primary address that the code host has verified.
func verified(email string) userEmail {
	return userEmail{Email: email, Verified: true, Primary: true}
}

// unverified returns a primary address that the code host has not verified.
func unverified(email string) userEmail {
	return userEmail{Email: email, Primary: true}
}

func newFakeCodeHost(t *testing.T) *fakeCodeHost {
	t.Helper()
	h := &fakeCodeHost{t: t, codes: map[string]grant{}, tokens: map[string]codeHostUser{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", h.exchangeCode)
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, r *http.Request) {
		if user, ok := h.authenticate(w, r); ok {
			_ = json.NewEncoder(w).Encode(map[string]any{"id": user.ID, "login": user.Login})
		}
	})
	mux.HandleFunc("GET /emails", func(w http.ResponseWriter, r *http.Request) {
		if user, ok := h.authenticate(w, r); ok {
			h.takeMeanwhile()()
			_ = json.NewEncoder(w).Encode(append([]userEmail{}, user.Emails...))
		}
	})
	h.server = httptest.NewServer(mux)
	t.Cleanup(h.server.Close)
	return h
}

// newHostFixture returns a fixture with a code host, and runs the test in parallel with others.
func newHostFixture(t *testing.T, options ...option) (*fixture, *fakeCodeHost) {
	t.Helper()
	host := newFakeCodeHost(t)
	return newFixture(t, append(options, host.option())...), host
}

// option configures the service to use the code host.
func (h *fakeCodeHost) option() option {
	return func(d *Deps) {
		provider, err := oauth.New(oauth.Config{
			Provider: "custom", ClientID: "client", ClientSecret: "secret",
			AuthorizeURL: h.server.URL + "/authorize", TokenURL: h.server.URL + "/token",
			UserURL: h.server.URL + "/user", EmailsURL: h.server.URL + "/emails",
		})
		if err != nil {
			h.t.Fatal(err)
		}
		d.Provider = provider
	}
}

// approve accepts an authorization request on behalf of user. It returns the path and the query of the callback to
// which the code host redirects the browser.
func (h *fakeCodeHost) approve(authorizeURL string, user codeHostUser) string {
	h.t.Helper()
	u, err := url.Parse(authorizeURL)
	if err != nil || !strings.HasPrefix(authorizeURL, h.server.URL+"/authorize?") {
		h.t.Fatalf("got the URL %q (%v), want the authorization page of the code host", authorizeURL, err)
	}
	query := u.Query()
	if query.Get("client_id") != "client" || query.Get("response_type") != "code" ||
		query.Get("code_challenge_method") != "S256" || query.Get("state") == "" {
		h.t.Fatalf("invalid authorization request: %v", query)
	}
	code, redirectURI := rand.Text(), query.Get("redirect_uri")
	h.mu.Lock()
	h.codes[code] = grant{user: user, codeChallenge: query.Get("code_challenge"), redirectURI: redirectURI}
	h.mu.Unlock()
	callback, err := url.Parse(redirectURI)
	if err != nil {
		h.t.Fatal(err)
	}
	return callback.Path + "?" + url.Values{"code": {code}, "state": {query.Get("state")}}.Encode()
}

// exchangeCode handles a request that exchanges a code for an access token.
func (h *fakeCodeHost) exchangeCode(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	code := r.FormValue("code")
	grant, ok := h.codes[code]
	delete(h.codes, code)
	clientID, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case h.failingPath == "/token":
		http.Error(w, "<h1>down</h1>", http.StatusBadGateway)
	case clientID != "client" || secret != "secret":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
	case !ok || grant.redirectURI != r.FormValue("redirect_uri") || grant.codeChallenge != challenge:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
	default:
		token := rand.Text()
		h.tokens[token] = grant.user
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"` + token + `","token_type":"bearer"}`))
	}
}

// authenticate returns the user of the request's access token. It writes an error response if it returns false.
func (h *fakeCodeHost) authenticate(w http.ResponseWriter, r *http.Request) (codeHostUser, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	user, ok := h.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if h.failingPath == r.URL.Path {
		http.Error(w, "down", http.StatusInternalServerError)
		return user, false
	}
	if !ok {
		http.Error(w, "invalid token", http.StatusUnauthorized)
	}
	return user, ok
}

// takeMeanwhile returns the function to call, and removes it.
func (h *fakeCodeHost) takeMeanwhile() func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	meanwhile := h.meanwhile
	h.meanwhile = nil
	if meanwhile == nil {
		return func() {}
	}
	return meanwhile
}

// failRequestsTo makes requests to a path fail. An empty path stops the failures.
func (h *fakeCodeHost) failRequestsTo(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failingPath = path
}

// startSignIn starts a sign-in and returns the URL of the code host's authorization page.
func (c *apiClient) startSignIn(redirect string) string {
	c.f.t.Helper()
	path := "/api/auth/codehost"
	if redirect != "" {
		path += "?redirect=" + url.QueryEscape(redirect)
	}
	return c.Get(path).Want(c.f.t, http.StatusFound).Header.Get("Location")
}

// startLink starts to link the client's user to a user of the code host. It returns the URL of the code host's
// authorization page.
func (c *apiClient) startLink() string {
	c.f.t.Helper()
	return c.Do(http.MethodPost, "/api/auth/codehost/link", nil).Want(c.f.t, http.StatusOK).Text("url")
}

// signIn signs in with the code host as user, and returns the response to the callback.
func (c *apiClient) signIn(host *fakeCodeHost, user codeHostUser) slicetest.Response {
	c.f.t.Helper()
	return c.Get(host.approve(c.startSignIn(""), user))
}
