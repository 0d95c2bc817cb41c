package account

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/codehost"
	"devplatform/shared/account/user"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

func TestCodeHostNotConfigured(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	for _, response := range []slicetest.Response{
		client.Get("/api/auth/codehost"),
		client.Get(codehost.CallbackPath + "?code=x&state=y"),
		client.Do(http.MethodPost, "/api/auth/codehost/link", nil),
	} {
		response.Want(t, http.StatusNotImplemented, fault.CodeOAuthNotConfigured)
	}
}

func TestStartOfSignIn(t *testing.T) {
	f, _ := newHostFixture(t)
	response := f.newClient().Get("/api/auth/codehost").Want(t, http.StatusFound)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 60, Remaining: 59, Reset: 600})
	cookies := response.Header.Values("Set-Cookie")
	if len(cookies) != 2 || !strings.HasPrefix(cookies[0], "__Host-oauth=") {
		t.Fatalf("got cookies %q, want __Host-oauth and oauth", cookies)
	}
	for _, part := range []string{"; Path=/", "; Max-Age=600", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
		if !strings.Contains(cookies[0], part) {
			t.Errorf("the cookie %q does not contain %q", cookies[0], part)
		}
	}
	location, err := url.Parse(response.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := location.Query().Get("redirect_uri"), f.server.URL+codehost.CallbackPath; got != want {
		t.Errorf("redirect_uri: got %q, want %q", got, want)
	}
	state := location.Query().Get("state")
	if f.item(f.tables.Accounts, db.OAuthStateKey(state)) != nil {
		t.Error("the item is stored under the state, want the hash of the state")
	}
	if f.item(f.tables.Accounts, db.OAuthStateKey(attempt.Hash(state))) == nil {
		t.Error("there is no item under the hash of the state")
	}
}

func TestSignInWithCodeHost(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newClient()
	callback := host.approve(client.startSignIn("/projects?tab=1"), octocat(1, verified("Octo@Example.com")))
	response := client.Get(callback).Want(t, http.StatusFound)
	if got := response.Header.Get("Location"); got != "/projects?tab=1" {
		t.Errorf("the callback redirects to %q, want /projects?tab=1", got)
	}
	me := client.me().Want(t, http.StatusOK)
	if me.Text("email") != "octo@example.com" || me.Text("username") != "octocat" {
		t.Errorf("got the account %s, want octocat with octo@example.com", me.Raw)
	}
	// After the link, a sign-in succeeds even if the user of the code host has a new username and no e-mail address.
	second := f.newClient()
	second.signIn(host, codeHostUser{ID: 1, Login: "renamed", Emails: nil}).Want(t, http.StatusFound)
	if got := second.me().Text("id"); got != me.Text("id") {
		t.Errorf("the second sign-in of the identity: got the user %s, want %s", got, me.Text("id"))
	}
	// The account has a personal workspace and no password.
	f.checkPersonalWorkspace(me.Text("id"))
	for _, password := range []string{"", "x", goodPassword} {
		client.loginWith("octo@example.com", password).
			Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
		client.changePassword(password, newPassword).
			Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)
	}
}

// checkPersonalWorkspace checks that a user has one workspace.
func (f *fixture) checkPersonalWorkspace(userID string) {
	f.t.Helper()
	query := db.Query{Prefix: db.Prefix{PK: "USER#" + userID, SK: "WS#"}}
	page, err := f.deps.DB.Table(f.tables.Projects).Query(f.t.Context(), query)
	if err != nil || len(page.Items) != 1 {
		f.t.Errorf("got %d workspaces and the error %v, want 1 workspace", len(page.Items), err)
	}
}

// The requests of images, frames and scripts on another site, and prefetches, must not use up the limit of a visitor's
// network.
func TestSignInStartsOnlyWithANavigation(t *testing.T) {
	f, _ := newHostFixture(t, withLimits(func(l *attempt.Limits) { l.OAuthIP = 3 }))
	client := f.newClient()
	start := func(headers map[string]string) slicetest.Response {
		return client.Do(http.MethodGet, "/api/auth/codehost", nil, func(r *http.Request) {
			for name, value := range headers {
				r.Header.Set(name, value)
			}
		})
	}
	for _, headers := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
		{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
			"Sec-Purpose": "prefetch"},
		{"Sec-Fetch-Dest": "image"},
		{"Sec-Fetch-Mode": "no-cors"},
		{"Sec-Fetch-Dest": ""},
	} {
		response := start(headers)
		if response.Status != http.StatusForbidden || response.Text("code") != string(fault.CodeCSRFRejected) {
			t.Errorf("%v: got %d %s, want 403 %s", headers, response.Status, response.Raw, fault.CodeCSRFRejected)
		}
	}
	for i, headers := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
		{"Sec-Fetch-Mode": "navigate"},
		{}, // not a browser
	} {
		response := start(headers).Want(t, http.StatusFound)
		checkRateLimit(t, response, attempt.RateLimit{Limit: 3, Remaining: 2 - i, Reset: 600})
	}
}

func TestSignInReturnsToAnAllowedOrigin(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newClient()
	for _, page := range []string{"https://app.example.com/projects?tab=1#top", f.server.URL + "/projects"} {
		callback := host.approve(client.startSignIn(page), octocat(1, verified("octo@example.com")))
		if got := client.Get(callback).Want(t, http.StatusFound).Header.Get("Location"); got != page {
			t.Errorf("the callback redirects to %q, want %q", got, page)
		}
	}
}

