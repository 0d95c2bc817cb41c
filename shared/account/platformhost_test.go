package account

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"devplatform/infra/local/codehost"
	"devplatform/shared/account/oauth"
)

// TestPlatformCodeHost signs in with the code host of the local platform, through its consent page.
func TestPlatformCodeHost(t *testing.T) {
	t.Parallel()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	provider, err := oauth.New(oauth.Config{Provider: "gitea", BaseURL: server.URL + "/codehost", ClientID: "app", ClientSecret: "app secret"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(d *Deps) { d.Provider = provider })
	handler, err = codehost.New(codehost.Options{
		Now: w.clock.Now, ClientID: "app", ClientSecret: "app secret", RedirectPrefixes: []string{w.server.URL + CallbackPath},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := w.browser()
	page := b.start("/projects")
	form := b.form(page)
	form.Set("login", "grace")
	form.Set("email", "grace@example.com")
	form.Set("verified", "true")
	form.Set("decision", "authorize")
	back := b.submit(page, form)
	a := b.Do(http.MethodGet, strings.TrimPrefix(back, w.server.URL), nil).Want(t, http.StatusFound)
	if got := a.Header.Get("Location"); got != "/projects" {
		t.Errorf("redirected to %q", got)
	}
	if me := b.me().Want(t, http.StatusOK); me.Text("email") != "grace@example.com" || me.Text("username") != "grace" {
		t.Errorf("me %s", me.Raw)
	}
}

// form reads the hidden fields of the consent page's form.
func (b *browser) form(page string) url.Values {
	b.w.t.Helper()
	res, err := b.HTTP.Get(page)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		b.w.t.Fatalf("consent page: %d %s, %v", res.StatusCode, raw, err)
	}
	document, err := html.Parse(strings.NewReader(string(raw)))
	if err != nil {
		b.w.t.Fatal(err)
	}
	form := url.Values{}
	for n := range document.Descendants() {
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
		}
		if n.Data == "input" && attrs["type"] == "hidden" {
			form.Set(attrs["name"], attrs["value"])
		}
	}
	return form
}

// submit posts the form of the consent page and returns the address to which it redirects the browser.
func (b *browser) submit(page string, form url.Values) string {
	b.w.t.Helper()
	u, err := url.Parse(page)
	if err != nil {
		b.w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodPost, u.Scheme+"://"+u.Host+u.Path, strings.NewReader(form.Encode()))
	if err != nil {
		b.w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", u.Scheme+"://"+u.Host)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := b.HTTP.Do(r)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	location := res.Header.Get("Location")
	if location == "" {
		b.w.t.Fatalf("no redirect: %d %s", res.StatusCode, raw)
	}
	return location
}
