package account

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	localhost "devplatform/infra/local/codehost"
	"devplatform/shared/account/codehost"
	"devplatform/shared/account/oauth"
)

// TestLocalCodeHost signs in with the code host of the local platform, through its consent page.
func TestLocalCodeHost(t *testing.T) {
	t.Parallel()
	var handler http.Handler // set below, because it needs the URL of the service
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	provider, err := oauth.New(oauth.Config{
		Provider: "gitea", BaseURL: server.URL + "/codehost", ClientID: "app", ClientSecret: "app secret",
	})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(d *Deps) { d.Provider = provider })
	handler = localhost.New(localhost.Options{
		Now:              f.clock.Now,
		ClientID:         "app",
		ClientSecret:     "app secret",
		RedirectPrefixes: []string{f.server.URL + codehost.CallbackPath},
		Logger:           slog.New(slog.DiscardHandler),
	})
	client := f.newClient()
	page := client.startSignIn("/projects")
	canceled := client.hiddenFields(page)
	canceled.Set("decision", "cancel")
	callback := client.submit(page, canceled)
	response := client.Get(strings.TrimPrefix(callback, f.server.URL)).Want(t, http.StatusFound)
	if got := response.Header.Get("Location"); got != "/projects?error=access_denied" {
		t.Errorf("after Cancel, the callback redirects to %q, want /projects?error=access_denied", got)
	}
	page = client.startSignIn("/projects")
	form := client.hiddenFields(page)
	form.Set("login", "grace")
	form.Set("email", "grace@example.com")
	form.Set("verified", "true")
	form.Set("decision", "authorize")
	callback = client.submit(page, form)
	response = client.Get(strings.TrimPrefix(callback, f.server.URL)).Want(t, http.StatusFound)
	if got := response.Header.Get("Location"); got != "/projects" {
		t.Errorf("the callback redirects to %q, want /projects", got)
	}
	me := client.me().Want(t, http.StatusOK)
	if me.Text("email") != "grace@example.com" || me.Text("username") != "grace" {
		t.Errorf("got the account %s, want grace with grace@example.com", me.Raw)
	}
}

// hiddenFields returns the hidden fields of the form on a page.
func (c *apiClient) hiddenFields(page string) url.Values {
	c.f.t.Helper()
	response, err := c.HTTP.Get(page)
	if err != nil {
		c.f.t.Fatal(err)
	}
	defer response.Body.Close()
	document, err := html.Parse(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		c.f.t.Fatalf("consent page: got status %d and the error %v, want 200", response.StatusCode, err)
	}
	fields := url.Values{}
	for node := range document.Descendants() {
		attributes := map[string]string{}
		for _, attribute := range node.Attr {
			attributes[attribute.Key] = attribute.Val
		}
		if node.Data == "input" && attributes["type"] == "hidden" {
			fields.Set(attributes["name"], attributes["value"])
		}
	}
	return fields
}

// submit posts the form of a page and returns the URL to which the response redirects the browser.
func (c *apiClient) submit(page string, form url.Values) string {
	c.f.t.Helper()
	u, err := url.Parse(page)
	if err != nil {
		c.f.t.Fatal(err)
	}
	origin := u.Scheme + "://" + u.Host
	body := strings.NewReader(form.Encode())
	request, err := http.NewRequestWithContext(c.f.t.Context(), http.MethodPost, origin+u.Path, body)
	if err != nil {
		c.f.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", origin)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := c.HTTP.Do(request)
	if err != nil {
		c.f.t.Fatal(err)
	}
	defer response.Body.Close()
	location := response.Header.Get("Location")
	if location == "" {
		c.f.t.Fatalf("consent form: got status %d, want a redirect", response.StatusCode)
	}
	return location
}
