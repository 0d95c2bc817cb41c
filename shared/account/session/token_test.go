package session

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"devplatform/shared/httpapi"
)

// tokenChange changes the header or the claims of a session token.
type tokenChange func(header map[string]any, claims jwt.MapClaims)

func noChange(map[string]any, jwt.MapClaims) {}

// setClaim returns the change that sets a claim, or removes it if value is nil.
func setClaim(name string, value any) tokenChange {
	return func(_ map[string]any, claims jwt.MapClaims) { setOrDelete(claims, name, value) }
}

// setHeader returns the change that sets a header, or removes it if value is nil.
func setHeader(name string, value any) tokenChange {
	return func(header map[string]any, _ jwt.MapClaims) { setOrDelete(header, name, value) }
}

func setOrDelete(values map[string]any, name string, value any) {
	values[name] = value
	if value == nil {
		delete(values, name)
	}
}

// forge returns a changed copy of a token, signed with key.
func forge(t *testing.T, token string, method jwt.SigningMethod, key any, change tokenChange) string {
	t.Helper()
	var claims jwt.MapClaims
	original, _, err := jwt.NewParser().ParseUnverified(token, &claims)
	if err != nil {
		t.Fatal(err)
	}
	forged := jwt.NewWithClaims(method, claims)
	forged.Header["kid"] = original.Header["kid"]
	change(forged.Header, claims)
	signed, err := forged.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// newRSAKey returns an RSA key and its public key as PEM.
func newRSAKey(t *testing.T) (private *rsa.PrivateKey, publicPEM []byte) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
}

func TestForgedTokensAreRejected(t *testing.T) {
	t.Parallel()
	service := newService(t)
	token, eveToken := service.token(t, "ada"), service.token(t, "eve")
	derive := func(kid, purpose string) []byte {
		key, err := service.keys.KeyToVerify(t.Context(), kid, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	key := derive("k2", TokenPurpose)
	private, publicPEM := newRSAKey(t)
	sign := func(key []byte, change tokenChange) string {
		return forge(t, token, jwt.SigningMethodHS256, key, change)
	}
	var eveClaims jwt.MapClaims
	if _, _, err := jwt.NewParser().ParseUnverified(eveToken, &eveClaims); err != nil {
		t.Fatal(err)
	}
	parts, eveParts := strings.Split(token, "."), strings.Split(eveToken, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"NONE","kid":"k2","typ":"JWT"}`))

	// A copy with the same claims and a correct signature is accepted. Each token below is therefore rejected because of
	// its one change.
	valid := map[string]string{
		"original":                        token,
		"copy, signed again":              sign(key, noChange),
		"copy, signed with the older key": sign(derive("k1", TokenPurpose), setHeader("kid", "k1")),
	}
	for name, token := range valid {
		if _, err := service.AuthenticateNow(t.Context(), token); err != nil {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
	now := service.now()
	forged := map[string]string{
		"alg=none":                     forge(t, token, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, noChange),
		"alg=NONE":                     none + "." + parts[1] + ".",
		"no signature":                 parts[0] + "." + parts[1] + ".",
		"HMAC with a public RSA key":   sign(publicPEM, noChange),
		"RS256":                        forge(t, token, jwt.SigningMethodRS256, private, noChange),
		"HS512 with the correct key":   forge(t, token, jwt.SigningMethodHS512, key, noChange),
		"empty key":                    sign([]byte{}, noChange),
		"unknown kid":                  sign(key, setHeader("kid", "k3")),
		"kid is a field of the ring":   sign(key, setHeader("kid", "current")),
		"no kid":                       sign(key, setHeader("kid", nil)),
		"kid is a number":              sign(key, setHeader("kid", 2)),
		"kid is a path":                sign([]byte{}, setHeader("kid", "../../dev/null")),
		"kid of another key":           sign(key, setHeader("kid", "k1")),
		"key for another purpose":      sign(derive("k2", "something else"), noChange),
		"wrong issuer":                 sign(key, setClaim("iss", "another-issuer")),
		"no issuer":                    sign(key, setClaim("iss", nil)),
		"expired":                      sign(key, setClaim("exp", now.Add(-time.Second).Unix())),
		"expires now":                  sign(key, setClaim("exp", now.Unix())),
		"no expiry":                    sign(key, setClaim("exp", nil)),
		"not yet valid":                sign(key, setClaim("nbf", now.Add(time.Hour).Unix())),
		"no iat":                       sign(key, setClaim("iat", nil)),
		"no subject":                   sign(key, setClaim("sub", nil)),
		"no session":                   sign(key, setClaim("sid", nil)),
		"subject of another user":      sign(key, setClaim("sub", eveClaims["sub"])),
		"session of another user":      sign(key, setClaim("sid", eveClaims["sid"])),
		"session with a key separator": sign(key, setClaim("sid", "ses_x#USER")),
		"subject with a key separator": sign(key, setClaim("sub", "usr_x#SESSION")),
		"payload of another token":     parts[0] + "." + eveParts[1] + "." + parts[2],
		"signature of another token":   parts[0] + "." + parts[1] + "." + eveParts[2],
		"last character missing":       token[:len(token)-1],
		"four parts":                   token + ".x",
		"text without parts":           "garbage",
		"text of 7000 characters":      strings.Repeat("a", 7000),
	}
	for name, token := range forged {
		if _, err := service.AuthenticateNow(t.Context(), token); !errors.Is(err, httpapi.ErrNoSession) {
			t.Errorf("%s: got the error %v, want %v", name, err, httpapi.ErrNoSession)
		}
	}
}
