package account

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/mail"
)

// eve is an attacker who signed up with the address of the victim, and linked a user of the code host.
type eve struct {
	*apiClient
	host *fakeCodeHost
}

const victimEmail = "victim@example.com"

// newEve returns the attacker, and the victim, who reads the mail to the address.
func newEve(t *testing.T) (*fixture, eve, *apiClient) {
	t.Helper()
	f, host := newHostFixture(t)
	attacker := eve{f.newClient(), host}
	attacker.from("198.51.100.66").signupWith(victimEmail, "eve", goodPassword).Want(t, http.StatusCreated)
	attacker.loginWith(victimEmail, goodPassword).Want(t, http.StatusOK)
	return f, attacker, f.newClient()
}

// canUse reports whether the attacker can get into an account with the address of the victim.
func (e eve) canUse() bool {
	e.f.t.Helper()
	has := func(c *apiClient) bool {
		me := c.me()
		return me.Status == http.StatusOK && me.Text("email") == victimEmail
	}
	if has(e.apiClient) {
		return true
	}
	for _, password := range []string{goodPassword, "another password of eve"} {
		if c := e.f.newClient(); c.loginWith(victimEmail, password).Status == http.StatusOK && has(c) {
			return true
		}
	}
	for _, user := range []codeHostUser{octocat(1), octocat(1, verified("eve@example.com"))} {
		if c := e.f.newClient(); c.signIn(e.host, user).Status == http.StatusFound && has(c) {
			return true
		}
	}
	return false
}

// TestAccountThatSomebodyElseOpened checks all orders of the acts of the attacker before each rescue of the victim. In
// the end, the victim has an account with the address, and the attacker cannot use it.
func TestAccountThatSomebodyElseOpened(t *testing.T) {
	t.Parallel()
	attacks := map[string]func(e eve){
		"link":   func(e eve) { e.tryLink() },
		"change": func(e eve) { e.requestEmail("eve@example.com") },
		"password": func(e eve) {
			e.changePassword(goodPassword, "another password of eve")
		},
	}
	rescues := map[string]func(f *fixture, victim *apiClient) slicetest.Response{
		"reject": func(f *fixture, victim *apiClient) slicetest.Response {
			victim.reject(f.lastMail(mail.Confirm, victimEmail).Token).Want(t, http.StatusOK)
			return victim.signupWith(victimEmail, "victim", newPassword)
		},
		"reset": func(f *fixture, victim *apiClient) slicetest.Response {
			victim.forgot(victimEmail).Want(t, http.StatusAccepted)
			return victim.reset(f.lastMail(mail.Reset, victimEmail).Token, newPassword)
		},
		"reset with the code": func(f *fixture, victim *apiClient) slicetest.Response {
			victim.forgot(victimEmail).Want(t, http.StatusAccepted)
			return victim.resetWithCode(victimEmail, f.lastMail(mail.Reset, victimEmail).Code, newPassword)
		},
	}
	for rescue, save := range rescues {
		for _, before := range orders("link", "change", "password") {
			t.Run(rescue+" after "+strings.Join(before, ", "), func(t *testing.T) {
				f, attacker, victim := newEve(t)
				for _, name := range before {
					attacks[name](attacker)
				}
				if response := save(f, victim); response.Status >= http.StatusBadRequest {
					t.Fatalf("got %d %s, want success", response.Status, response.Raw)
				}
				for _, name := range []string{"link", "change", "password"} { // with the old session
					attacks[name](attacker)
				}
				for _, m := range f.mails("eve@example.com") {
					attacker.changeEmail(m.Token)
				}
				if attacker.canUse() {
					t.Error("the attacker can use an account with the address of the victim")
				}
				victim.loginWith(victimEmail, newPassword).Want(t, http.StatusOK)
				if got := victim.me().Text("email"); got != victimEmail {
					t.Errorf("the victim has the address %q, want %s", got, victimEmail)
				}
			})
		}
	}
}

// tryLink links a user of the code host, if the session of the attacker allows it.
func (e eve) tryLink() {
	response := e.requestLink(nil)
	if response.Status == http.StatusOK {
		e.Get(e.host.approve(response.Text("url"), octocat(1)))
	}
}

