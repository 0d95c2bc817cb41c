package password

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"correct horse":            true,
		"parola-țară":              true,
		"密码密码密码密码":                 true, // 8 characters, 24 bytes
		strings.Repeat("é", 128):   true,
		strings.Repeat("é", 129):   false,
		"":                         false,
		"1234567":                  false,
		"密码密码密码密":                  false,
		"password":                 false,
		"PassWord":                 false,
		"12345678":                 false,
		"qwertyuiop":               false,
		"ada@example.com":          false,
		"ADA@example.com":          false,
		"Ada-Lovelace":             false,
		"        ":                 false,
		"\xff\xfe\xfd\xfc\xff\xfe": false,
	}
	for password, want := range cases {
		if problem := Check(password, "ada@example.com", "ada-lovelace"); (problem == "") != want {
			t.Errorf("Check(%q) = %q, want valid = %v", password, problem, want)
		}
	}
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
		if got := Check(password, "", ""); got != want {
			t.Errorf("Check(%.24q…), %d bytes: %q, want %q", password, len(password), got, want)
		}
	}
}

func TestCommonPasswords(t *testing.T) {
	t.Parallel()
	const common = "must not be one of the most common passwords"
	lines := strings.Split(strings.TrimSpace(commonPasswords), "\n")
	for _, line := range lines {
		if line != strings.ToLower(line) || len(line) < minChars {
			t.Errorf("the line %q can never match: it must be in lower case and have at least 8 characters", line)
		}
		if got := Check(strings.ToUpper(line), "", ""); got != common {
			t.Errorf("Check(%q) = %q, want %q", strings.ToUpper(line), got, common)
		}
	}
	for _, password := range []string{
		lines[0] + "\n" + lines[1], "\n" + lines[0], lines[0] + "\n", lines[0] + "\r\n", lines[0][:len(lines[0])-1] + "#",
	} {
		if got := Check(password, "", ""); got != "" {
			t.Errorf("Check(%q) = %q, want \"\"", password, got)
		}
	}
}

// FuzzPassword checks that an accepted password breaks no rule.
func FuzzPassword(f *testing.F) {
	f.Add("correct horse battery", "ada@example.com", "ada")
	f.Add("PassWord1", "a@x.example", "a")
	f.Add("Ada@Example.com", "ada@example.com", "ada")
	f.Add("\u00a0\u2003        ", "", "")
	f.Add("12345678\n", "", "")
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", "", "")
	f.Fuzz(func(t *testing.T, password, email, username string) {
		if Check(password, email, username) != "" {
			return
		}
		n := utf8.RuneCountInString(norm.NFC.String(password))
		if n < minChars || n > maxChars || len(password) > maxLoginBytes {
			t.Fatalf("Check accepts %q, which has %d characters", password, n)
		}
		if !utf8.ValidString(password) || strings.TrimSpace(password) == "" {
			t.Fatalf("Check accepts %q, which is blank or not UTF-8", password)
		}
		if strings.EqualFold(password, email) || strings.EqualFold(password, username) {
			t.Fatalf("Check accepts %q for the account %q, %q", password, email, username)
		}
	})
}
