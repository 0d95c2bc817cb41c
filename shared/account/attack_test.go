package account

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/account/attempt"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// An attacker who sets their own session cookie in a victim's browser does not share the session that the victim's
// login starts (session fixation).
func TestLoginReplacesTheSessionOfAnAttacker(t *testing.T) {
	f := newFixture(t)
	attacker := f.newUser("eve")
	victim := f.newClient()
	victim.SetCookie("session", attacker.Cookie("session"))
	victim.signup("ada").Want(t, http.StatusCreated)
	victim.login("ada", goodPassword).Want(t, http.StatusOK)
	if victim.Cookie("session") == attacker.Cookie("session") {
		t.Fatal("the login kept the session of the attacker")
	}
	if got := attacker.me().Want(t, http.StatusOK).Text("username"); got != "eve" {
		t.Errorf("the session of the attacker belongs to %s, want eve", got)
	}
	first := victim.Cookie("session")
	victim.login("ada", goodPassword).Want(t, http.StatusOK)
	if victim.Cookie("session") == first {
		t.Error("two logins have the same session")
	}
}

func TestForwardedForIsIgnored(t *testing.T) {
	f := newFixture(t, withLimits(func(l *attempt.Limits) { l.LoginPair = 2 }))
	client := f.newClient()
	withSourceIP := func(ip string) func(*http.Request) {
		return func(r *http.Request) {
			for _, name := range []string{
				"X-Forwarded-For", "X-Real-Ip", "Forwarded", "Client-Ip", "True-Client-Ip", "X-Client-Ip",
			} {
				r.Header.Set(name, ip)
			}
		}
	}
	for i, want := range []int{http.StatusUnauthorized, http.StatusUnauthorized, http.StatusTooManyRequests} {
		ip := fmt.Sprintf("192.0.2.%d", i+1)
		client.Do(http.MethodPost, "/api/auth/login", loginBody("ada@example.com", "wrong"), withSourceIP(ip)).
			Want(t, want)
	}
}

// "#" separates the parts of a DynamoDB key. No value from a client can produce the key of an item of another
// kind or user.
func TestKeyInjection(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	for _, email := range []string{"a#EMAIL", "ada@example.com#EMAIL", "x\u0000@example.com", "#@#", "USER#usr_x"} {
		response := client.signupWith(email, "freename", goodPassword)
		if response.Status != http.StatusBadRequest {
			t.Errorf("sign-up with %q: got %d %s, want 400", email, response.Status, response.Raw)
		}
		response = client.loginWith(email, goodPassword)
		if response.Status == http.StatusOK || response.Status >= 500 {
			t.Errorf("login with %q: got %d %s, want a 4xx status", email, response.Status, response.Raw)
		}
	}
	for _, username := range []string{"ada#x", "USERNAME#ada", "a/b", "a\\b", "a b"} {
		client.signupWith("free@example.com", username, goodPassword).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	// An e-mail address may contain "#". Its key still differs from the keys of all other items.
	client.signupWith("a#b@example.com", "hash", goodPassword).Want(t, http.StatusCreated)
	client.signupWith("EMAIL#ada@example.com", "hash2", goodPassword).Want(t, http.StatusCreated)
	client.signupWith("a@example.com", "nohash", goodPassword).Want(t, http.StatusCreated)
	if f.item(f.tables.Accounts, db.EmailKey("a#b@example.com")) == nil {
		t.Error("there is no record of the address a#b@example.com")
	}
	for _, sessionID := range []string{"ses_%23", "%23", "USER", "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK%23x"} {
		client.Do(http.MethodDelete, "/api/auth/sessions/"+sessionID, nil).Want(t, http.StatusNotFound)
	}
	client.me().Want(t, http.StatusOK)
}

// Parsing 4 MiB of JSON costs more CPU time than a login. So the endpoints reject large bodies without parsing them,
// and without counting an attempt.
func TestLargeBodiesAreRejectedFirst(t *testing.T) {
	f := newFixture(t)
	client := f.newUser("ada")
	f.clock.Advance(10 * time.Minute) // a new window of the rate limits
	for _, body := range []string{
		`{"email":"ada@example.com","password":"x","x":"` + strings.Repeat("x", 16<<10) + `"}`,
		strings.Repeat("[", 128<<10), // not valid JSON
	} {
		for _, path := range []string{"login", "password/reset", "codehost/link"} {
			client.Do(http.MethodPost, "/api/auth/"+path, body).
				Want(t, http.StatusRequestEntityTooLarge, fault.CodePayloadTooLarge)
		}
	}
	f.checkLoginAttempts("ada@example.com", loginAttempts{})
}
