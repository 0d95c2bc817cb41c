package user

import (
	"net/mail"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
)

func TestCheckEmail(t *testing.T) {
	t.Parallel()
	local64 := strings.Repeat("l", 64)
	label := strings.Repeat("d", 61)
	domain := strings.Join([]string{label, label, label, "x"}, ".") // 187 bytes
	cases := map[string]bool{
		"ada@example.com":                  true,
		"Ada.Lovelace+tag@Example.CO.uk":   true,
		"o'brien@example.com":              true,
		"a#b@example.com":                  true,
		"x@xn--bcher-kva.example":          true,
		"1@1.example":                      true,
		local64 + "@" + domain + "y":       true, // 64 + 1 + 188 = 253 bytes
		local64 + "@" + domain + "yy":      true, // 254 bytes
		local64 + "@" + domain + "yyy":     false,
		local64 + "l@example.com":          false,
		"":                                 false,
		"ada":                              false,
		"@example.com":                     false,
		"ada@":                             false,
		"ada@localhost":                    false,
		"ada@example..com":                 false,
		"ada@.example.com":                 false,
		"ada@example.com.":                 false,
		"ada@-example.com":                 false,
		"ada@example-.com":                 false,
		"ada@127.0.0.1":                    false,
		"ada@[127.0.0.1]":                  false,
		".ada@example.com":                 false,
		"ada.@example.com":                 false,
		"a..da@example.com":                false,
		"ada lovelace@example.com":         false,
		" ada@example.com":                 false,
		"ada@example.com ":                 false,
		"ada@exam ple.com":                 false,
		"ada@@example.com":                 false,
		"ada@b@example.com":                false,
		`"ada"@example.com`:                false,
		"Ada <ada@example.com>":            false,
		"ada@example.com\nbcc:x@y.example": false,
		"ada@example.com\x00":              false,
		"åda@example.com":                  false,
		"ada@exämple.com":                  false,
		"ada@example.\u212aom":             false, // the Kelvin sign, which becomes k in lower case
	}
	for email, want := range cases {
		if got := CheckEmail(email) == ""; got != want {
			t.Errorf("CheckEmail(%q) = %q, want valid = %v", email, CheckEmail(email), want)
		}
	}
}

func TestCheckUsername(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"ada":                   true,
		"a1":                    true,
		"1a":                    true,
		"A.d-a_":                true,
		strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false,
		"":                      false,
		"a":                     false,
		".ada":                  false,
		"-ada":                  false,
		"_ada":                  false,
		"a da":                  false,
		"ada#x":                 false,
		"ada/x":                 false,
		"adä":                   false,
		"ada\x00":               false,
		"ada\n":                 false,
	}
	for name, want := range cases {
		if got := CheckUsername(name) == ""; got != want {
			t.Errorf("CheckUsername(%q) = %q, want valid = %v", name, CheckUsername(name), want)
		}
	}
}

func TestUsernameFromIsAlwaysValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		login := rapid.String().Draw(t, "login")
		name := usernameFrom(login)
		if problem := CheckUsername(name); problem != "" {
			t.Fatalf("usernameFrom(%q) = %q, which is not valid: %s", login, name, problem)
		}
		if problem := CheckUsername(name + "-1234567890abcde"); problem != "" {
			t.Fatalf("usernameFrom(%q) = %q, which is not valid with a suffix of 16 bytes: %s", login, name, problem)
		}
	})
	for login, want := range map[string]string{
		"octocat":    "octocat",
		"_Jane Doe_": "Jane-Doe_",
		"项目":         "user",
		"":           "user",
		"a":          "user",
		"x--":        "user",
	} {
		if got := usernameFrom(login); got != want {
			t.Errorf("usernameFrom(%q) = %q, want %q", login, got, want)
		}
	}
}

// FuzzEmail checks that an accepted address is also valid for net/mail, and has one stored form.
func FuzzEmail(f *testing.F) {
	for _, seed := range []string{
		"ada@example.com", "a.b+c@x.example", `"a b"@x.example`, "a@[127.0.0.1]", "a@b", "a@1.2.3.4", "a..b@x.example",
		"a@-x.example", "a@x.example.", "a@b@c.d", "é@x.example", "a@x.ex\u212Ample", "A@X.EXAMPLE", " a@x.example",
		"a@x_y.example", strings.Repeat("a", 65) + "@x.example",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, email string) {
		if CheckEmail(email) != "" {
			return
		}
		parsed, err := mail.ParseAddress(email)
		if err != nil || parsed.Address != email || len(email) > MaxEmailBytes {
			t.Fatalf("CheckEmail accepts %q, which net/mail parses as %v, %v", email, parsed, err)
		}
		stored := NormalizeEmail(email)
		if CheckEmail(stored) != "" || NormalizeEmail(stored) != stored {
			t.Fatalf("NormalizeEmail(%q) = %q, which is not valid or not normalized", email, stored)
		}
		if len(stored) != len(email) || strings.ContainsFunc(stored, unicode.IsUpper) {
			t.Fatalf("NormalizeEmail(%q) = %q, want only the case to change", email, stored)
		}
		if key := db.EmailKey(email); key.IsZero() || key != db.EmailKey(stored) {
			t.Fatalf("the key of %q is %q, want the key of %q", email, key, stored)
		}
	})
}

// FuzzUsername checks that usernameFrom converts every username at a code host to a valid username, and that every
// valid username has a key.
func FuzzUsername(f *testing.F) {
	for _, seed := range []string{
		"ada", "-", "é", "a", "..", "-_a", "octo cat", strings.Repeat("x", 200), "\u0130stanbul", "A#B", "\x00\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, login string) {
		name := usernameFrom(login)
		if CheckUsername(name) != "" || len(name) > MaxUsernameBytes-16 {
			t.Fatalf("usernameFrom(%q) = %q, which is not valid or too long for a suffix", login, name)
		}
		if CheckUsername(login) != "" {
			return
		}
		if db.UsernameKey(login).IsZero() || strings.ContainsAny(login, "#/\x00 @") || !utf8.ValidString(login) {
			t.Fatalf("CheckUsername accepts %q", login)
		}
	})
}

// FuzzPrintable checks that a result is printable and has a bounded size.
func FuzzPrintable(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux x86_64)", 20)
	f.Add("a\x1b[31m\r\nb\u202e\xffé", 7)
	f.Fuzz(func(t *testing.T, agent string, limit int) {
		if limit < 0 {
			return
		}
		stored := Printable(agent, limit)
		if len(stored) > limit || Printable(stored, limit) != stored {
			t.Fatalf("Printable(%q, %d) = %q, which is too long, or Printable changes it again", agent, limit, stored)
		}
		isUnprintable := func(r rune) bool { return !unicode.IsPrint(r) }
		if !utf8.ValidString(stored) || strings.ContainsFunc(stored, isUnprintable) {
			t.Fatalf("Printable(%q, %d) = %q, which is not printable", agent, limit, stored)
		}
	})
}

func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) {
		slicetest.DecodeStored[User](t, item)
		slicetest.DecodeStored[Credential](t, item)
		slicetest.DecodeStored[usernameRecord](t, item)
	},
		`{"id":{"S":"usr_1"},"email":{"S":"a@x.example"},"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"generation":{"N":"1"}}`,
		`{"userId":{"S":"usr_1"},"verified":{"BOOL":true},"passwordHash":{"NULL":true}}`,
		`{"generation":{"L":[]},"hits":{"N":"1.5"},"id":{"M":{}}}`,
	)
}
