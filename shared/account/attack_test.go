package account

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// forge returns a changed copy of b's token, signed with key.
func (w *world) forge(b *browser, method jwt.SigningMethod, key any, change func(header map[string]any, c jwt.MapClaims)) string {
	w.t.Helper()
	var c jwt.MapClaims
	original, _, err := jwt.NewParser().ParseUnverified(b.Cookie("session"), &c)
	if err != nil {
		w.t.Fatal(err)
	}
	token := jwt.NewWithClaims(method, c)
	token.Header["kid"] = original.Header["kid"]
	change(token.Header, c)
	signed, err := token.SignedString(key)
	if err != nil {
		w.t.Fatal(err)
	}
	return signed
}

func TestForgedTokensAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, eve := w.member("ada"), w.member("eve")
	_, key, err := w.keys.Current(t.Context(), TokenPurpose)
	if err != nil {
		t.Fatal(err)
	}
	oldKey, err := w.keys.Derive(t.Context(), "k1", TokenPurpose)
	if err != nil {
		t.Fatal(err)
	}
	otherUse, err := w.keys.Derive(t.Context(), "k2", "something else")
	if err != nil {
		t.Fatal(err)
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	same := func(map[string]any, jwt.MapClaims) {}
	claim := func(name string, value any) func(map[string]any, jwt.MapClaims) {
		return func(_ map[string]any, c jwt.MapClaims) {
			c[name] = value
			if value == nil {
				delete(c, name)
			}
		}
	}
	header := func(name string, value any) func(map[string]any, jwt.MapClaims) {
		return func(h map[string]any, _ jwt.MapClaims) {
			h[name] = value
			if value == nil {
				delete(h, name)
			}
		}
	}
	hs := func(key any, change func(map[string]any, jwt.MapClaims)) string {
		return w.forge(b, jwt.SigningMethodHS256, key, change)
	}
	var eveClaims jwt.MapClaims
	if _, _, err := jwt.NewParser().ParseUnverified(eve.Cookie("session"), &eveClaims); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(b.Cookie("session"), ".")
	eveParts := strings.Split(eve.Cookie("session"), ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"NONE","kid":"k2","typ":"JWT"}`))

	// The unchanged token, signed in the same way, is accepted. Each rejection is therefore caused by its one change.
	accept := map[string]string{"its own": b.Cookie("session"), "signed again": hs(key, same), "by an older key of the ring": hs(oldKey, header("kid", "k1"))}
	for name, token := range accept {
		b := w.browser()
		b.SetCookie("session", token)
		if a := b.me(); a.Status != http.StatusOK {
			t.Errorf("%s: %s", name, a.Raw)
		}
	}
	now := w.clock.Now()
	refuse := map[string]string{
		"alg=none":                 w.forge(b, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, same),
		"alg=NONE":                 none + "." + parts[1] + ".",
		"no signature":             parts[0] + "." + parts[1] + ".",
		"HS/RS confusion":          hs(publicPEM, same),
		"RS256":                    w.forge(b, jwt.SigningMethodRS256, private, same),
		"HS512 with the right key": w.forge(b, jwt.SigningMethodHS512, key, same),
		"an empty key":             hs([]byte{}, same),
		"unknown kid":              hs(key, header("kid", "k3")),
		"kid of the ring's field":  hs(key, header("kid", "current")),
		"no kid":                   hs(key, header("kid", nil)),
		"kid of a wrong type":      hs(key, header("kid", 2)),
		"kid as a path":            hs([]byte{}, header("kid", "../../dev/null")),
		"another key's kid":        hs(key, header("kid", "k1")),
		"a key for another use":    hs(otherUse, same),
		"foreign issuer":           hs(key, claim("iss", "somebody-else")),
		"no issuer":                hs(key, claim("iss", nil)),
		"expired":                  hs(key, claim("exp", now.Add(-time.Second).Unix())),
		"expiring now":             hs(key, claim("exp", now.Unix())),
		"no expiry":                hs(key, claim("exp", nil)),
		"not yet valid":            hs(key, claim("nbf", now.Add(time.Hour).Unix())),
		"no iat":                   hs(key, claim("iat", nil)),
		"no subject":               hs(key, claim("sub", nil)),
		"no session":               hs(key, claim("sid", nil)),
		"another user's subject":   hs(key, claim("sub", eveClaims["sub"])),
		"another user's session":   hs(key, claim("sid", eveClaims["sid"])),
		"a key for a session":      hs(key, claim("sid", "ses_x#USER")),
		"a key for a subject":      hs(key, claim("sub", "usr_x#SESSION")),
		"tampered payload":         parts[0] + "." + eveParts[1] + "." + parts[2],
		"tampered signature":       parts[0] + "." + parts[1] + "." + eveParts[2],
		"truncated":                b.Cookie("session")[:len(b.Cookie("session"))-1],
		"a fourth part":            b.Cookie("session") + ".x",
		"garbage":                  "garbage",
		"huge":                     strings.Repeat("a", 7000),
	}
	for name, token := range refuse {
		b := w.browser()
		b.SetCookie("session", token)
		if a := b.me(); a.Status != http.StatusUnauthorized || a.Text("code") != string(fault.CodeInvalidToken) {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	}
}

func TestLoggedOutTokenIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	token := b.Cookie("session")
	b.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK)
	b.SetCookie("session", token)
	b.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

func TestHostCookieTakesPrecedence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	b.Do(http.MethodGet, "/api/auth/me", nil, func(r *http.Request) {
		r.Header.Set("Cookie", "session="+b.Cookie("session")+"; __Host-session=planted")
	}).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

func TestLoginReplacesPlantedSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eve := w.member("eve")
	victim := w.browser()
	victim.SetCookie("session", eve.Cookie("session"))
	planted := victim.Cookie("session")
	victim.signup("ada").Want(t, http.StatusCreated)
	victim.login("ada", goodPassword).Want(t, http.StatusOK)
	if victim.Cookie("session") == planted {
		t.Fatal("a login kept the planted session")
	}
	if got := eve.me().Want(t, http.StatusOK).Text("username"); got != "eve" {
		t.Errorf("the planted session became %s's", got)
	}
	again := victim.Cookie("session")
	victim.login("ada", goodPassword).Want(t, http.StatusOK)
	if victim.Cookie("session") == again {
		t.Error("two logins share a session")
	}
}

func TestCrossOriginRequestsAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	with := func(headers ...string) func(*http.Request) {
		return func(r *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
		}
	}
	unsafe := []struct{ method, path string }{
		{http.MethodPost, "/api/auth/signup"}, {http.MethodPost, "/api/auth/login"}, {http.MethodPost, "/api/auth/logout"},
		{http.MethodPut, "/api/auth/password"}, {http.MethodPost, "/api/auth/codehost/link"},
		{http.MethodDelete, "/api/auth/sessions/ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"},
	}
	for _, u := range unsafe {
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
			{"Origin", "https://app.example.com.evil.example"}, {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		} {
			if a := b.Do(u.method, u.path, "{}", with(headers...)); a.Status != http.StatusForbidden || a.Text("code") != string(fault.CodeCSRFRejected) {
				t.Errorf("%s %s with %v: %d %s", u.method, u.path, headers, a.Status, a.Raw)
			}
		}
	}
	b.me().Want(t, http.StatusOK) // still logged in
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "same-origin", "Origin", w.server.URL}, {"Sec-Fetch-Site", "none"}, {"Origin", w.server.URL}, {},
		{"Sec-Fetch-Site", "same-site", "Origin", "https://app.example.com"},
	} {
		b.Do(http.MethodPost, "/api/auth/login", loginBody("ada@example.com", goodPassword), with(headers...)).Want(t, http.StatusOK)
	}
}

func TestForwardedForIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimits(func(l *Limits) { l.LoginPair = 2 }))
	b := w.browser()
	spoofed := func(ip string) func(*http.Request) {
		return func(r *http.Request) {
			for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded", "Client-Ip", "True-Client-Ip", "X-Client-Ip"} {
				r.Header.Set(name, ip)
			}
		}
	}
	for i, want := range []int{http.StatusUnauthorized, http.StatusUnauthorized, http.StatusTooManyRequests} {
		ip := "192.0.2." + string(rune('1'+i))
		b.Do(http.MethodPost, "/api/auth/login", loginBody("ada@example.com", "wrong"), spoofed(ip)).Want(t, want)
	}
}

// A login does not reveal who has an account. The test counts the work, because timing would be unreliable.
func TestNoUserEnumerationAtLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	work := func(email string) (answer, int64) {
		before := w.hashes.Load()
		a := b.Do(http.MethodPost, "/api/auth/login", loginBody(email, "wrong"))
		return a, w.hashes.Load() - before
	}
	for range 12 { // through the limit and beyond it
		known, hashesKnown := work("ada@example.com")
		unknown, hashesUnknown := work("eve@example.com")
		if known.Raw != unknown.Raw || known.Status != unknown.Status || hashesKnown != hashesUnknown || known.Calls != unknown.Calls {
			t.Fatalf("known: %d %s, %d hashes, %d calls; unknown: %d %s, %d hashes, %d calls",
				known.Status, known.Raw, hashesKnown, known.Calls, unknown.Status, unknown.Raw, hashesUnknown, unknown.Calls)
		}
		if rateOf(t, known) != rateOf(t, unknown) {
			t.Fatalf("RateLimit-*: known %v, unknown %v", rateOf(t, known), rateOf(t, unknown))
		}
	}
}

func TestHostileJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	good := `"email":"ada@example.com","password":"` + goodPassword + `"`
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	bad := map[string]string{
		"duplicate key":           `{` + good + `,"email":"eve@example.com"}`,
		"duplicate escaped key":   `{` + good + `,"\u0065mail":"eve@example.com"}`,
		"differently cased alone": `{"Email":"ada@example.com","PASSWORD":"` + goodPassword + `"}`,
		"deep object":             `{` + good + `,"x":` + deep + `}`,
		"deep list":               `{` + good + `,"x":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`,
		"NUL, escaped":            `{"email":"ada@example.com\u0000","password":"` + goodPassword + `"}`,
		"NUL in the password":     `{"email":"ada@example.com","password":"` + goodPassword + `\u0000x"}`,
		"NUL, raw":                "{\"email\":\"ada@example.com\x00\",\"password\":\"x\"}",
		"NUL in an unknown field": `{` + good + `,"x":"\u0000"}`,
		"broken UTF-8":            "{\"email\":\"ada@example.com\xff\",\"password\":\"x\"}",
		"a lone surrogate":        `{"email":"ada@example.com","password":"\ud800"}`,
		"two values":              `{` + good + `}{}`,
		"trailing comma":          `{` + good + `,}`,
		"a comment":               `{` + good + `/* */}`,
		"single quotes":           `{'email':'ada@example.com','password':'x'}`,
		"nothing":                 ``,
		"a number":                `1`,
	}
	for name, body := range bad {
		if a := b.Do(http.MethodPost, "/api/auth/login", body); a.Status != http.StatusBadRequest || a.Text("code") != string(fault.CodeValidationFailed) {
			t.Errorf("%s: %d %.200s", name, a.Status, a.Raw)
		}
	}
	// A field name in another case is an unknown field.
	b.Do(http.MethodPost, "/api/auth/login", `{`+good+`,"EMAIL":"eve@example.com","Password":"x"}`).Want(t, http.StatusOK)

	b.Do(http.MethodPost, "/api/auth/login", `{`+good+`,"x":"`+strings.Repeat("x", 5<<20)+`"}`).Want(t, http.StatusRequestEntityTooLarge, fault.CodePayloadTooLarge)
	b.Do(http.MethodPost, "/api/auth/login", `{`+good+`,"x":"`+strings.Repeat("x", 3<<20)+`"}`).Want(t, http.StatusOK)
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"} {
		b.Do(http.MethodPost, "/api/auth/login", `{`+good+`}`, func(r *http.Request) { r.Header["Content-Type"] = []string{media} }).
			Want(t, http.StatusUnsupportedMediaType, fault.CodeUnsupportedMediaType)
	}
	b.Do(http.MethodPost, "/api/auth/login", `{`+good+`}`, func(r *http.Request) { r.Header.Set("Content-Type", "Application/JSON; charset=utf-8") }).Want(t, http.StatusOK)
}

// "#" separates the parts of keys. No value that a client chooses can address another item.
func TestKeyInjection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.member("ada")
	for _, email := range []string{"a#EMAIL", "ada@example.com#EMAIL", "x\u0000@example.com", "#@#", "USER#usr_x"} {
		if a := b.Do(http.MethodPost, "/api/auth/signup", signupBody(email, "freename", goodPassword)); a.Status != http.StatusBadRequest {
			t.Errorf("signup as %q: %d %s", email, a.Status, a.Raw)
		}
		if a := b.Do(http.MethodPost, "/api/auth/login", loginBody(email, goodPassword)); a.Status == http.StatusOK || a.Status >= 500 {
			t.Errorf("login as %q: %d %s", email, a.Status, a.Raw)
		}
	}
	for _, name := range []string{"ada#x", "USERNAME#ada", "a/b", "a\\b", "a b"} {
		b.Do(http.MethodPost, "/api/auth/signup", signupBody("free@example.com", name, goodPassword)).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	// An e-mail address may contain "#". It addresses its own item only.
	b.Do(http.MethodPost, "/api/auth/signup", signupBody("a#b@example.com", "hash", goodPassword)).Want(t, http.StatusCreated)
	b.Do(http.MethodPost, "/api/auth/signup", signupBody("EMAIL#ada@example.com", "hash2", goodPassword)).Want(t, http.StatusCreated)
	b.Do(http.MethodPost, "/api/auth/signup", signupBody("a@example.com", "nohash", goodPassword)).Want(t, http.StatusCreated)
	if w.item(w.tables.Accounts, db.EmailKey("a#b@example.com")) == nil {
		t.Error("no record of the address with a #")
	}
	for _, sid := range []string{"ses_%23", "%23", "USER", "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK%23x"} {
		b.Do(http.MethodDelete, "/api/auth/sessions/"+sid, nil).Want(t, http.StatusNotFound)
	}
	b.me().Want(t, http.StatusOK)
}
