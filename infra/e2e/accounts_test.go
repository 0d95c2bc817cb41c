package e2e

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
)

// TestAccounts is the main story over both protocols: sign up, log in, read oneself, log out.
func TestAccounts(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"plain": p.URL, "secure": p.HTTPS} {
		t.Run(name, func(t *testing.T) {
			c := platformtest.NewClient(t, base)
			c.Do("GET", "/api/auth/me", "").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
			id := c.SignUp(name)
			me := c.Do("GET", "/api/auth/me", "")
			fields := me.Want(t, http.StatusOK)
			if fields["id"] != id || fields["email"] != name+"@example.com" || fields["username"] != name || len(fields) != 4 {
				t.Errorf("me: %s", me.Body)
			}
			if fields := c.Do("POST", "/api/auth/logout", "").Want(t, http.StatusOK); fields["success"] != true {
				t.Errorf("logout: %v", fields)
			}
			c.Do("GET", "/api/auth/me", "").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
		})
	}
}

// TestHeaders checks that every answer carries the contract's headers, the gateway's own errors included.
func TestHeaders(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	for path, status := range map[string]int{"/api/auth/me": 401, "/api/auth/nothing": 404, "/nowhere": 404, "//api/auth/me": 404, "/api/auth/../auth/me": 404} {
		a := c.Do("GET", path, "")
		if a.Status != status {
			t.Errorf("%s: status %d, want %d: %s", path, a.Status, status, a.Body)
		}
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		if a.Header.Get("X-Request-Id") == "" || a.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: headers %v", path, a.Header)
		}
	}
	c.Do("GET", "/nowhere", "").WantError(t, http.StatusNotFound, "ROUTE_NOT_FOUND")
	wrong := c.Do("PATCH", "/api/auth/login", "{}")
	wrong.WantError(t, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	if allow := wrong.Header.Get("Allow"); !strings.Contains(allow, "POST") {
		t.Errorf("Allow: %q", allow)
	}
}

// TestBrowser sends what browsers send: a foreign page is refused, the service's own pages are not.
func TestBrowser(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("browser")
	c.Do("POST", "/api/auth/logout", "", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site").
		WantError(t, http.StatusForbidden, "AUTH_CSRF_REJECTED")
	c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
	c.Do("POST", "/api/auth/logout", "", "Origin: "+p.URL, "Sec-Fetch-Site: same-origin").Want(t, http.StatusOK)
}

// TestCodehost signs in with the platform's own code host, as a browser would: to the consent page, through it, back.
func TestCodehost(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"plain": p.URL, "secure": p.HTTPS} {
		t.Run(name, func(t *testing.T) {
			c := platformtest.NewClient(t, base)
			begin := c.Do("GET", "/api/auth/codehost?redirect=/api/auth/me", "")
			begin.Want(t, http.StatusFound)
			back := consent(t, c, begin.Header.Get("Location"), "octo-"+name)
			done := c.Do("GET", back, "")
			done.Want(t, http.StatusFound)
			if to := done.Header.Get("Location"); !strings.HasSuffix(to, "/api/auth/me") {
				t.Errorf("redirected to %q", to)
			}
			fields := c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
			if fields["email"] != "octo-"+name+"@example.com" {
				t.Errorf("me: %v", fields)
			}
			// The same link again: its state is used up.
			c.Do("GET", back, "").WantError(t, http.StatusBadRequest, "AUTH_OAUTH_STATE_INVALID")
		})
	}
}

var (
	formAction = regexp.MustCompile(`<form[^>]*action="([^"]*)"`)
	formInput  = regexp.MustCompile(`<input[^>]*>`)
	attribute  = regexp.MustCompile(`(name|value|type)="([^"]*)"`)
)

// consent fills in the code host's page as a person would and answers the address that it sends the browser back to.
func consent(t testing.TB, c *platformtest.Client, page, user string) string {
	t.Helper()
	shown := c.Do("GET", page, "")
	if shown.Status != http.StatusOK {
		t.Fatalf("consent page: %d %s", shown.Status, shown.Body)
	}
	action := formAction.FindSubmatch(shown.Body)
	if action == nil {
		t.Fatalf("no form on the consent page: %s", shown.Body)
	}
	form := url.Values{}
	for _, input := range formInput.FindAllString(string(shown.Body), -1) {
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
	sent := c.Do("POST", target.String(), form.Encode(), "Content-Type: application/x-www-form-urlencoded", "Origin: "+at.Scheme+"://"+at.Host)
	if sent.Status != http.StatusFound && sent.Status != http.StatusSeeOther {
		t.Fatalf("consent: %d %s", sent.Status, sent.Body)
	}
	return sent.Header.Get("Location")
}
