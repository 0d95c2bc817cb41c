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

// TestAccounts signs up, logs in, reads the user and logs out, over http and https.
func TestAccounts(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"http": p.URL, "https": p.HTTPS} {
		t.Run(name, func(t *testing.T) {
			c := platformtest.NewClient(t, base)
			c.Do("GET", "/api/auth/me", "").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
			id := c.SignUp(name)
			me := c.Do("GET", "/api/auth/me", "")
			fields := me.Want(t, http.StatusOK)
			if fields["id"] != id || fields["email"] != name+"@example.com" || fields["username"] != name || fields["mail"] != true || len(fields) != 8 {
				t.Errorf("GET /api/auth/me: got %s, want the eight fields of the new user", me.Body)
			}
			if fields := c.Do("POST", "/api/auth/logout", "").Want(t, http.StatusOK); fields["success"] != true {
				t.Errorf("logout: got %v, want success true", fields)
			}
			c.Do("GET", "/api/auth/me", "").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
		})
	}
}

// TestHeaders checks that every response has the security headers, including the errors of the gateway.
func TestHeaders(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	for path, status := range map[string]int{
		"/api/auth/me":         401,
		"/api/auth/unknown":    404,
		"/nowhere":             404,
		"//api/auth/me":        404,
		"/api/auth/../auth/me": 404,
	} {
		response := c.Do("GET", path, "")
		if response.Status != status {
			t.Errorf("%s: got status %d with body %s, want %d", path, response.Status, response.Body, status)
		}
		for name, want := range map[string]string{
			"Cache-Control":           "no-store",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s: got %s: %q, want %q", path, name, got, want)
			}
		}
		for _, name := range []string{"X-Request-Id", "Strict-Transport-Security"} {
			if response.Header.Get(name) == "" {
				t.Errorf("%s: the response has no header %s", path, name)
			}
		}
	}
	c.Do("GET", "/nowhere", "").WantError(t, http.StatusNotFound, "ROUTE_NOT_FOUND")
	notAllowed := c.Do("PATCH", "/api/auth/login", "{}")
	notAllowed.WantError(t, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	if allow := notAllowed.Header.Get("Allow"); !strings.Contains(allow, "POST") {
		t.Errorf("got Allow: %q, want POST in it", allow)
	}
}

// TestCrossSiteRequests checks that a cross-site request is rejected and a same-origin request is not.
func TestCrossSiteRequests(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("browser")
	c.Do("POST", "/api/auth/logout", "", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site").
		WantError(t, http.StatusForbidden, "AUTH_CSRF_REJECTED")
	c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
	c.Do("POST", "/api/auth/logout", "", "Origin: "+p.URL, "Sec-Fetch-Site: same-origin").Want(t, http.StatusOK)
}

// TestCodehost signs in with the platform's code host: it follows the redirects and submits the consent page.
func TestCodehost(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	for name, base := range map[string]string{"http": p.URL, "https": p.HTTPS} {
		t.Run(name, func(t *testing.T) {
			c := platformtest.NewClient(t, base)
			begin := c.Do("GET", "/api/auth/codehost?redirect=/api/auth/me", "")
			begin.Want(t, http.StatusFound)
			callback := consent(t, c, begin.Header.Get("Location"), "octo-"+name)
			signedIn := c.Do("GET", callback, "")
			signedIn.Want(t, http.StatusFound)
			if to := signedIn.Header.Get("Location"); !strings.HasSuffix(to, "/api/auth/me") {
				t.Errorf("got a redirect to %q, want /api/auth/me", to)
			}
			fields := c.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
			if fields["email"] != "octo-"+name+"@example.com" {
				t.Errorf("GET /api/auth/me: got %v, want the e-mail address of the code host", fields)
			}
			// The state of a sign-in can be used only once.
			c.Do("GET", callback, "").WantError(t, http.StatusBadRequest, "AUTH_OAUTH_STATE_INVALID")
		})
	}
}

var (
	formAction = regexp.MustCompile(`<form[^>]*action="([^"]*)"`)
	formInput  = regexp.MustCompile(`<input[^>]*>`)
	attribute  = regexp.MustCompile(`(name|value|type)="([^"]*)"`)
)

// consent submits the consent page of the code host, and returns the URL to which it redirects the browser.
func consent(t testing.TB, c *platformtest.Client, page, user string) (callback string) {
	t.Helper()
	consentPage := c.Do("GET", page, "")
	if consentPage.Status != http.StatusOK {
		t.Fatalf("consent page: got status %d with body %s, want 200", consentPage.Status, consentPage.Body)
	}
	action := formAction.FindSubmatch(consentPage.Body)
	if action == nil {
		t.Fatalf("the consent page has no form: %s", consentPage.Body)
	}
	form := url.Values{}
	for _, input := range formInput.FindAllString(string(consentPage.Body), -1) {
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
	pageURL, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	target, err := pageURL.Parse(html.UnescapeString(string(action[1])))
	if err != nil {
		t.Fatal(err)
	}
	response := c.Do("POST", target.String(), form.Encode(),
		"Content-Type: application/x-www-form-urlencoded", "Origin: "+pageURL.Scheme+"://"+pageURL.Host)
	if response.Status != http.StatusFound && response.Status != http.StatusSeeOther {
		t.Fatalf("consent: got status %d with body %s, want a redirect", response.Status, response.Body)
	}
	return response.Header.Get("Location")
}
