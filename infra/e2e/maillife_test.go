package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/operator/operatortest"
	"devplatform/infra/platformtest"
	"devplatform/shared/config"
	"devplatform/shared/db"
)

// TestMailsInBrowser goes through the life of an account in Chromium, with the links of the mails in the mailbox of the
// platform.
func TestMailsInBrowser(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	p := platformtest.Start(t)
	l := &life{
		t: t, p: p, page: openMailPage(t, chromium, p.URL), email: "ada@example.com", password: platformtest.Password,
		ada: platformtest.NewClient(t, p.URL),
	}
	l.userID = l.ada.SignUp("ada")
	for _, step := range []func(){l.confirm, l.invite, l.forget, l.move, l.undo, l.suspend, l.export, l.end} {
		step()
	}
	l.page.checkProblems()
}

// life is the state of an account and of its browser. Its methods are the steps of the life, in their order.
type life struct {
	t               *testing.T
	p               *platformtest.Platform
	page            *mailPage
	ada             *platformtest.Client
	userID          string
	email, password string
	reset           string // the link of the last mail that resets the password
	workspace       string // the path of a workspace with two members
}

// confirm confirms the address.
func (l *life) confirm() {
	l.use(l.p.Link(l.email, "/api/auth/page/confirm#token="), "Confirm")
	l.wantAddress(l.email)
}

// invite invites another user to a workspace, who logs in and accepts with the link of the mail.
func (l *life) invite() {
	platformtest.NewClient(l.t, l.p.URL).SignUp("grace")
	created := l.ada.Do(http.MethodPost, "/api/workspaces", `{"name":"Team"}`).Want(l.t, http.StatusCreated)
	at := fmt.Sprint("/api/workspaces/", created["id"])
	l.workspace = at
	invited := `{"email":"grace@example.com","role":"viewer"}`
	l.ada.Do(http.MethodPost, at+"/invitations", invited).Want(l.t, http.StatusCreated)
	l.page.open(l.p.Link("grace@example.com", "/api/auth/page/invitation#token="))
	l.page.press("Show the invitation")
	l.page.eventually(`[...document.querySelectorAll("dd")].map(d => d.textContent).join()`, "Team,ada,viewer")
	login := platformtest.Object{"email": "grace@example.com", "password": platformtest.Password}.String()
	l.page.evaluate(fmt.Sprintf(`fetch("/api/auth/login", {
		method: "POST", headers: { "Content-Type": "application/json" }, body: %q,
	}).then((r) => { document.title = r.status; }), "sent"`, login))
	l.page.eventually(`document.title`, "200")
	l.page.press("Accept")
	l.page.wantStatus("You are now a member of the workspace.")
	if members := l.ada.Do(http.MethodGet, at+"/members", "").List(l.t, "members"); len(members) != 2 {
		l.t.Errorf("got the members %v, want ada and grace", members)
	}
}

// forget resets the forgotten password. The session ends.
func (l *life) forget() {
	forgot := platformtest.Object{"email": l.email}.String()
	platformtest.NewClient(l.t, l.p.URL).Do(http.MethodPost, "/api/auth/password/forgot", forgot).
		Want(l.t, http.StatusAccepted)
	l.setPassword("staple staple")
}

// move changes the address.
func (l *life) move() {
	const address = "ada@new.example.com"
	l.ada.Do(http.MethodPut, "/api/auth/email", `{"email":"`+address+`"}`).Want(l.t, http.StatusAccepted)
	l.use(l.p.Link(address, "/api/auth/page/change#token="), "Change the address")
	l.wantAddress(address)
}

// undo restores the old address with the link of the mail to it. The sessions end, and the password is removed.
func (l *life) undo() {
	l.use(l.p.Link(l.email, "/api/auth/page/undo#token="), "Restore the address")
	if response := l.logIn(); response.Status != http.StatusUnauthorized {
		l.t.Errorf("login with the removed password: got %d %s", response.Status, response.Body)
	}
	l.setPassword("gravel gravel")
	l.wantAddress(l.email)
}

