package account

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/fault"
)

func TestIdentityIsLinkedToVerifiedAccount(t *testing.T) {
	f, host := newHostFixture(t)
	first := f.newClient()
	first.signIn(host, octocat(1, verified("octo@example.com"))).Want(t, http.StatusFound)

	// Another identity has the same verified address, which is not its primary one.
	second := f.newClient()
	secondary := userEmail{Email: "OCTO@example.com", Verified: true}
	second.signIn(host, octocat(2, verified("new@example.com"), secondary)).Want(t, http.StatusFound)
	if got, want := second.me().Text("id"), first.me().Text("id"); got != want {
		t.Errorf("an identity with the verified address: got the user %s, want %s", got, want)
	}

	// Another identity has the address, but the code host has not verified it.
	third := f.newClient()
	third.signIn(host, octocat(3, verified("third@example.com"), userEmail{Email: "octo@example.com"})).
		Want(t, http.StatusFound)
	if third.me().Text("id") == first.me().Text("id") {
		t.Error("an identity with the unverified address was linked to the account")
	}
}

func TestLink(t *testing.T) {
	f, host := newHostFixture(t)
	identity := octocat(1, verified("elsewhere@example.com"))
	f.newClient().Do(http.MethodPost, "/api/auth/codehost/link", nil).
		Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

	ada := f.newUser("ada")
	oldToken := ada.Cookie("session")
	ada.Get(host.approve(ada.startLink(), identity)).Want(t, http.StatusFound)
	if ada.Cookie("session") == oldToken {
		t.Error("the link kept the session, want a new one")
	}
	adaID := ada.me().Want(t, http.StatusOK).Text("id")
	old := f.newClient()
	old.SetCookie("session", oldToken)
	old.me().Want(t, http.StatusUnauthorized) // the new session replaced it

	other := f.newClient()
	other.signIn(host, identity).Want(t, http.StatusFound)
	if me := other.me(); me.Text("id") != adaID || me.Text("email") != "ada@example.com" {
		t.Errorf("a sign-in with the linked identity: got the account %s, want ada", me.Raw)
	}
	// Linking the same identity to the same account again succeeds.
	ada.Get(host.approve(ada.startLink(), identity)).Want(t, http.StatusFound)
	if got := ada.me().Want(t, http.StatusOK).Text("id"); got != adaID {
		t.Errorf("the second link: got the user %s, want %s", got, adaID)
	}

	eve := f.newUser("eve")
	eve.Get(host.approve(eve.startLink(), identity)).Want(t, http.StatusConflict, fault.CodeConflict)
	if got := eve.me().Want(t, http.StatusOK).Text("username"); got != "eve" {
		t.Errorf("after the conflict: the session belongs to %s, want eve", got)
	}
}

func TestLinkNeedsTheSameUserInTheSameBrowser(t *testing.T) {
	f, host := newHostFixture(t)
	identity := octocat(1, verified("elsewhere@example.com"))

	switched := f.newUser("ada")
	callback := host.approve(switched.startLink(), identity)
	switched.signup("eve").Want(t, http.StatusCreated)
	switched.login("eve", goodPassword).Want(t, http.StatusOK)
	switched.Get(callback).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)

	// A victim's browser that opens the callback of an attacker's link does not link the identity.
	attacker, victim := f.newUser("mallory"), f.newUser("victim")
	callback = host.approve(attacker.startLink(), identity)
	victim.Get(callback).Want(t, http.StatusBadRequest, fault.CodeOAuthStateInvalid)

	client := f.newClient()
	client.signIn(host, identity).Want(t, http.StatusFound)
	if got := client.me().Text("email"); got != "elsewhere@example.com" {
		t.Errorf("the identity belongs to %s, want a new account for elsewhere@example.com", got)
	}
}

// An unverified account stays unverified when an identity is linked to it. Another identity with the address of
// the account therefore gets no access.
func TestLinkDoesNotVerifyTheAddress(t *testing.T) {
	f, host := newHostFixture(t)
	client := f.newUser("ada")
	client.Get(host.approve(client.startLink(), octocat(1, verified("ada@example.com")))).
		Want(t, http.StatusFound)
	f.newClient().signIn(host, octocat(2, verified("ada@example.com"))).
		Want(t, http.StatusConflict, fault.CodeUserExists)
}

