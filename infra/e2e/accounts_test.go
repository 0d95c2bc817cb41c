package e2e

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestAccounts is the main story over both protocols: sign up, log in, read oneself, log out.
func TestAccounts(t *testing.T) {
	t.Parallel()
	p := start(t)
	for name, base := range map[string]string{"plain": p.url, "secure": p.https} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, base)
			c.do("GET", "/api/auth/me", "").wantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
			id := c.signUp(name)
			me := c.do("GET", "/api/auth/me", "")
			fields := me.want(t, http.StatusOK)
			if fields["id"] != id || fields["email"] != name+"@example.com" || fields["username"] != name || len(fields) != 4 {
				t.Errorf("me: %s", me.body)
			}
			if fields := c.do("POST", "/api/auth/logout", "").want(t, http.StatusOK); fields["success"] != true {
				t.Errorf("logout: %v", fields)
			}
			c.do("GET", "/api/auth/me", "").wantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
		})
	}
}

// TestHeaders checks that every answer carries the contract's headers, the gateway's own errors included.
func TestHeaders(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := newClient(t, p.url)
	for path, status := range map[string]int{"/api/auth/me": 401, "/api/auth/nothing": 404, "/nowhere": 404, "//api/auth/me": 404, "/api/auth/../auth/me": 404} {
		a := c.do("GET", path, "")
		if a.status != status {
			t.Errorf("%s: status %d, want %d: %s", path, a.status, status, a.body)
		}
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		if a.header.Get("X-Request-Id") == "" || a.header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: headers %v", path, a.header)
		}
	}
	c.do("GET", "/nowhere", "").wantError(t, http.StatusNotFound, "ROUTE_NOT_FOUND")
	wrong := c.do("PATCH", "/api/auth/login", "{}")
	wrong.wantError(t, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	if allow := wrong.header.Get("Allow"); !strings.Contains(allow, "POST") {
		t.Errorf("Allow: %q", allow)
	}
}

// TestBrowser sends what browsers send: a foreign page is refused, the service's own pages are not.
func TestBrowser(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := newClient(t, p.url)
	c.signUp("browser")
	c.do("POST", "/api/auth/logout", "", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site").
		wantError(t, http.StatusForbidden, "AUTH_CSRF_REJECTED")
	c.do("GET", "/api/auth/me", "").want(t, http.StatusOK)
	c.do("POST", "/api/auth/logout", "", "Origin: "+p.url, "Sec-Fetch-Site: same-origin").want(t, http.StatusOK)
}

// TestCodehost signs in with the platform's own code host, as a browser would: to the consent page, through it, back.
func TestCodehost(t *testing.T) {
	t.Parallel()
	p := start(t)
	for name, base := range map[string]string{"plain": p.url, "secure": p.https} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, base)
			begin := c.do("GET", "/api/auth/codehost?redirect=/api/auth/me", "")
			begin.want(t, http.StatusFound)
			back := consent(t, c, begin.header.Get("Location"), "octo-"+name)
			done := c.do("GET", back, "")
			done.want(t, http.StatusFound)
			if to := done.header.Get("Location"); !strings.HasSuffix(to, "/api/auth/me") {
				t.Errorf("redirected to %q", to)
			}
			fields := c.do("GET", "/api/auth/me", "").want(t, http.StatusOK)
			if fields["email"] != "octo-"+name+"@example.com" {
				t.Errorf("me: %v", fields)
			}
			// The same link again: its state is used up.
			c.do("GET", back, "").wantError(t, http.StatusBadRequest, "AUTH_OAUTH_STATE_INVALID")
		})
	}
}

var (
	formAction = regexp.MustCompile(`<form[^>]*action="([^"]*)"`)
	formInput  = regexp.MustCompile(`<input[^>]*>`)
	attribute  = regexp.MustCompile(`(name|value|type)="([^"]*)"`)
)

// consent fills in the code host's page as a person would and answers the address that it sends the browser back to.
func consent(t testing.TB, c *client, page, user string) string {
	t.Helper()
	shown := c.do("GET", page, "")
	if shown.status != http.StatusOK {
		t.Fatalf("consent page: %d %s", shown.status, shown.body)
	}
	action := formAction.FindSubmatch(shown.body)
	if action == nil {
		t.Fatalf("no form on the consent page: %s", shown.body)
	}
	form := url.Values{}
	for _, input := range formInput.FindAllString(string(shown.body), -1) {
		fields := map[string]string{}
		for _, pair := range attribute.FindAllStringSubmatch(input, -1) {
			fields[pair[1]] = html.UnescapeString(pair[2])
		}
		if fields["type"] == "hidden" {
			form.Set(fields["name"], fields["value"])
		}
	}
	form.Set("login", user)
	form.Set("email", user+"@example.com")
	form.Set("verified", "true")
	form.Set("decision", "authorize")
	at, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	target, err := at.Parse(html.UnescapeString(string(action[1])))
	if err != nil {
		t.Fatal(err)
	}
	sent := c.do("POST", target.String(), form.Encode(), "Content-Type: application/x-www-form-urlencoded", "Origin: "+at.Scheme+"://"+at.Host)
	if sent.status != http.StatusFound && sent.status != http.StatusSeeOther {
		t.Fatalf("consent: %d %s", sent.status, sent.body)
	}
	return sent.header.Get("Location")
}
