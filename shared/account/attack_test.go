package account

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/attempt"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

func TestLoggedOutTokenIsRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newUser("ada")
	token := client.Cookie("session")
	client.logout().Want(t, http.StatusOK)
	client.SetCookie("session", token)
	client.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// A subdomain can set the cookie "session" for the whole site, but not a cookie with the prefix __Host-.
func TestHostCookieTakesPrecedence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newUser("ada")
	cookies := slicetest.Header("Cookie", "session="+client.Cookie("session")+"; __Host-session=invalid")
	client.Do(http.MethodGet, "/api/auth/me", nil, cookies).
		Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
}

// An attacker who sets their own session cookie in a victim's browser does not share the session that the victim's
// login starts (session fixation).
func TestLoginReplacesTheSessionOfAnAttacker(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	attacker := f.newUser("eve")
	victim := f.newClient()
	victim.SetCookie("session", attacker.Cookie("session"))
	victim.signup("ada").Want(t, http.StatusCreated)
	victim.login("ada", goodPassword).Want(t, http.StatusOK)
	if victim.Cookie("session") == attacker.Cookie("session") {
		t.Fatal("the login kept the session of the attacker")
	}
	if got := attacker.me().Want(t, http.StatusOK).Text("username"); got != "eve" {
		t.Errorf("the session of the attacker belongs to %s, want eve", got)
	}
	first := victim.Cookie("session")
	victim.login("ada", goodPassword).Want(t, http.StatusOK)
	if victim.Cookie("session") == first {
		t.Error("two logins have the same session")
	}
}

func TestCrossOriginRequestsAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newUser("ada")
	withHeaders := func(headers map[string]string) func(*http.Request) {
		return func(r *http.Request) {
			for name, value := range headers {
				r.Header.Set(name, value)
			}
		}
	}
	endpoints := []struct{ method, path string }{
		{http.MethodPost, "/api/auth/signup"},
		{http.MethodPost, "/api/auth/login"},
		{http.MethodPost, "/api/auth/logout"},
		{http.MethodPut, "/api/auth/password"},
		{http.MethodPost, "/api/auth/codehost/link"},
		{http.MethodPost, "/api/auth/email/confirm"},
		{http.MethodPost, "/api/auth/email/resend"},
		{http.MethodPost, "/api/auth/email/change"},
		{http.MethodPost, "/api/auth/email/undo"},
		{http.MethodPut, "/api/auth/email"},
		{http.MethodPost, "/api/auth/password/forgot"},
		{http.MethodPost, "/api/auth/password/reset"},
		{http.MethodDelete, "/api/auth/sessions/ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK"},
		{http.MethodDelete, "/api/auth/identities/idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK"},
	}
	for _, endpoint := range endpoints {
		for _, headers := range []map[string]string{
			{"Sec-Fetch-Site": "cross-site"},
			{"Sec-Fetch-Site": "same-site"},
			{"Origin": "https://evil.example"},
			{"Origin": "null"},
			{"Origin": "https://app.example.com.evil.example"},
			{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
		} {
			response := client.Do(endpoint.method, endpoint.path, "{}", withHeaders(headers))
			if response.Status != http.StatusForbidden || response.Text("code") != string(fault.CodeCSRFRejected) {
				t.Errorf("%s %s with %v: got %d %s, want 403 %s", endpoint.method, endpoint.path, headers,
					response.Status, response.Raw, fault.CodeCSRFRejected)
			}
		}
	}
	client.me().Want(t, http.StatusOK) // the session was not ended
	for _, headers := range []map[string]string{
		{},
		{"Sec-Fetch-Site": "none"},
		{"Origin": f.server.URL},
		{"Sec-Fetch-Site": "same-origin", "Origin": f.server.URL},
		{"Sec-Fetch-Site": "same-site", "Origin": "https://app.example.com"},
	} {
		body := loginBody("ada@example.com", goodPassword)
		client.Do(http.MethodPost, "/api/auth/login", body, withHeaders(headers)).Want(t, http.StatusOK)
	}
}

func TestForwardedForIsIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *attempt.Limits) { l.LoginPair = 2 }))
	client := f.newClient()
	withSourceIP := func(ip string) func(*http.Request) {
		return func(r *http.Request) {
			for _, name := range []string{
				"X-Forwarded-For", "X-Real-Ip", "Forwarded", "Client-Ip", "True-Client-Ip", "X-Client-Ip",
			} {
				r.Header.Set(name, ip)
			}
		}
	}
	for i, want := range []int{http.StatusUnauthorized, http.StatusUnauthorized, http.StatusTooManyRequests} {
		ip := fmt.Sprintf("192.0.2.%d", i+1)
		client.Do(http.MethodPost, "/api/auth/login", loginBody("ada@example.com", "wrong"), withSourceIP(ip)).
			Want(t, want)
	}
}

// A login does not reveal which e-mail addresses have an account. The test counts hashes and DynamoDB calls instead of
// measuring the time, because the time varies.
func TestNoUserEnumerationAtLogin(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newClient().from("198.51.100.9")
	client.signup("ada").Want(t, http.StatusCreated)
	client.from("203.0.113.1") // a network from which no user signed up
	// observation is the part of a login that a client can observe. Computing hashes and calling DynamoDB takes time.
	type observation struct {
		Status        int
		Body          string
		RateLimit     attempt.RateLimit
		Hashes, Calls int64
	}
	login := func(email string) observation {
		before := f.hashes.Load()
		response := client.loginWith(email, "wrong")
		return observation{
			Status:    response.Status,
			Body:      response.Raw,
			RateLimit: rateLimitHeaders(t, response),
			Hashes:    f.hashes.Load() - before,
			Calls:     response.Calls,
		}
	}
	for range 12 { // the limit is 10
		known, unknown := login("ada@example.com"), login("eve@example.com")
		if diff := cmp.Diff(known, unknown); diff != "" {
			t.Fatalf("logins differ (-with an account +without an account):\n%s", diff)
		}
	}
}

func TestMalformedJSON(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newClient()
	client.signup("ada").Want(t, http.StatusCreated)
	login := func(body string, change ...func(*http.Request)) slicetest.Response {
		t.Helper()
		return client.Do(http.MethodPost, "/api/auth/login", body, change...)
	}
	const fields = `"email":"ada@example.com","password":"` + goodPassword + `"`
	deepObject := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	deepArray := strings.Repeat("[", 8000) + strings.Repeat("]", 8000)
	for name, body := range map[string]string{
		"duplicate field":          `{` + fields + `,"email":"eve@example.com"}`,
		"duplicate escaped field":  `{` + fields + `,"\u0065mail":"eve@example.com"}`,
		"capitals in field names":  `{"Email":"ada@example.com","PASSWORD":"` + goodPassword + `"}`,
		"deep object":              `{` + fields + `,"x":` + deepObject + `}`,
		"deep array":               `{` + fields + `,"x":` + deepArray + `}`,
		"escaped NUL in the email": `{"email":"ada@example.com\u0000","password":"` + goodPassword + `"}`,
		"NUL in the password":      `{"email":"ada@example.com","password":"` + goodPassword + `\u0000x"}`,
		"raw NUL":                  "{\"email\":\"ada@example.com\x00\",\"password\":\"x\"}",
		"NUL in an unknown field":  `{` + fields + `,"x":"\u0000"}`,
		"invalid UTF-8":            "{\"email\":\"ada@example.com\xff\",\"password\":\"x\"}",
		"unpaired surrogate":       `{"email":"ada@example.com","password":"\ud800"}`,
		"two values":               `{` + fields + `}{}`,
		"trailing comma":           `{` + fields + `,}`,
		"comment":                  `{` + fields + `/* */}`,
		"single quotes":            `{'email':'ada@example.com','password':'x'}`,
		"empty body":               ``,
		"number":                   `1`,
	} {
		response := login(body)
		if response.Status != http.StatusBadRequest || response.Text("code") != string(fault.CodeValidationFailed) {
			t.Errorf("%s: got %d %.200s, want 400 %s", name, response.Status, response.Raw, fault.CodeValidationFailed)
		}
	}
	// Field names are case-sensitive.
	login(`{`+fields+`,"EMAIL":"eve@example.com"}`).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)

	login(`{`+fields+strings.Repeat(" ", 15<<10)+`}`).Want(t, http.StatusOK)
	for _, mediaType := range []string{
		"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx",
	} {
		login(`{`+fields+`}`, slicetest.Header("Content-Type", mediaType)).
			Want(t, http.StatusUnsupportedMediaType, fault.CodeUnsupportedMediaType)
	}
	login(`{`+fields+`}`, slicetest.Header("Content-Type", "Application/JSON; charset=utf-8")).Want(t, http.StatusOK)
}

