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

	"devplatform/shared/account/oauth"
)

// codeHost is a provider whose users, addresses and failures a test chooses. It checks requests as strictly as real
// providers do: client, PKCE, redirect URI, single use. TestPlatformCodeHost tests the code host of the local platform.
type codeHost struct {
	t      *testing.T
	server *httptest.Server

	mu     sync.Mutex
	codes  map[string]grant
	tokens map[string]person
	broken string // a path that fails
}

type grant struct {
	person              person
	challenge, redirect string
}

type person struct {
	ID     int
	Login  string
	Emails []mail
}

type mail struct {
	Email    string `json:"email"`
	Verified bool   `json:"verified"`
	Primary  bool   `json:"primary"`
}

func octocat(id int, emails ...mail) person {
	return person{ID: id, Login: "octocat", Emails: emails}
}

func verified(email string) mail   { return mail{Email: email, Verified: true, Primary: true} }
func unverified(email string) mail { return mail{Email: email, Primary: true} }

func newCodeHost(t *testing.T) *codeHost {
	t.Helper()
	h := &codeHost{t: t, codes: map[string]grant{}, tokens: map[string]person{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", h.redeem)
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, r *http.Request) {
		if p, ok := h.bearer(w, r); ok {
			_ = json.NewEncoder(w).Encode(map[string]any{"id": p.ID, "login": p.Login})
		}
	})
	mux.HandleFunc("GET /emails", func(w http.ResponseWriter, r *http.Request) {
		if p, ok := h.bearer(w, r); ok {
			_ = json.NewEncoder(w).Encode(append([]mail{}, p.Emails...))
		}
	})
	h.server = httptest.NewServer(mux)
	t.Cleanup(h.server.Close)
	return h
}

// with configures the code host.
func (h *codeHost) with() option {
	return func(d *Deps) {
		provider, err := oauth.New(h.config())
		if err != nil {
			h.t.Fatal(err)
		}
		d.Provider = provider
	}
}

func (h *codeHost) config() oauth.Config {
	return oauth.Config{
		Provider: "custom", ClientID: "client", ClientSecret: "secret",
		AuthorizeURL: h.server.URL + "/authorize", TokenURL: h.server.URL + "/token",
		UserURL: h.server.URL + "/user", EmailsURL: h.server.URL + "/emails",
	}
}

// approve gives the consent of p on the provider's page, and returns the callback to which it redirects the browser.
func (h *codeHost) approve(location string, p person) string {
	h.t.Helper()
	u, err := url.Parse(location)
	if err != nil || !strings.HasPrefix(location, h.server.URL+"/authorize?") {
		h.t.Fatalf("not the code host's page: %q, %v", location, err)
	}
	q := u.Query()
	if q.Get("client_id") != "client" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" {
		h.t.Fatalf("authorization request %v", q)
	}
	code := rand.Text()
	h.mu.Lock()
	h.codes[code] = grant{p, q.Get("code_challenge"), q.Get("redirect_uri")}
	h.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	return strings.TrimPrefix(q.Get("redirect_uri"), serverOf(q.Get("redirect_uri"))) + "?" + back.Encode()
}

func serverOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (h *codeHost) redeem(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g, ok := h.codes[r.FormValue("code")]
	delete(h.codes, r.FormValue("code"))
	user, password, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch {
	case h.broken == "/token":
		http.Error(w, "<h1>down</h1>", http.StatusBadGateway)
	case user != "client" || password != "secret":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
	case !ok || g.redirect != r.FormValue("redirect_uri") || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
	default:
		token := rand.Text()
		h.tokens[token] = g.person
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"` + token + `","token_type":"bearer"}`))
	}
}

func (h *codeHost) bearer(w http.ResponseWriter, r *http.Request) (person, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if h.broken == r.URL.Path {
		http.Error(w, "down", http.StatusInternalServerError)
		return p, false
	}
	if !ok {
		http.Error(w, "no", http.StatusUnauthorized)
	}
	return p, ok
}

func (h *codeHost) breakDown(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = path
}

// start starts a sign-in and returns the page of the code host.
func (b *browser) start(redirect string) string {
	b.w.t.Helper()
	path := "/api/auth/codehost"
	if redirect != "" {
		path += "?redirect=" + url.QueryEscape(redirect)
	}
	return b.Do(http.MethodGet, path, nil).Want(b.w.t, http.StatusFound).Header.Get("Location")
}

// link starts a link and returns the page of the code host.
func (b *browser) link() string {
	b.w.t.Helper()
	return b.Do(http.MethodPost, "/api/auth/codehost/link", nil).Want(b.w.t, http.StatusOK).Text("url")
}

// signIn signs in with the code host as p.
func (b *browser) signIn(h *codeHost, p person) answer {
	b.w.t.Helper()
	return b.Do(http.MethodGet, h.approve(b.start(""), p), nil)
}