// suspend suspends the account, as an operator, and lifts the suspension.
func (l *life) suspend() {
	client := db.Wrap(l.p.DynamoDB(), time.Now)
	tables := config.Tables{Accounts: "local-AccountsTable", Projects: "local-ProjectsTable"}
	operator := operatortest.New(l.t, client, tables, "local-WebhooksTable", time.Now)
	operator.MustSuspend(l.userID)
	l.ada.Do(http.MethodGet, "/api/auth/me", "").WantError(l.t, http.StatusForbidden, "AUTH_SUSPENDED")
	l.logIn().WantError(l.t, http.StatusForbidden, "AUTH_SUSPENDED")
	operator.MustLift(l.userID)
	l.noSession()
	l.logIn().Want(l.t, http.StatusOK)
}

// noSession checks that the session has ended.
func (l *life) noSession() {
	l.t.Helper()
	l.ada.Do(http.MethodGet, "/api/auth/me", "").WantError(l.t, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
}

// export downloads everything that is stored about the user.
func (l *life) export() {
	document := string(download(l.t, l.ada, "/api/auth/export", "account.json"))
	for _, want := range []string{l.email, `"Team"`, `"email.restored"`} {
		if !strings.Contains(document, want) {
			l.t.Errorf("the export does not contain %s: %s", want, document)
		}
	}
}

// end deletes the account, after the workspace that has another member. The address is free again.
func (l *life) end() {
	const confirm = `{"confirm":"ada"}`
	l.ada.Do(http.MethodDelete, "/api/auth/me", confirm).WantError(l.t, http.StatusConflict, "CONFLICT")
	l.ada.Do(http.MethodDelete, l.workspace, `{"confirm":"Team"}`).Want(l.t, http.StatusAccepted)
	l.ada.Do(http.MethodDelete, "/api/auth/me", confirm).Want(l.t, http.StatusAccepted)
	platformtest.Eventually(l.t, "a mail reports the deletion", func() bool {
		return l.p.Mails(l.email)[0].Subject == "Your account at devplatform was deleted"
	})
	if response := l.logIn(); response.Status != http.StatusUnauthorized {
		l.t.Errorf("login after the deletion: got %d %s", response.Status, response.Body)
	}
	again := platformtest.Object{"email": l.email, "username": "ada2", "password": l.password}
	l.ada.Do(http.MethodPost, "/api/auth/signup", again.String()).Want(l.t, http.StatusCreated)
}

// use opens a link, and presses the button of its page.
func (l *life) use(link, button string) {
	l.t.Helper()
	l.page.open(link)
	l.page.press(button)
	l.page.eventually(buttons, "")
	l.page.eventually(`String(document.querySelector("#status").textContent !== "")`, "true")
}

// setPassword sets a password with the link of the last mail. The old session ends, and a new one begins.
func (l *life) setPassword(password string) {
	l.t.Helper()
	l.reset, l.password = l.p.Link(l.email, "/api/auth/page/reset#token=", l.reset), password
	l.page.open(l.reset)
	l.page.fill("New password", password)
	l.page.fill("New password again", password)
	l.page.press("Set the password")
	l.page.eventually(buttons, "")
	l.noSession()
	l.logIn().Want(l.t, http.StatusOK)
}

func (l *life) logIn() platformtest.Response {
	body := platformtest.Object{"email": l.email, "password": l.password}
	return l.ada.Do(http.MethodPost, "/api/auth/login", body.String())
}

// wantAddress checks that an address is the confirmed address of the account.
func (l *life) wantAddress(want string) {
	l.t.Helper()
	if got := l.ada.Do(http.MethodGet, "/api/auth/me", "").Want(l.t, http.StatusOK); got["email"] != want ||
		got["emailVerified"] != true {
		l.t.Fatalf("got the account %v, want the confirmed address %s", got, want)
	}
}
