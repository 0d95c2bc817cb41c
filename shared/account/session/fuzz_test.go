package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// FuzzToken checks that verify accepts a signed token, and no other text.
func FuzzToken(f *testing.F) {
	service := newService(nil)
	session := Session{
		ID: "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK", UserID: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		ExpiresAt: startTime.Add(time.Hour).Unix(),
	}
	valid, err := service.sign(f.Context(), session, startTime)
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
		_, err := service.verify(t.Context(), token)
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
	service := newService(nil)
	kid, key, err := service.keys.Current(f.Context(), TokenPurpose)
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
		c, err := service.verify(t.Context(), signed+"."+encodeSegment(string(signature)))
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

func FuzzStored(f *testing.F) {
	slicetest.FuzzStored(f, func(t *testing.T, item db.Item) { slicetest.DecodeStored[Session](t, item) },
		`{"id":{"S":"ses_1"},"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"expiresAt":{"N":"1935745500"}}`,
		`{"createdAt":{"S":"yesterday"},"expiresAt":{"N":"1e99"}}`, `{"generation":{"L":[]},"id":{"M":{}}}`,
	)
}
