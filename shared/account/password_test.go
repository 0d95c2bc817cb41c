package account

import (
	"strings"
	"testing"
)

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