// Parsing 4 MiB of JSON costs more CPU time than a login. So the endpoints reject large bodies without parsing them,
// and without counting an attempt.
func TestLargeBodiesAreRejectedFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newUser("ada")
	f.clock.Advance(10 * time.Minute) // a new window of the rate limits
	for _, body := range []string{
		`{"email":"ada@example.com","password":"x","x":"` + strings.Repeat("x", 16<<10) + `"}`,
		strings.Repeat("[", 128<<10), // not valid JSON
	} {
		for method, paths := range map[string][]string{
			http.MethodPost: {
				"/signup", "/login", "/logout", "/codehost/link", "/email/confirm", "/email/resend", "/email/change",
				"/email/undo", "/password/forgot", "/password/reset",
			},
			http.MethodPut: {"/password", "/email"},
			http.MethodDelete: {
				"/sessions/ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "/identities/idn_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
			},
		} {
			for _, path := range paths {
				client.Do(method, "/api/auth"+path, body).
					Want(t, http.StatusRequestEntityTooLarge, fault.CodePayloadTooLarge)
			}
		}
	}
	f.checkLoginAttempts("ada@example.com", loginAttempts{})
}

// "#" separates the parts of a DynamoDB key. No value from a client can produce the key of an item of another
// kind or user.
func TestKeyInjection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newUser("ada")
	for _, email := range []string{"a#EMAIL", "ada@example.com#EMAIL", "x\u0000@example.com", "#@#", "USER#usr_x"} {
		response := client.signupWith(email, "freename", goodPassword)
		if response.Status != http.StatusBadRequest {
			t.Errorf("sign-up with %q: got %d %s, want 400", email, response.Status, response.Raw)
		}
		response = client.loginWith(email, goodPassword)
		if response.Status == http.StatusOK || response.Status >= 500 {
			t.Errorf("login with %q: got %d %s, want a 4xx status", email, response.Status, response.Raw)
		}
	}
	for _, username := range []string{"ada#x", "USERNAME#ada", "a/b", "a\\b", "a b"} {
		client.signupWith("free@example.com", username, goodPassword).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
	// An e-mail address may contain "#". Its key still differs from the keys of all other items.
	client.signupWith("a#b@example.com", "hash", goodPassword).Want(t, http.StatusCreated)
	client.signupWith("EMAIL#ada@example.com", "hash2", goodPassword).Want(t, http.StatusCreated)
	client.signupWith("a@example.com", "nohash", goodPassword).Want(t, http.StatusCreated)
	if f.item(f.tables.Accounts, db.EmailKey("a#b@example.com")) == nil {
		t.Error("there is no record of the address a#b@example.com")
	}
	for _, sessionID := range []string{"ses_%23", "%23", "USER", "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJK%23x"} {
		client.Do(http.MethodDelete, "/api/auth/sessions/"+sessionID, nil).Want(t, http.StatusNotFound)
	}
	client.me().Want(t, http.StatusOK)
}
