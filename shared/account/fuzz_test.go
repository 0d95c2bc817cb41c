package account

import (
	"context"
	"errors"
	"net/mail"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/text/unicode/norm"

	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// newTokens returns the tokens of a service whose clock always shows startTime.
func newTokens() tokens {
	now := func() time.Time { return startTime }
	fetch := func(context.Context) (string, error) { return testKeyRing, nil }
	return tokens{keys: config.NewKeys(fetch, now), now: now}
}

// FuzzToken checks that verify accepts a signed token, and no other text.
func FuzzToken(f *testing.F) {
	tokens := newTokens()
	session := Session{
		ID: "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK", UserID: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		ExpiresAt: startTime.Add(time.Hour),
	}
	valid, err := tokens.sign(f.Context(), session, startTime)
	if err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(valid, ".")
	for _, seed := range []string{
		valid, valid + "=", valid[:len(valid)-1] + "\n", strings.ToUpper(valid), "..",
		parts[0] + "." + parts[1] + ".", "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		parts[0] + "." + parts[1] + "." + parts[2][:len(parts[2])-1] + "_",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		_, err := tokens.verify(t.Context(), token)
		if token == valid && err != nil {
			t.Fatalf("verify rejects the valid token: %v", err)
		}
		if token != valid && !errors.Is(err, errToken) {
			t.Fatalf("verify(%q): got the error %v, want %v", token, err, errToken)
		}
	})
}

// FuzzClaims signs arbitrary headers and claims with the correct key, as another version of the code could. It checks
// that verify accepts only complete claims.
func FuzzClaims(f *testing.F) {
	tokens := newTokens()
	kid, key, err := tokens.keys.Current(f.Context(), TokenPurpose)
	if err != nil {
		f.Fatal(err)
	}
	const header = `{"alg":"HS256","typ":"JWT","kid":"k2"}`
	const ids = `"sub":"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK","sid":"ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	f.Add(header, `{"iss":"devplatform",`+ids+`,"iat":1935741900,"exp":1935745500}`)
	f.Add(header, `{"iss":"devplatform",`+ids+`,"iat":1935741900.5,"exp":9e99}`)
	f.Add(header, `{"iss":"devplatform",`+ids+`,"iat":1,"exp":"1935745500"}`)
	f.Add(header, `{"iss":["devplatform"],`+ids+`,"iat":null,"exp":1935745500,"nbf":1e300,"aud":[1]}`)
	f.Add(`{"alg":"none","kid":"k2"}`, `{}`)
	f.Add(`{"alg":"HS256","kid":7,"crit":["x"]}`, `[]`)
	f.Fuzz(func(t *testing.T, header, payload string) {
		signed := encodeSegment(header) + "." + encodeSegment(payload)
		signature, err := jwt.SigningMethodHS256.Sign(signed, key)
		if err != nil {
			t.Fatal(err)
		}
		c, err := tokens.verify(t.Context(), signed+"."+encodeSegment(string(signature)))
		if err != nil {
			if !errors.Is(err, errToken) {
				t.Fatalf("verify: got the error %v, want %v", err, errToken)
			}
			return
		}
		if !strings.Contains(header, kid) || !strings.Contains(header, "HS256") {
			t.Fatalf("verify accepts the header %s", header)
		}
		validIDs := id.User.Valid(c.Subject) && id.Session.Valid(c.SessionID)
		validTimes := c.IssuedAt != nil && c.ExpiresAt != nil && c.ExpiresAt.After(startTime)
		if c.Issuer != TokenIssuer || !validIDs || !validTimes {
			t.Fatalf("verify accepts the claims %s as %+v", payload, c)
		}
	})
}

func encodeSegment(s string) string { return new(jwt.Token).EncodeSegment([]byte(s)) }

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

// FuzzPassword checks that an accepted password breaks no rule.
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
		n := utf8.RuneCountInString(norm.NFC.String(password))
		if n < MinPasswordChars || n > MaxPasswordChars || len(password) > MaxLoginBytes {
			t.Fatalf("CheckPassword accepts %q, which has %d characters", password, n)
		}
		if !utf8.ValidString(password) || strings.TrimSpace(password) == "" {
			t.Fatalf("CheckPassword accepts %q, which is blank or not UTF-8", password)
		}
		if strings.EqualFold(password, email) || strings.EqualFold(password, username) {
			t.Fatalf("CheckPassword accepts %q for the account %q, %q", password, email, username)
		}
	})
}

// FuzzUserAgent checks that a stored User-Agent is printable and has a bounded size.
func FuzzUserAgent(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux x86_64)", 20)
	f.Add("a\x1b[31m\r\nb\u202e\xffé", 7)
	f.Fuzz(func(t *testing.T, agent string, limit int) {
		if limit < 0 {
			return
		}
		stored := printable(agent, limit)
		if len(stored) > limit || printable(stored, limit) != stored {
			t.Fatalf("printable(%q, %d) = %q, which is too long, or printable changes it again", agent, limit, stored)
		}
		isUnprintable := func(r rune) bool { return !unicode.IsPrint(r) }
		if !utf8.ValidString(stored) || strings.ContainsFunc(stored, isUnprintable) {
			t.Fatalf("printable(%q, %d) = %q, which is not printable", agent, limit, stored)
		}
	})
}

// FuzzStored decodes items that another version could have written. It checks that each item is either rejected, or
// decoded to a record that stays the same when it is encoded and decoded again.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"id":{"S":"usr_1"},"email":{"S":"a@x.example"},"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"generation":{"N":"1"}}`,
		`{"userId":{"S":"usr_1"},"verified":{"BOOL":true},"passwordHash":{"NULL":true}}`,
		`{"createdAt":{"S":"yesterday"},"expiresAt":{"N":"1e99"}}`,
		`{"generation":{"L":[]},"hits":{"N":"1.5"},"id":{"M":{}}}`,
		`{"linkedAt":{"S":""}}`,
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
