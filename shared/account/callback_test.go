package account

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/codehost"
	"devplatform/shared/fault"
)

func TestCallbackState(t *testing.T) {
	f, host := newHostFixture(t)
	user := octocat(1, verified("ada@example.com"))
	checkRejected := func(client *apiClient, path string) {
		t.Helper()
		client.Get(path).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
		client.me().Want(t, http.StatusUnauthorized)
	}
	client := f.newClient()
	for _, query := range []string{
		"", "?code=x", "?state=", "?state=x&code=y", "?error=access_denied", "?state=%23&code=x",
		"?state=" + strings.Repeat("s", 5000),
	} {
		checkRejected(client, codehost.CallbackPath+query)
	}
	callback := host.approve(client.startSignIn(""), user)
	checkRejected(f.newClient(), callback) // another browser opens the callback URL (login CSRF)
	other := f.newClient()
	other.startSignIn("")
	checkRejected(other, callback) // another browser, which has its own sign-in in progress
	client.Get(callback).Want(t, http.StatusFound)
	reuse := f.newClient()
	reuse.SetCookie("oauth", client.Cookie("oauth"))
	checkRejected(reuse, callback) // the state was already used

	expired := f.newClient()
	callback = host.approve(expired.startSignIn(""), user)
	f.clock.Advance(10 * time.Minute)
	checkRejected(expired, callback)

	// Over HTTPS, the cookie without Secure is ignored.
	plain := f.newClient()
	callback = host.approve(plain.startSignIn(""), user)
	https := f.newClient()
	https.SetCookie("oauth", plain.Cookie("oauth"))
	https.Do(http.MethodGet, callback, nil, slicetest.Header(headerHTTPS, "1")).
		Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
}

func TestStateIsUsedOnce(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newClient()
	callback := host.approve(client.startSignIn(""), octocat(1, verified("ada@example.com")))
	responses := slicetest.Concurrently(6, func(int) slicetest.Response { return client.Get(callback) })
	want := map[int]int{http.StatusFound: 1, http.StatusBadRequest: 5}
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("number of responses by status (-want +got):\n%s", diff)
	}
}

func TestTwoSignInsInOneBrowser(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newClient()
	redirects := []string{"/first", "/second"}
	pages := []string{client.startSignIn(redirects[0]), client.startSignIn(redirects[1])}
	for i, page := range pages {
		callback := host.approve(page, octocat(1, verified("ada@example.com")))
		response := client.Get(callback).Want(t, http.StatusFound)
		if got := response.Header.Get("Location"); got != redirects[i] {
			t.Errorf("the callback redirects to %q, want %q", got, redirects[i])
		}
	}
}

func TestCallbackErrors(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newClient()
	for _, query := range []string{"", "code=", "code=forged"} {
		callback := callbackOf(t, client.startSignIn(""), query)
		client.Get(callback).Want(t, http.StatusUnauthorized, fault.CodeOAuthFailed)
		// The state was used by the failed callback.
		client.Get(callback+"&code=x").Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
	}
	for _, path := range []string{"/token", "/user", "/emails"} {
		host.failRequestsTo(path)
		response := client.signIn(host, octocat(1, verified("ada@example.com"))).
			Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
		if response.Header.Get("Retry-After") == "" {
			t.Errorf("%s fails: the response has no Retry-After header", path)
		}
	}
	host.failRequestsTo("")
	for name, user := range map[string]codeHostUser{
		"no e-mail address":        octocat(7),
		"unverified address":       octocat(7, unverified("ada@example.com")),
		"address without a domain": octocat(7, verified("ada@localhost")),
	} {
		response := client.signIn(host, user)
		if response.Status != http.StatusUnauthorized || response.Text("code") != string(fault.CodeOAuthFailed) {
			t.Errorf("%s: got %d %s, want 401 %s", name, response.Status, response.Raw, fault.CodeOAuthFailed)
		}
	}
	client.me().Want(t, http.StatusUnauthorized)
}

// If the user cancels at the code host, or the code host reports another error, the browser returns to the app.
func TestErrorsOfTheCodeHostReturnToTheApp(t *testing.T) {
	f, _ := newHostFixture(t)
	client := f.newClient()
	for _, tc := range []struct{ redirect, query, want string }{
		{"", "error=access_denied", "/?error=access_denied"},
		{"/projects", "error=access_denied&code=x", "/projects?error=access_denied"},
		{"/a%2Fb?tab=1&%65rror=old&error=x&q=a;b#/end?x", "error=access_denied",
			"/a%2Fb?tab=1&q=a;b&error=access_denied#/end?x"},
		{"https://app.example.com", "error=server_error&error_description=%3Cscript%3E",
			"https://app.example.com/?error=server_error"},
		{"/", "error=a%26next%3D//evil.example%23", "/?error=unknown"},
		{"/", "error=" + strings.Repeat("a", 65), "/?error=unknown"},
	} {
		callback := callbackOf(t, client.startSignIn(tc.redirect), tc.query)
		f.newClient().Get(callback).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
		response := client.Get(callback).Want(t, http.StatusFound)
		if got := response.Header.Get("Location"); got != tc.want || hasCookies(response) {
			t.Errorf("%s, redirect %s: got the location %q and the header %v, want %q and no cookies",
				tc.query, tc.redirect, got, response.Header, tc.want)
		}
		client.Get(callback).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)
	}
	client.me().Want(t, http.StatusUnauthorized)

	ada := f.newUser("ada")
	response := ada.Get(callbackOf(t, ada.startLink(), "error=access_denied")).Want(t, http.StatusFound)
	if got := response.Header.Get("Location"); got != "/?error=access_denied" || hasCookies(response) {
		t.Errorf("a canceled link: got the location %q and the header %v, want no cookies", got, response.Header)
	}
	if me := ada.me().Want(t, http.StatusOK); me.Text("username") != "ada" || len(ada.identityIDs()) != 0 {
		t.Errorf("after a canceled link: got the account %s with %d identities", me.Raw, len(ada.identityIDs()))
	}
}

// callbackOf returns the path of the callback of an authorization request, with its state and other parameters.
func callbackOf(t *testing.T, authorizeURL, query string) string {
	t.Helper()
	u, err := url.Parse(authorizeURL)
	if err != nil {
		t.Fatal(err)
	}
	return codehost.CallbackPath + "?state=" + u.Query().Get("state") + "&" + query
}
