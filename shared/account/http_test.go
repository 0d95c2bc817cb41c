package account

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
)

func TestSignupLoginMeLogout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	created := b.Do(http.MethodPost, "/api/auth/signup", signupBody("Ada@Example.COM", "Ada", goodPassword)).Want(t, http.StatusCreated)
	userID := created.Text("userId")
	if created.Body["success"] != true || !id.User.Valid(userID) || created.Text("message") == "" || len(created.Body) != 3 {
		t.Errorf("signup: %s", created.Raw)
	}
	if len(created.Header.Values("Set-Cookie")) != 0 {
		t.Error("signup returned a session cookie")
	}
	b.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

	in := b.Do(http.MethodPost, "/api/auth/login", loginBody("aDA@example.com", goodPassword)).Want(t, http.StatusOK)
	if in.Text("userId") != userID || in.Body["success"] != true || len(in.Body) != 2 {
		t.Errorf("login: %s", in.Raw)
	}
	me := b.me().Want(t, http.StatusOK)
	want := map[string]any{"id": userID, "email": "ada@example.com", "username": "Ada", "createdAt": "2031-05-05T10:05:00.000Z"}
	for field, value := range want {
		if me.Body[field] != value || len(me.Body) != len(want) {
			t.Errorf("me: %s, want %v", me.Raw, want)
		}
	}
	out := b.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK)
	if out.Body["success"] != true || out.Text("message") == "" {
		t.Errorf("logout: %s", out.Raw)
	}
	b.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	b.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK)
}

// TestDynamoDBCalls limits the DynamoDB calls of each request.
func TestDynamoDBCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	check := func(name string, a answer, most int64) {
		t.Helper()
		if a.Calls == 0 || a.Calls > most {
			t.Errorf("%s: %d calls, budget %d", name, a.Calls, most)
		}
	}
	check("signup", b.signup("ada").Want(t, http.StatusCreated), 2)
	check("first login", b.login("ada", goodPassword).Want(t, http.StatusOK), 5)
	check("login", b.login("ada", goodPassword).Want(t, http.StatusOK), 4)
	check("wrong login", b.login("ada", "wrong").Want(t, http.StatusUnauthorized), 4)
	check("unknown login", b.login("eve", "wrong").Want(t, http.StatusUnauthorized), 4)
	check("me", b.me().Want(t, http.StatusOK), 1)
	check("logout", b.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK), 2)
}

func TestCookies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	cookies := b.login("ada", goodPassword).Want(t, http.StatusOK).Header.Values("Set-Cookie")
	if len(cookies) != 2 {
		t.Fatalf("plain http: %q", cookies)
	}
	for _, part := range []string{"__Host-session=", "; Path=/", "; HttpOnly", "; Secure", "; SameSite=Lax", "; Max-Age=604800"} {
		if !strings.Contains(cookies[0], part) {
			t.Errorf("%q lacks %q", cookies[0], part)
		}
	}
	if strings.Contains(cookies[0], "Domain") || strings.Contains(cookies[1], "Secure") || !strings.HasPrefix(cookies[1], "session=") || !strings.Contains(cookies[1], "HttpOnly") {
		t.Errorf("cookies %q", cookies)
	}
	https := func(r *http.Request) { r.Header.Set(headerHTTPS, "1") }
	over := b.Do(http.MethodPost, "/api/auth/login", loginBody("ada@example.com", goodPassword), https).Want(t, http.StatusOK)
	if got := over.Header.Values("Set-Cookie"); len(got) != 1 || !strings.HasPrefix(got[0], "__Host-session=") {
		t.Errorf("https: %q", got)
	}
	twinOnly := w.browser()
	twinOnly.SetCookie("session", b.Cookie("session"))
	twinOnly.me().Want(t, http.StatusOK)
	twinOnly.Do(http.MethodGet, "/api/auth/me", nil, https).Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	cleared := b.Do(http.MethodPost, "/api/auth/logout", nil).Want(t, http.StatusOK).Header.Values("Set-Cookie")
	if len(cleared) != 2 || !strings.Contains(cleared[0], "Max-Age=0") || !strings.Contains(cleared[1], "Max-Age=0") {
		t.Errorf("logout: %q", cleared)
	}
}

func TestSignupStoresItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	userID := w.browser().signup("Ada").Want(t, http.StatusCreated).Text("userId")
	for _, key := range []db.Key{db.UserKey(userID), db.EmailKey("ada@example.com"), db.UsernameKey("ada")} {
		if w.item(w.tables.Accounts, key) == nil {
			t.Errorf("nothing under %v", key)
		}
	}
	email := w.item(w.tables.Accounts, db.EmailKey("ada@example.com"))
	hash, _ := email["passwordHash"].(*types.AttributeValueMemberS)
	verified, _ := email["verified"].(*types.AttributeValueMemberBOOL)
	if hash == nil || !strings.HasPrefix(hash.Value, "$argon2id$v=19$") || verified == nil || verified.Value {
		t.Errorf("e-mail record %v", email)
	}
	page, err := w.service.store.projects.Query(t.Context(), db.Query{Prefix: db.Prefix{PK: "USER#" + userID, SK: "WS#"}})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("workspaces: %d, %v", len(page.Items), err)
	}
	if strings.Contains(w.log.String(), goodPassword) || strings.Contains(w.log.String(), "ada@") {
		t.Error("the log contains a password or an address")
	}
}

func TestSignupRejectsTakenNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	for _, body := range []map[string]string{
		signupBody("ada@example.com", "other", goodPassword),
		signupBody("ADA@EXAMPLE.COM", "other", goodPassword),
		signupBody("other@example.com", "ada", goodPassword),
		signupBody("other@example.com", "ADA", goodPassword),
	} {
		a := b.Do(http.MethodPost, "/api/auth/signup", body).Want(t, http.StatusConflict, fault.CodeUserExists)
		if a.Header.Get("RateLimit-Remaining") == "" {
			t.Error("409 without RateLimit-*")
		}
	}
	// The rejected sign-ups stored nothing: the username that was sent with the taken e-mail address is still free.
	b.Do(http.MethodPost, "/api/auth/signup", signupBody("other@example.com", "other", goodPassword)).Want(t, http.StatusCreated)
}

func TestRacingSignups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, body := range map[string]func(i int) map[string]string{
		"e-mail": func(i int) map[string]string {
			return signupBody("race@example.com", "race"+string(rune('a'+i)), goodPassword)
		},
		"username": func(i int) map[string]string {
			return signupBody(string(rune('a'+i))+"@race.example", "Racer", goodPassword)
		},
	} {
		count := slicetest.CountStatuses(slicetest.Concurrently(6, func(i int) answer {
			return w.browser().Do(http.MethodPost, "/api/auth/signup", body(i))
		}))
		if count[http.StatusCreated] != 1 || count[http.StatusConflict] != 5 {
			t.Errorf("%s: %v", name, count)
		}
	}
}

func TestSignupValidation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	cases := []struct {
		name   string
		body   any
		fields []string
	}{
		{"nothing", nil, []string{"body"}},
		{"no object", `[]`, []string{"body"}},
		{"empty object", `{}`, []string{"email", "username", "password"}},
		{"nulls", `{"email":null,"username":null,"password":null}`, []string{"email", "username", "password"}},
		{"wrong types", `{"email":1,"username":true,"password":["x"]}`, []string{"email", "username", "password"}},
		{"all bad", signupBody("nope", "-x", "short"), []string{"email", "username", "password"}},
		{"one bad", signupBody("ada@example.com", "ada", "password"), []string{"password"}},
		{"password is the e-mail", signupBody("ada@example.com", "ada", "Ada@Example.com"), []string{"password"}},
		{"password is the username", signupBody("ada@example.com", "adalovelace", "AdaLovelace"), []string{"password"}},
		{"one missing", `{"email":"ada@example.com","username":"ada"}`, []string{"password"}},
	}
	for _, c := range cases {
		a := b.Do(http.MethodPost, "/api/auth/signup", c.body)
		if a.Status != http.StatusBadRequest || a.Text("code") != string(fault.CodeValidationFailed) {
			t.Errorf("%s: %d %s", c.name, a.Status, a.Raw)
			continue
		}
		for _, field := range c.fields {
			if !strings.Contains(a.Text("error"), field+":") {
				t.Errorf("%s: %q does not name %s", c.name, a.Text("error"), field)
			}
		}
		if len(c.fields) == 1 && strings.Contains(a.Text("error"), ";") {
			t.Errorf("%s: %q names more than %s", c.name, a.Text("error"), c.fields[0])
		}
	}
	b.Do(http.MethodPost, "/api/auth/signup", `{"email":"x@example.com","username":"xx","password":"correct horse","role":"admin","verified":true}`).
		Want(t, http.StatusCreated) // unknown fields are ignored
}

func TestLoginDoesNotRevealWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	before := w.hashes.Load()
	var messages []string
	attempts := []map[string]string{
		loginBody("ada@example.com", "wrong"), loginBody("nobody@example.com", goodPassword), loginBody("not an address", "x"),
		loginBody("", ""), loginBody("ada@example.com", ""), loginBody("USER#x", "x"), loginBody(strings.Repeat("x", 1024), "x"),
		loginBody("x@example.com", strings.Repeat("p", 1024)),
	}
	for _, body := range attempts {
		messages = append(messages, b.Do(http.MethodPost, "/api/auth/login", body).Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials).Raw)
	}
	for _, m := range messages {
		if m != messages[0] {
			t.Errorf("messages differ: %s / %s", m, messages[0])
		}
	}
	if got := w.hashes.Load() - before; got != int64(len(attempts)) {
		t.Errorf("%d hashes for %d attempts", got, len(attempts))
	}
	for _, body := range []map[string]string{loginBody("a@b.example", strings.Repeat("p", 1025)), loginBody(strings.Repeat("x", 1025), "x"), {"email": "a@b.example"}, {"password": "x"}} {
		b.Do(http.MethodPost, "/api/auth/login", body).Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}

func TestLoginRehashesWhenParametersChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.signup("ada").Want(t, http.StatusCreated)
	stronger := quickHash()
	stronger.Time = 2
	w.service.hasher = NewHasher(stronger, 2)
	countHashes(w.service.hasher, &w.hashes)
	for _, a := range slicetest.Concurrently(4, func(int) answer { return w.browser().login("ada", goodPassword) }) {
		a.Want(t, http.StatusOK) // none fails because another one stored the new hash
	}
	hash, _ := w.item(w.tables.Accounts, db.EmailKey("ada@example.com"))["passwordHash"].(*types.AttributeValueMemberS)
	if hash == nil || !strings.Contains(hash.Value, "t=2") {
		t.Errorf("hash %v", hash)
	}
	before := w.hashes.Load()
	b.login("ada", goodPassword).Want(t, http.StatusOK)
	if got := w.hashes.Load() - before; got != 1 {
		t.Errorf("%d hashes after the rehash", got)
	}
}
