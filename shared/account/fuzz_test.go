package account

import (
	"context"
	"errors"
	mailaddr "net/mail"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

func fuzzTokens() tokens {
	now := func() time.Time { return epoch }
	return tokens{keys: config.NewKeys(func(context.Context) (string, error) { return testRing, nil }, now), now: now}
}

// FuzzToken checks that only a token that was signed here is accepted.
func FuzzToken(f *testing.F) {
	all := fuzzTokens()
	session := Session{ID: "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK", UserID: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", ExpiresAt: epoch.Add(time.Hour)}
	good, err := all.sign(f.Context(), session, epoch)
	if err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(good, ".")
	for _, seed := range []string{
		good, parts[0] + "." + parts[1] + ".", "..", "eyJhbGciOiJub25lIn0." + parts[1] + ".", good + "=", good[:len(good)-1] + "\n", strings.ToUpper(good),
		parts[0] + "." + parts[1] + "." + parts[2][:len(parts[2])-1] + "_",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if c, err := all.verify(t.Context(), token); err == nil && token != good {
			t.Fatalf("%q is a second spelling of a token: %+v", token, c)
		} else if err != nil && (token == good || !errors.Is(err, errToken)) {
			t.Fatalf("%q: %v", token, err)
		}
	})
}

// FuzzClaims signs arbitrary claims with the correct key, as another version of the code could. Only complete claims
// are accepted.
func FuzzClaims(f *testing.F) {
	all := fuzzTokens()
	kid, key, err := all.keys.Current(f.Context(), TokenPurpose)
	if err != nil {
		f.Fatal(err)
	}
	const header, ids = `{"alg":"HS256","typ":"JWT","kid":"k2"}`, `"sub":"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK","sid":"ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	f.Add(header, `{"iss":"devplatform",`+ids+`,"iat":1935741900,"exp":1935745500}`)
	f.Add(header, `{"iss":"devplatform",`+ids+`,"iat":1935741900.5,"exp":9e99}`)
	f.Add(header, `{"iss":"devplatform",`+ids+`,"iat":1,"exp":"1935745500"}`)
	f.Add(header, `{"iss":["devplatform"],`+ids+`,"iat":null,"exp":1935745500,"nbf":1e300,"aud":[1]}`)
	f.Add(`{"alg":"none","kid":"k2"}`, `{}`)
	f.Add(`{"alg":"HS256","kid":7,"crit":["x"]}`, `[]`)
	f.Fuzz(func(t *testing.T, header, payload string) {
		text := strings.Join([]string{encodeSegment(header), encodeSegment(payload)}, ".")
		signature, err := jwt.SigningMethodHS256.Sign(text, key)
		if err != nil {
			t.Fatal(err)
		}
		c, err := all.verify(t.Context(), text+"."+encodeSegment(string(signature)))
		if err != nil {
			if !errors.Is(err, errToken) {
				t.Fatal(err)
			}
			return
		}
		if !strings.Contains(header, kid) || !strings.Contains(header, "HS256") || c.Issuer != TokenIssuer || !id.User.Valid(c.Subject) || !id.Session.Valid(c.SessionID) ||
			c.IssuedAt == nil || c.ExpiresAt == nil || !c.ExpiresAt.After(epoch) {
			t.Fatalf("%s %s is taken for %+v", header, payload, c)
		}
	})
}

func encodeSegment(s string) string { return new(jwt.Token).EncodeSegment([]byte(s)) }

// FuzzEmail checks that an accepted address is valid for net/mail too, and has one stored form.
func FuzzEmail(f *testing.F) {
	for _, seed := range []string{
		"ada@example.com", "a.b+c@x.example", `"a b"@x.example`, "a@[127.0.0.1]", "a@b", "a@1.2.3.4", "a..b@x.example", "a@-x.example", "a@x.example.", "a@b@c.d",
		"é@x.example", "a@x.ex\u212Ample", "A@X.EXAMPLE", " a@x.example", "a@x_y.example", strings.Repeat("a", 65) + "@x.example",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, email string) {
		if CheckEmail(email) != "" {
			return
		}
		parsed, err := mailaddr.ParseAddress(email)
		if err != nil || parsed.Address != email || len(email) > MaxEmailBytes {
			t.Fatalf("%q: %v, %v", email, parsed, err)
		}
		stored := NormalizeEmail(email)
		if CheckEmail(stored) != "" || NormalizeEmail(stored) != stored || len(stored) != len(email) || strings.ContainsFunc(stored, unicode.IsUpper) {
			t.Fatalf("%q is stored as %q", email, stored)
		}
		if key := db.EmailKey(email); key.IsZero() || key != db.EmailKey(stored) {
			t.Fatalf("%q has the key %q", email, key)
		}
	})
}

// FuzzUsername checks that every name at a code host becomes a valid username, and that a valid username has a key.
func FuzzUsername(f *testing.F) {
	for _, seed := range []string{"ada", "-", "é", "a", "..", "-_a", "octo cat", strings.Repeat("x", 200), "\u0130stanbul", "A#B", "\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, login string) {
		name := usernameFrom(login)
		if CheckUsername(name) != "" || len(name) > MaxUsernameBytes-16 {
			t.Fatalf("%q becomes %q", login, name)
		}
		if CheckUsername(login) == "" && (db.UsernameKey(login).IsZero() || strings.ContainsAny(login, "#/\x00 @") || !utf8.ValidString(login)) {
			t.Fatalf("%q is taken for a username", login)
		}
	})
}

// FuzzPassword checks that no accepted password breaks a rule, in any case of its letters.
func FuzzPassword(f *testing.F) {
	f.Add("correct horse battery", "ada@example.com", "ada")
	f.Add("PassWord1", "a@x.example", "a")
	f.Add("Ada@Example.com", "ada@example.com", "ada")
	f.Add("\u00a0\u2003        ", "", "")
	f.Add("12345678\n", "", "")
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", "", "")
	f.Fuzz(func(t *testing.T, password, email, username string) {
		if CheckPassword(password, email, username) != "" {
			return
		}
		n := utf8.RuneCountInString(password)
		if n < MinPasswordChars || n > MaxPasswordChars || len(password) > MaxLoginBytes || !utf8.ValidString(password) || strings.TrimSpace(password) == "" {
			t.Fatalf("%q is taken", password)
		}
		if strings.EqualFold(password, email) || strings.EqualFold(password, username) {
			t.Fatalf("%q is taken of %q, %q", password, email, username)
		}
	})
}

// FuzzUserAgent checks that the stored User-Agent is safe in a page and in a log.
func FuzzUserAgent(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux x86_64)", 20)
	f.Add("a\x1b[31m\r\nb\u202e\xffé", 7)
	f.Fuzz(func(t *testing.T, agent string, limit int) {
		if limit < 0 {
			return
		}
		kept := printable(agent, limit)
		if len(kept) > limit || !utf8.ValidString(kept) || strings.ContainsFunc(kept, func(r rune) bool { return !unicode.IsPrint(r) }) || printable(kept, limit) != kept {
			t.Fatalf("%q becomes %q", agent, kept)
		}
	})
}

// FuzzStored reads items that this version did not write: each is an error, or a record that is written as it was read.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"id":{"S":"usr_1"},"email":{"S":"a@x.example"},"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"generation":{"N":"1"}}`,
		`{"userId":{"S":"usr_1"},"verified":{"BOOL":true},"passwordHash":{"NULL":true}}`,
		`{"createdAt":{"S":"yesterday"},"expiresAt":{"N":"1e99"}}`, `{"generation":{"L":[]},"hits":{"N":"1.5"},"id":{"M":{}}}`, `{"linkedAt":{"S":""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		slicetest.DecodeStored[userRecord](t, item)
		slicetest.DecodeStored[emailRecord](t, item)
		slicetest.DecodeStored[usernameRecord](t, item)
		slicetest.DecodeStored[identityRecord](t, item)
		slicetest.DecodeStored[knownIPRecord](t, item)
		slicetest.DecodeStored[stateRecord](t, item)
		slicetest.DecodeStored[sessionRecord](t, item)
	})
}
