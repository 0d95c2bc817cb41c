package account

import (
	"net/http"
	"testing"
	"time"

	"devplatform/shared/fault"
)

// An é is one letter, or an e and an accent: it depends on the keyboard and the system. Both are the same password.
func TestPasswordsAreNormalized(t *testing.T) {
	f, _ := newHostFixture(t)
	const composed, decomposed = "caf\u00e9 au lait", "cafe\u0301 au lait"
	client := f.newClient()
	client.signupWith("ada@example.com", "ada", decomposed).Want(t, http.StatusCreated)
	for _, password := range []string{composed, decomposed} {
		client.login("ada", password).Want(t, http.StatusOK)
	}
	client.login("ada", "cafe au lait").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)

	client.changePassword(composed, "d\u00e9j\u00e0 vu, encore").Want(t, http.StatusOK)
	client.changePassword("de\u0301ja\u0300 vu, encore", composed).Want(t, http.StatusOK)
	client.login("ada", decomposed).Want(t, http.StatusOK)

	f.clock.Advance(10*time.Minute + time.Millisecond)
	client.requestLink(passwordField(decomposed)).Want(t, http.StatusOK)
}
