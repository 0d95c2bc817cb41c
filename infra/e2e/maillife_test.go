package e2e

import (
	"net/http"
	"testing"

	"devplatform/infra/platformtest"
)

// TestMailsInBrowser confirms an address, resets a password, changes the address and undoes the change in Chromium, with
// the links of the mails in the mailbox of the platform.
func TestMailsInBrowser(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	page := openMailPage(t, chromium, p.URL)
	const email, newEmail, first, second = "ada@example.com", "ada@new.example.com", "staple staple", "gravel gravel"
	login := func(email, password string) (*platformtest.Client, platformtest.Response) {
		c := platformtest.NewClient(t, p.URL)
		body := platformtest.Object{"email": email, "password": password}
		return c, c.Do(http.MethodPost, "/api/auth/login", body.String())
	}
	me := func(c *platformtest.Client) map[string]any {
		return c.Do(http.MethodGet, "/api/auth/me", "").Want(t, http.StatusOK)
	}
	noSession := func(c *platformtest.Client) {
		t.Helper()
		c.Do(http.MethodGet, "/api/auth/me", "").WantError(t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
	}
	use := func(link, button string) {
		t.Helper()
		page.open(link)
		page.press(button)
		page.eventually(buttons, "")
		page.eventually(`String(document.querySelector("#status").textContent !== "")`, "true")
	}
	setPassword := func(link, password string) {
		t.Helper()
		page.open(link)
		page.fill("New password", password)
		page.fill("New password again", password)
		page.press("Set the password")
		page.eventually(buttons, "")
	}

	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	use(p.Link(email, "/api/auth/page/confirm#token="), "Confirm")
	if got := me(ada); got["emailVerified"] != true {
		t.Fatalf("after the confirmation: got %v", got)
	}

	forgot := platformtest.NewClient(t, p.URL)
	forgot.Do(http.MethodPost, "/api/auth/password/forgot", `{"email":"`+email+`"}`).Want(t, http.StatusAccepted)
	reset := p.Link(email, "/api/auth/page/reset#token=")
	setPassword(reset, first)
	noSession(ada)
	ada, response := login(email, first)
	response.Want(t, http.StatusOK)

	ada.Do(http.MethodPut, "/api/auth/email", `{"email":"`+newEmail+`"}`).Want(t, http.StatusAccepted)
	use(p.Link(newEmail, "/api/auth/page/change#token="), "Change the address")
	if got := me(ada); got["email"] != newEmail {
		t.Fatalf("after the change: got %v", got)
	}

	use(p.Link(email, "/api/auth/page/undo#token="), "Restore the address")
	noSession(ada)
	if _, response := login(email, first); response.Status != http.StatusUnauthorized {
		t.Errorf("login with the removed password: got %d %s", response.Status, response.Body)
	}
	setPassword(p.Link(email, "/api/auth/page/reset#token=", reset), second)
	ada, response = login(email, second)
	response.Want(t, http.StatusOK)
	if got := me(ada); got["email"] != email || got["emailVerified"] != true {
		t.Errorf("after the undo: got %v", got)
	}
	page.checkProblems()
}