// orders returns all orders of each subset of the names, except for the empty subset.
func orders(names ...string) (all [][]string) {
	for i, name := range names {
		rest := slices.Delete(slices.Clone(names), i, i+1)
		all = append(all, []string{name})
		for _, others := range orders(rest...) {
			all = append(all, append([]string{name}, others...))
		}
	}
	return all
}

// A sign-in with a code host does not get into an account whose address is not confirmed. The identity is not linked to
// the account.
func TestSignInAfterSomebodyElseOpenedTheAccount(t *testing.T) {
	f, attacker, victim := newEve(t)
	user := octocat(7, verified(victimEmail))
	victim.signIn(attacker.host, user).Want(t, http.StatusConflict)
	victim.reject(f.lastMail(mail.Confirm, victimEmail).Token).Want(t, http.StatusOK)
	victim.signIn(attacker.host, user).Want(t, http.StatusFound)
	victim.checkAddress(victimEmail, true, nil)
	if attacker.canUse() {
		t.Error("the attacker can use the account of the victim")
	}
}

// A sign-in never links an identity to an account with a password, even if the address of the account is confirmed. So
// a person who controls the address at the code host does not get into the account.
func TestSignInWithTheAddressOfAConfirmedAccount(t *testing.T) {
	f, host := newHostFixture(t)
	ada := f.newConfirmedUser("ada")
	user := octocat(1, verified("ada@example.com"))
	f.newClient().signIn(host, user).Want(t, http.StatusConflict, fault.CodeUserExists)
	ada.moveTo("new@example.com")
	f.newClient().undo(f.lastMail(mail.Undo, "ada@example.com").Token).Want(t, http.StatusOK) // removes the password
	f.newClient().signIn(host, user).Want(t, http.StatusFound)
	ada.reset(f.lastMail(mail.Reset, "ada@example.com").Token, newPassword).Want(t, http.StatusOK)
	f.newClient().signIn(host, octocat(2, verified("ada@example.com"))).Want(t, http.StatusConflict)
}

// The reader of a mail can confirm an account of another person by mistake. A reset still gives it to the reader, and
// the password of the attacker ends.
func TestResetAfterAMistakenConfirmation(t *testing.T) {
	f, attacker, victim := newEve(t)
	victim.confirm(f.lastMail(mail.Confirm, victimEmail).Token).Want(t, http.StatusOK)
	victim.forgot(victimEmail).Want(t, http.StatusAccepted)
	victim.reset(f.lastMail(mail.Reset, victimEmail).Token, newPassword).Want(t, http.StatusOK)
	if attacker.canUse() {
		t.Error("the attacker can use the account")
	}
}

// After a rejection, an account without an address can be used with its identity, and can get another address.
func TestRejectedAccountWithAnIdentity(t *testing.T) {
	f, attacker, victim := newEve(t)
	attacker.tryLink()
	victim.reject(f.lastMail(mail.Confirm, victimEmail).Token).Want(t, http.StatusOK)
	attacker.signIn(attacker.host, octocat(1)).Want(t, http.StatusFound)
	attacker.checkAddress("", false, nil)
	attacker.unlink(attacker.identityIDs()[0]).Want(t, http.StatusConflict) // the last way to sign in
	attacker.resend().Want(t, http.StatusAccepted)
	attacker.changePassword(goodPassword, newPassword).Want(t, http.StatusUnauthorized)
	attacker.requestEmail("eve@example.com").Want(t, http.StatusAccepted)
	attacker.changeEmail(f.lastMail(mail.Change, "eve@example.com").Token).Want(t, http.StatusOK)
	attacker.checkAddress("eve@example.com", true, nil)
	if key := db.EmailKey(victimEmail); f.item(f.tables.Accounts, key) != nil {
		t.Error("the rejected address is not free")
	}
}

// The user of a rejected address starts with unknown networks: the attacker's network gets no advantage.
func TestNetworksOfARejectedAccountAreUnknown(t *testing.T) {
	f, attacker, victim := newEve(t)
	victim.reject(f.lastMail(mail.Confirm, victimEmail).Token).Want(t, http.StatusOK)
	victim.signupWith(victimEmail, "victim", newPassword).Want(t, http.StatusCreated)
	for range 2 {
		attacker.loginWith(victimEmail, newPassword).Want(t, http.StatusOK)    // knows the password
		f.checkMails(victimEmail, mail.Confirm, mail.Confirm, mail.NewNetwork) // the login made the network known
		f.clock.Advance(day)
	}
}
