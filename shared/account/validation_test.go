package account

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckEmail(t *testing.T) {
	t.Parallel()
	local64 := strings.Repeat("l", 64)
	label := strings.Repeat("d", 61)
	domain := strings.Join([]string{label, label, label, "x"}, ".") // 187
	cases := map[string]bool{
		"ada@example.com":                  true,
		"Ada.Lovelace+tag@Example.CO.uk":   true,
		"o'brien@example.com":              true,
		"a#b@example.com":                  true,
		"x@xn--bcher-kva.example":          true,
		"1@1.example":                      true,
		local64 + "@" + domain + "y":       true, // 64 + 1 + 188 = 253
		local64 + "@" + domain + "yy":      true, // 254
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
		"ada@example.\u212aom":             false, // Kelvin sign: lower-cases to k
	}
	for email, want := range cases {
		if got := CheckEmail(email) == ""; got != want {
			t.Errorf("CheckEmail(%q) ok = %v, want %v (%s)", email, got, want, CheckEmail(email))
		}
	}
}

func TestCheckUsername(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"ada": true, "a1": true, "1a": true, "A.d-a_": true, strings.Repeat("a", 64): true,
		"": false, "a": false, strings.Repeat("a", 65): false, ".ada": false, "-ada": false, "_ada": false,
		"a da": false, "ada#x": false, "ada/x": false, "adä": false, "ada\x00": false, "ada\n": false,
	}
	for name, want := range cases {
		if got := CheckUsername(name) == ""; got != want {
			t.Errorf("CheckUsername(%q) ok = %v, want %v", name, got, want)
		}
	}
}

func TestCheckPassword(t *testing.T) {
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
		if got := CheckPassword(password, "ada@example.com", "ada-lovelace") == ""; got != want {
			t.Errorf("CheckPassword(%q) ok = %v, want %v", password, got, want)
		}
	}
}

func TestCommonPasswordsAreRejected(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(commonPasswords), "\n") {
		if line != strings.ToLower(line) || len(line) < MinPasswordChars {
			t.Errorf("%q never matches: it must be lower-case and at least 8 characters", line)
		}
		if CheckPassword(strings.ToUpper(line), "a@b.example", "zz") == "" {
			t.Errorf("%q is accepted", line)
		}
	}
}

func TestUsernameFromIsAlwaysValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		login := rapid.String().Draw(t, "login")
		name := usernameFrom(login)
		if problem := CheckUsername(name + "-1234567890abcde"); problem != "" || CheckUsername(name) != "" {
			t.Fatalf("usernameFrom(%q) = %q: %s", login, name, problem)
		}
	})
	for login, want := range map[string]string{"octocat": "octocat", "_Jane Doe_": "Jane-Doe_", "项目": "user", "": "user", "a": "user", "x--": "user"} {
		if got := usernameFrom(login); got != want {
			t.Errorf("usernameFrom(%q) = %q, want %q", login, got, want)
		}
	}
}

func TestCleanRedirect(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"":                          "/",
		"/":                         "/",
		"/projects":                 "/projects",
		"/p?q=1&next=https://x.y/z": "/p?q=1&next=https://x.y/z",
		"/p#frag":                   "/p#frag",
		"/café":                     "/caf%C3%A9",
		"/a%20b":                    "/a%20b",
		"/100%25":                   "/100%25",
	}
	for in, want := range good {
		if got, ok := cleanRedirect(in); !ok || got != want {
			t.Errorf("cleanRedirect(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
	bad := []string{
		"//evil.example", "///evil.example", `/\evil.example`, `\/evil.example`, `\\evil.example`, "https://evil.example",
		"javascript:alert(1)", "evil.example", "?x", "#x", " /x", "/\t/evil.example", "/\n/evil.example", "/\x00", "/x\r\nSet-Cookie: a=b",
		"/%2f/evil.example", "/%5cevil.example", "/%2F%2Fevil.example", "/%252f%252fevil.example", "/%09/evil.example", "/.//evil.example",
		"/x%0d%0aSet-Cookie:a=b", "/\u0085x", "/%zz", "/\xff", "/" + strings.Repeat("a", maxRedirectBytes),
	}
	for _, in := range bad {
		if got, ok := cleanRedirect(in); ok {
			t.Errorf("cleanRedirect(%q) = %q, want a refusal", in, got)
		}
	}
}

func FuzzCleanRedirect(f *testing.F) {
	for _, seed := range []string{"/x", "//x", `/\x`, "/%2f/x", "/a?b#c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		out, ok := cleanRedirect(raw)
		if !ok {
			return
		}
		if out[0] != '/' || (len(out) > 1 && (out[1] == '/' || out[1] == '\\')) {
			t.Fatalf("cleanRedirect(%q) = %q", raw, out)
		}
		if again, ok := cleanRedirect(out); !ok && len(out) <= maxRedirectBytes || ok && again != out {
			t.Fatalf("cleanRedirect(%q) = %q, and of that %q, %v", raw, out, again, ok)
		}
	})
}