// The end of the session that started a link also ends the link, even if the same user logs in again.
func TestPendingLinkEndsWithItsSession(t *testing.T) {
	f, host := newHostFixture(t)
	for name, c := range map[string]struct {
		end    func(client, other *apiClient)
		status int
		code   fault.Code
	}{
		"logout": {func(client, _ *apiClient) { client.logout().Want(t, http.StatusOK) }, 401, fault.CodeInvalidToken},
		"new login": {func(client, _ *apiClient) {
			client.logout().Want(t, http.StatusOK)
			client.loginWith(client.email, goodPassword).Want(t, http.StatusOK)
		}, 400, fault.CodeOAuthStateInvalid},
		"session ended by another one": {func(client, other *apiClient) {
			for _, session := range other.Get("/api/auth/sessions").List("sessions") {
				if session["current"] != true {
					id, _ := session["id"].(string)
					other.Do(http.MethodDelete, "/api/auth/sessions/"+id, nil).Want(t, http.StatusOK)
				}
			}
		}, 401, fault.CodeInvalidToken},
		"password changed by another session": {func(_, other *apiClient) {
			other.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
		}, 401, fault.CodeInvalidToken},
		"password changed by the session": {func(client, _ *apiClient) {
			client.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
		}, 400, fault.CodeOAuthStateInvalid},
		"another link finished": {func(client, _ *apiClient) {
			client.link(host, octocat(99))
		}, 400, fault.CodeOAuthStateInvalid},
	} {
		user := "user" + strings.ReplaceAll(name, " ", "")
		client, other := f.newUser(user), f.newClient()
		client.email = user + "@example.com"
		other.login(user, goodPassword).Want(t, http.StatusOK)
		callback := host.approve(client.startLink(), octocat(1, verified("attacker@example.com")))
		c.end(client, other)
		response := client.Get(callback)
		if response.Status != c.status || response.Text("code") != string(c.code) {
			t.Errorf("%s: got %d %s, want %d %s", name, response.Status, response.Raw, c.status, c.code)
		}
	}
	if got := f.checkIdentities(); got != 1 { // of "another link finished"
		t.Errorf("got %d stored identities, want 1", got)
	}
}

// If the session ends, or the password is changed, after the callback has checked them, the link fails too.
func TestSessionEndsWhileALinkIsFinished(t *testing.T) {
	f, host := newHostFixture(t)
	wire := dynamotest.NewWire(t, aws.ToString(f.sdk.Options().BaseEndpoint), nil)
	f.useDynamoDB(wire.Client())
	for name, c := range map[string]struct {
		end    func(client, other *apiClient)
		status int
	}{
		"logout": {func(client, _ *apiClient) { client.logout().Want(t, http.StatusOK) }, 401},
		"password change": {func(_, other *apiClient) {
			other.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
		}, 401},
		"own password change": {func(client, _ *apiClient) {
			client.changePassword(goodPassword, newPassword).Want(t, http.StatusOK)
		}, 400},
	} {
		user := "user" + strings.ReplaceAll(name, " ", "")
		client, other := f.newUser(user), f.newClient()
		other.login(user, goodPassword).Want(t, http.StatusOK)
		token := client.Cookie("session")
		callback := host.approve(client.startLink(), octocat(1))
		host.meanwhile = func() { // after the callback has used the state, and before it links the identity
			wire.Before("TransactWriteItems", func() {
				copied := f.newClient()
				copied.SetCookie("session", token)
				c.end(copied, other)
			})
		}
		if response := client.Get(callback); response.Status != c.status {
			t.Errorf("%s: got %d %s, want %d", name, response.Status, response.Raw, c.status)
		}
		if got := f.checkIdentities(); got != 0 {
			t.Fatalf("%s: got %d stored identities, want none", name, got)
		}
	}
}