func TestOpenRedirectsAreRejected(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newUser("ada")
	for _, redirect := range []string{
		"//evil.example", `/\evil.example`, `\\evil.example`, "https://evil.example", "evil.example", "evil",
		"javascript:alert(1)", "/%2f/evil.example", "/\t/evil.example", "/\r\nX: y", "https://app.example.com@evil.example/",
	} {
		query := "?redirect=" + url.QueryEscape(redirect)
		client.Get("/api/auth/codehost"+query).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
		client.Do(http.MethodPost, "/api/auth/codehost/link"+query, nil).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	response := client.signIn(host, octocat(1, verified("o@example.com"))).Want(t, http.StatusFound)
	if got := response.Header.Get("Location"); got != "/" {
		t.Errorf("a sign-in without a redirect: the callback redirects to %q, want /", got)
	}
}

// An attacker signs up with the address of a victim, who later signs in with the code host. The victim must not get an
// account whose password the attacker knows.
func TestAccountTakeoverBySigningUpFirst(t *testing.T) {
	f, host := newHostFixture(t)
	attacker, victim := f.newClient(), f.newClient()
	attacker.signupWith("Victim@example.com", "attacker", goodPassword).Want(t, http.StatusCreated)
	response := victim.signIn(host, octocat(1, verified("victim@example.com"))).
		Want(t, http.StatusConflict, fault.CodeUserExists)
	message := strings.ToLower(response.Text("error"))
	if !strings.Contains(message, "log in") || !strings.Contains(message, "link") {
		t.Errorf("got the message %q, want advice to log in and to link", message)
	}
	victim.me().Want(t, http.StatusUnauthorized)
	for key := range slicetest.Dump(t, f.sdk, f.tables.Accounts) {
		if strings.HasPrefix(key.PK, "IDENTITY#") {
			t.Errorf("the identity %s was linked to the account of the attacker", key.PK)
		}
	}
	// A sign-in with the code host creates an account. A sign-up with the address of this account is rejected.
	victim.signIn(host, octocat(2, verified("other@example.com"))).Want(t, http.StatusFound)
	attacker.signupWith("other@example.com", "attacker2", goodPassword).
		Want(t, http.StatusConflict, fault.CodeUserExists)
	// An unverified address at the code host does not give access to an account.
	attacker.signIn(host, octocat(3, unverified("other@example.com"))).
		Want(t, http.StatusUnauthorized, fault.CodeOAuthFailed)
}

func TestUsernamesFromTheCodeHostAreUnique(t *testing.T) {
	f, host := newHostFixture(t)
	f.newClient().signupWith("x@example.com", "OctoCat", goodPassword).Want(t, http.StatusCreated)
	seen := map[string]bool{"octocat": true}
	for i := range 7 {
		client := f.newClient()
		client.signIn(host, octocat(i+1, verified(fmt.Sprintf("o%d@example.com", i)))).Want(t, http.StatusFound)
		name := client.me().Text("username")
		if !strings.HasPrefix(name, "octocat-") || user.CheckUsername(name) != "" {
			t.Errorf("got the username %q, want octocat with a suffix", name)
		}
		if seen[strings.ToLower(name)] {
			t.Errorf("the username %q is not unique", name)
		}
		seen[strings.ToLower(name)] = true
	}
}

func TestConcurrentSignInsCreateOneAccount(t *testing.T) {
	f, host := newHostFixture(t)
	const signIns = 4
	for name, c := range map[string]struct {
		user  func(i int) codeHostUser // the user of sign-in i
		users int                      // the number of users that the sign-ins create
	}{
		"same identity": {
			user:  func(int) codeHostUser { return octocat(1, verified("one@example.com")) },
			users: 1,
		},
		"same address": {
			user:  func(i int) codeHostUser { return octocat(10+i, verified("shared@example.com")) },
			users: 1,
		},
		"same login only": {
			user: func(i int) codeHostUser {
				return octocat(20+i, verified(fmt.Sprintf("r%d@example.com", i)))
			},
			users: signIns,
		},
	} {
		clients, callbacks := make([]*apiClient, signIns), make([]string, signIns)
		for i := range clients {
			clients[i] = f.newClient()
			callbacks[i] = host.approve(clients[i].startSignIn(""), c.user(i))
		}
		responses := slicetest.Concurrently(signIns, func(i int) slicetest.Response {
			return clients[i].Get(callbacks[i])
		})
		users := map[string]bool{}
		for i, response := range responses {
			response.Want(t, http.StatusFound)
			users[clients[i].me().Text("id")] = true
		}
		if len(users) != c.users {
			t.Errorf("%s: %d sign-ins created %d users, want %d", name, signIns, len(users), c.users)
		}
	}
}

func TestStartsOfSignInsAreLimited(t *testing.T) {
	f, _ := newHostFixture(t, withLimits(func(l *attempt.Limits) { l.OAuthIP = 3 }))
	client := f.newUser("ada")
	client.startSignIn("")
	response := client.Do(http.MethodPost, "/api/auth/codehost/link", nil).Want(t, http.StatusOK)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 3, Remaining: 1, Reset: 600})
	client.startSignIn("")
	response = client.Get("/api/auth/codehost").Want(t, http.StatusTooManyRequests, fault.CodeAuthRateLimited)
	checkRateLimit(t, response, attempt.RateLimit{Limit: 3, Remaining: 0, Reset: 600})
	if got := response.Header.Get("Retry-After"); got != "600" {
		t.Errorf("Retry-After: got %q, want 600", got)
	}
	f.clock.Advance(10 * time.Minute)
	client.startSignIn("")
}
