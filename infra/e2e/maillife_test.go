package e2e

import (
	"fmt"
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

// TestInvitationInBrowser accepts an invitation with the link of its mail. Without a session, the page shows the
// invitation, and asks the user to log in.
func TestInvitationInBrowser(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	page := openMailPage(t, chromium, p.URL)
	ada, grace := platformtest.NewClient(t, p.URL), platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	grace.SignUp("grace")
	id, _ := ada.Do(http.MethodPost, "/api/workspaces", `{"name":"Team"}`).Want(t, http.StatusCreated)["id"].(string)
	ada.Do(http.MethodPost, "/api/workspaces/"+id+"/invitations", `{"email":"grace@example.com","role":"viewer"}`).
		Want(t, http.StatusCreated)
	page.open(p.Link("grace@example.com", "/api/auth/page/invitation#token="))
	page.press("Show the invitation")
	page.eventually(`[...document.querySelectorAll("dd")].map(d => d.textContent).join()`, "Team,ada,viewer")
	page.press("Accept")
	page.wantStatus("Log in to the service in another tab of this browser first. Then press the button again.")
	login := platformtest.Object{"email": "grace@example.com", "password": platformtest.Password}.String()
	page.evaluate(fmt.Sprintf(`fetch("/api/auth/login", {
		method: "POST", headers: { "Content-Type": "application/json" }, body: %q,
	}).then((r) => { document.title = r.status; }), "sent"`, login))
	page.eventually(`document.title`, "200")
	page.press("Accept")
	page.wantStatus("You are now a member of the workspace.")
	if members := ada.Do(http.MethodGet, "/api/workspaces/"+id+"/members", "").List(t, "members"); len(members) != 2 {
		t.Errorf("got the members %v, want ada and grace", members)
	}
}
