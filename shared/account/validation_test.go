package account

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"devplatform/shared/config"
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
		if problem := CheckPassword(password, "ada@example.com", "ada-lovelace"); (problem == "") != want {
			t.Errorf("CheckPassword(%q) = %q, want valid = %v", password, problem, want)
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

var redirectOrigins = []config.Origin{"https://app.example.com", "http://localhost:5173"}

func TestCleanRedirect(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{
		"":                          "/",
		"/":                         "/",
		"/projects":                 "/projects",
		"/p?q=1&next=https://x.y/z": "/p?q=1&next=https://x.y/z",
		"/p#frag":                   "/p#frag",
		"/café":                     "/caf%C3%A9",
		"/a%20b":                    "/a%20b",
		"/100%25":                   "/100%25",
	}
	for raw, want := range map[string]string{
		"https://app.example.com":                "https://app.example.com/",
		"https://app.example.com/":               "https://app.example.com/",
		"https://app.example.com?x=1":            "https://app.example.com/?x=1",
		"https://app.example.com/p?q=1#frag":     "https://app.example.com/p?q=1#frag",
		"http://localhost:5173/p":                "http://localhost:5173/p",
		"https://app.example.com/p?to=http://x/": "https://app.example.com/p?to=http://x/",
	} {
		allowed[raw] = want
	}
	for raw, want := range allowed {
		if got, ok := cleanRedirect(raw, redirectOrigins); !ok || got != want {
			t.Errorf("cleanRedirect(%q) = %q, %v; want %q, true", raw, got, ok, want)
		}
	}
	rejected := []string{
		"//evil.example", "///evil.example", `/\evil.example`, `\/evil.example`, `\\evil.example`, "https://evil.example",
		"javascript:alert(1)", "evil.example", "?x", "#x", " /x",
		"/\t/evil.example", "/\n/evil.example", "/\x00", "/x\r\nSet-Cookie: a=b", "/\u0085x", "/\xff",
		"/%2f/evil.example", "/%5cevil.example", "/%2F%2Fevil.example", "/%252f%252fevil.example", "/%09/evil.example",
		"/x%0d%0aSet-Cookie:a=b", "/%zz", "/.//evil.example", "/" + strings.Repeat("a", maxRedirectBytes),
		"http://app.example.com/", "https://app.example.com:444/", "https://app.example.com.evil.example/",
		"https://app.example.com@evil.example/", "https://u:p@app.example.com/", "https://evil.example/app.example.com",
		"https://sub.app.example.com/", "https:/app.example.com/", "https:app.example.com", "https://", "https:///x",
		`https:\\app.example.com/`, `https://app.example.com\@evil.example/`, "https://app.example.com\t.evil.example/",
		" https://app.example.com/", "//app.example.com/", "http://localhost/", "http://localhost:5174/",
		"https://app.example.com//evil.example", "https://app.example.com/%2f/x", "https://app.example.com/%5cx",
		"javascript://app.example.com/%0aalert(1)", "https://app.example.com/" + strings.Repeat("a", maxRedirectBytes),
	}
	for _, raw := range rejected {
		if got, ok := cleanRedirect(raw, redirectOrigins); ok {
			t.Errorf("cleanRedirect(%q) = %q, true; want false", raw, got)
		}
	}
}

// FuzzCleanRedirect checks that every allowed redirect is a path of this origin or a URL of an allowed origin, and is
// not changed when it is cleaned again.
func FuzzCleanRedirect(f *testing.F) {
	for _, seed := range []string{"/x", "//x", `/\x`, "/%2f/x", "/a?b#c", "https://app.example.com/x", "https://app.example.com@x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		cleaned, ok := cleanRedirect(raw, redirectOrigins)
		if !ok {
			return
		}
		path := cleaned
		for _, origin := range redirectOrigins {
			path = strings.TrimPrefix(path, string(origin))
		}
		if path == "" || path[0] != '/' || (len(path) > 1 && (path[1] == '/' || path[1] == '\\')) {
			t.Fatalf("cleanRedirect(%q) = %q, which is not a path of an allowed origin", raw, cleaned)
		}
		again, ok := cleanRedirect(cleaned, redirectOrigins)
		if !ok && len(cleaned) <= maxRedirectBytes || ok && again != cleaned { // escaping can make the path too long
			t.Fatalf("cleanRedirect(%q) = %q, %v; want no change", cleaned, again, ok)
		}
	})
}
