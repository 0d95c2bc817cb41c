package account

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/fault"
)

// An é is one letter, or an e and an accent: it depends on the keyboard and the system. Both are the same password.
func TestPasswordsAreNormalized(t *testing.T) {
	t.Parallel()
	const composed, decomposed = "caf\u00e9 au lait", "cafe\u0301 au lait"
	host := newFakeCodeHost(t)
	f := newFixture(t, host.option())
	client := f.newClient()
	client.signupWith("ada@example.com", "ada", decomposed).Want(t, http.StatusCreated)
	for _, password := range []string{composed, decomposed} {
		client.login("ada", password).Want(t, http.StatusOK)
	}
	client.login("ada", "cafe au lait").Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials)

	client.changePassword(composed, "d\u00e9j\u00e0 vu, encore").Want(t, http.StatusOK)
	client.changePassword("de\u0301ja\u0300 vu, encore", composed).Want(t, http.StatusOK)
	client.login("ada", decomposed).Want(t, http.StatusOK)

	f.clock.Advance(recentLogin + time.Millisecond)
	client.requestLink(passwordField(decomposed)).Want(t, http.StatusOK)
}

// The characters of a password are counted after it is normalized.
func TestPasswordLength(t *testing.T) {
	t.Parallel()
	const tooLong = "must be at most 1,024 bytes long"
	for password, want := range map[string]string{
		strings.Repeat("e\u0301", 8):   "",
		strings.Repeat("e\u0301", 7):   "must be 8 to 128 characters long",
		strings.Repeat("e\u0301", 128): "",
		strings.Repeat("e\u0301", 129): "must be 8 to 128 characters long",
		// A login accepts at most 1,024 bytes, so a longer form could never be used again.
		strings.Repeat("\u1112\u1161\u11ab", 113): "",
		strings.Repeat("\u1112\u1161\u11ab", 114): tooLong,
		strings.Repeat("a", 1025):                 "must be 8 to 128 characters long",
	} {
		if got := CheckPassword(password, "", ""); got != want {
			t.Errorf("CheckPassword(%.24q…), %d bytes: %q, want %q", password, len(password), got, want)
		}
	}
}

func TestCommonPasswords(t *testing.T) {
	t.Parallel()
	const common = "must not be one of the most common passwords"
	lines := strings.Split(strings.TrimSpace(commonPasswords), "\n")
	for _, line := range lines {
		if line != strings.ToLower(line) || len(line) < MinPasswordChars {
			t.Errorf("the line %q can never match: it must be in lower case and have at least 8 characters", line)
		}
		if got := CheckPassword(strings.ToUpper(line), "", ""); got != common {
			t.Errorf("CheckPassword(%q) = %q, want %q", strings.ToUpper(line), got, common)
		}
	}
	for _, password := range []string{
		lines[0] + "\n" + lines[1], "\n" + lines[0], lines[0] + "\n", lines[0] + "\r\n", lines[0][:len(lines[0])-1] + "#",
	} {
		if got := CheckPassword(password, "", ""); got != "" {
			t.Errorf("CheckPassword(%q) = %q, want \"\"", password, got)
		}
	}
}
