package codehost_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"devplatform/infra/local/codehost"
)

const (
	clientID = "app"
	secret   = "s3cr€t:with/specials"
	callback = "https://app.example/auth/callback"
	verifier = "a-verifier-of-forty-three-characters-or-more"
)

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// clock is a clock that tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// host is a running code host and one browser.
type host struct {
	t       *testing.T
	server  *httptest.Server
	browser *http.Client
	clock   *clock
}

func start(t *testing.T, dir string) *host {
	t.Helper()
	c := &clock{now: time.Now()}
	s, err := codehost.New(codehost.Options{
		Dir: dir, Now: c.Now, ClientID: clientID, ClientSecret: secret,
		RedirectPrefixes: []string{callback}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &host{t: t, server: server, browser: newBrowser(), clock: c}
}

// newBrowser returns a client that does not follow redirects.
func newBrowser() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (h *host) url(path string) string { return h.server.URL + "/codehost" + path }

// response is a response with its body.
type response struct {
	status int
	header http.Header
	body   string
}

func (h *host) do(req *http.Request) response {
	h.t.Helper()
	res, err := h.browser.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return response{res.StatusCode, res.Header, string(body)}
}

func (h *host) request(method, target, body string) *http.Request {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req
}

// authorization is a valid request; change edits it.
func authorization(change ...func(url.Values)) url.Values {
	q := url.Values{
		"client_id": {clientID}, "redirect_uri": {callback}, "response_type": {"code"}, "state": {"st&te="},
		"scope": {"read:user"}, "code_challenge": {challenge()}, "code_challenge_method": {"S256"},
	}
	for _, f := range change {
		f(q)
	}
	return q
}

func set(name string, values ...string) func(url.Values) {
	return func(q url.Values) { q[name] = values }
}

// open gets the consent page.
func (h *host) open(q url.Values) response {
	h.t.Helper()
	return h.do(h.request(http.MethodGet, h.url("/login/oauth/authorize?"+q.Encode()), ""))
}

// form is a form of a page as a browser submits it.
type form struct {
	action string
	fields url.Values
}

// forms returns the forms of a page with their initial values.
func (h *host) forms(page string) []form {
	h.t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		h.t.Fatal(err)
	}
	var found []form
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		switch {
		case node.Data == "form":
			found = append(found, form{attr(node, "action"), url.Values{}})
		case node.Data == "input" && (attr(node, "type") != "checkbox" || has(node, "checked")):
			found[len(found)-1].fields.Add(attr(node, "name"), attr(node, "value"))
		case node.Data == "option" && !found[len(found)-1].fields.Has("identity"):
			found[len(found)-1].fields.Set("identity", attr(node, "value"))
		}
	}
	return found
}

func has(node *html.Node, name string) bool {
	for _, a := range node.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func attr(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// submit sends a form with a decision and changed fields.
func (h *host) submit(f form, decision string, change ...func(url.Values)) response {
	h.t.Helper()
	f.fields.Set("decision", decision)
	for _, edit := range change {
		edit(f.fields)
	}
	return h.do(h.request(http.MethodPost, h.server.URL+f.action, f.fields.Encode()))
}

// redirected returns the query of a redirect, which must lead to the callback URL.
func (h *host) redirected(a response) url.Values {
	h.t.Helper()
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusFound {
		h.t.Fatalf("no redirect: %d %s\n%s", a.status, a.header.Get("Location"), a.body)
	}
	if at := to.Scheme + "://" + to.Host + to.Path; at != callback {
		h.t.Fatalf("redirected to %s", at)
	}
	return to.Query()
}

// signIn fills in the form for a new identity and returns the code.
func (h *host) signIn(login, email string, verified bool, change ...func(url.Values)) string {
	h.t.Helper()
	forms := h.forms(h.open(authorization(change...)).body)
	tick := set("verified", "true")
	if !verified {
		tick = func(q url.Values) { q.Del("verified") }
	}
	back := h.redirected(h.submit(forms[len(forms)-1], "authorize", set("login", login), set("email", email), tick))
	if back.Get("state") != "st&te=" || back.Get("code") == "" || back.Has("error") {
		h.t.Fatalf("redirected with %v", back)
	}
	return back.Get("code")
}

// redemption is a valid token request for the code; change edits it.
func redemption(code string, change ...func(url.Values)) url.Values {
	q := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
		"client_id": {clientID}, "client_secret": {secret},
	}
	for _, f := range change {
		f(q)
	}
	return q
}

// redeem posts to the token endpoint and decodes its JSON.
func (h *host) redeem(q url.Values, change ...func(*http.Request)) (response, map[string]any) {
	h.t.Helper()
	req := h.request(http.MethodPost, h.url("/login/oauth/access_token"), q.Encode())
	for _, f := range change {
		f(req)
	}
	a := h.do(req)
	var decoded map[string]any
	if err := json.Unmarshal([]byte(a.body), &decoded); err != nil {
		h.t.Fatalf("token endpoint: %d %s", a.status, a.body)
	}
	return a, decoded
}

// token signs in and redeems the code.
func (h *host) token(login, email string, verified bool, change ...func(url.Values)) string {
	h.t.Helper()
	a, decoded := h.redeem(redemption(h.signIn(login, email, verified, change...)))
	token, ok := decoded["access_token"].(string)
	if a.status != http.StatusOK || !ok {
		h.t.Fatalf("token endpoint: %d %s", a.status, a.body)
	}
	return token
}

// get calls the API with a token.
func (h *host) get(path, authorization string) response {
	h.t.Helper()
	req := h.request(http.MethodGet, h.url(path), "")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	return h.do(req)
}
