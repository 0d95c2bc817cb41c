package account

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

func TestSignupLoginMeLogout(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	signup := client.signupWith("Ada@Example.COM", "Ada", goodPassword).Want(t, http.StatusCreated)
	userID := signup.Text("userId")
	if signup.Body["success"] != true || !id.User.Valid(userID) || signup.Text("message") == "" ||
		len(signup.Body) != 3 {
		t.Errorf("signup: got %s, want success, userId and message", signup.Raw)
	}
	if hasCookies(signup) {
		t.Error("signup set a cookie, want none")
	}
	client.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)

	login := client.loginWith("aDA@example.com", goodPassword).Want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{"success": true, "userId": userID}, login.Body); diff != "" {
		t.Errorf("login (-want +got):\n%s", diff)
	}
	me := client.me().Want(t, http.StatusOK)
	want := map[string]any{
		"id":        userID,
		"email":     "ada@example.com",
		"username":  "Ada",
		"createdAt": "2031-05-05T10:05:00.000Z",

		"emailVerified": false, "pendingEmail": nil, "mailUndeliverableSince": nil, "mail": true,
	}
	if diff := cmp.Diff(want, me.Body); diff != "" {
		t.Errorf("me (-want +got):\n%s", diff)
	}
	logout := client.logout().Want(t, http.StatusOK)
	if logout.Body["success"] != true || logout.Text("message") == "" {
		t.Errorf("logout: got %s, want success and a message", logout.Raw)
	}
	client.me().Want(t, http.StatusUnauthorized, fault.CodeInvalidToken)
	client.logout().Want(t, http.StatusOK)
}

func TestSignupStoresItems(t *testing.T) {
	f := newFixture(t)
	userID := f.newClient().signup("Ada").Want(t, http.StatusCreated).Text("userId")
	for _, key := range []db.Key{db.UserKey(userID), db.EmailKey("ada@example.com"), db.UsernameKey("ada")} {
		if f.item(f.tables.Accounts, key) == nil {
			t.Errorf("there is no item with the key %v", key)
		}
	}
	record := f.item(f.tables.Accounts, db.EmailKey("ada@example.com"))
	hash, _ := record["passwordHash"].(*types.AttributeValueMemberS)
	if hash == nil || !strings.HasPrefix(hash.Value, "$argon2id$v=19$") {
		t.Errorf("got the e-mail record %v, want an Argon2id hash", record)
	}
	record = f.item(f.tables.Accounts, db.UserKey(userID))
	if verified, _ := record["verified"].(*types.AttributeValueMemberBOOL); verified == nil || verified.Value {
		t.Errorf("got the user record %v, want verified to be false", record)
	}
	f.checkPersonalWorkspace(userID)
	if strings.Contains(f.log.String(), goodPassword) || strings.Contains(f.log.String(), "ada@") {
		t.Error("the log contains a password or an e-mail address")
	}
}

func TestSignupRejectsTakenNames(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	client.signup("ada").Want(t, http.StatusCreated)
	for _, response := range []slicetest.Response{
		client.signupWith("ada@example.com", "other", goodPassword),
		client.signupWith("ADA@EXAMPLE.COM", "other", goodPassword),
		client.signupWith("other@example.com", "ada", goodPassword),
		client.signupWith("other@example.com", "ADA", goodPassword),
	} {
		response.Want(t, http.StatusConflict, fault.CodeUserExists)
		if response.Header.Get("RateLimit-Remaining") == "" {
			t.Error("the 409 response has no RateLimit-* headers")
		}
	}
	// The rejected sign-ups stored nothing: their new e-mail address and username are not taken.
	client.signupWith("other@example.com", "other", goodPassword).Want(t, http.StatusCreated)
}

// Of several concurrent sign-ups with the same e-mail address or username, exactly one succeeds.
func TestConcurrentSignups(t *testing.T) {
	f := newFixture(t)
	const signups = 6
	for name, body := range map[string]func(i int) map[string]string{
		"same e-mail address": func(i int) map[string]string {
			return signupBody("same@example.com", fmt.Sprintf("user%d", i), goodPassword)
		},
		"same username": func(i int) map[string]string {
			return signupBody(fmt.Sprintf("user%d@same.example", i), "SameName", goodPassword)
		},
	} {
		responses := slicetest.Concurrently(signups, func(i int) slicetest.Response {
			return f.newClient().Do(http.MethodPost, "/api/auth/signup", body(i))
		})
		want := map[int]int{http.StatusCreated: 1, http.StatusConflict: signups - 1}
		if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
			t.Errorf("%s: number of responses by status (-want +got):\n%s", name, diff)
		}
	}
}

func TestSignupValidation(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	allFields := []string{"email", "username", "password"}
	for _, c := range []struct {
		name   string
		body   any
		fields []string // the fields that the error names
	}{
		{"no body", nil, []string{"body"}},
		{"array", `[]`, []string{"body"}},
		{"empty object", `{}`, allFields},
		{"null values", `{"email":null,"username":null,"password":null}`, allFields},
		{"wrong types", `{"email":1,"username":true,"password":["x"]}`, allFields},
		{"three invalid fields", signupBody("nope", "-x", "short"), allFields},
		{"common password", signupBody("ada@example.com", "ada", "password"), []string{"password"}},
		{"password is the e-mail", signupBody("ada@example.com", "ada", "Ada@Example.com"), []string{"password"}},
		{"password is the username", signupBody("ada@example.com", "adalovelace", "AdaLovelace"), []string{"password"}},
		{"no password", `{"email":"ada@example.com","username":"ada"}`, []string{"password"}},
	} {
		response := client.Do(http.MethodPost, "/api/auth/signup", c.body)
		message := response.Text("error")
		if response.Status != http.StatusBadRequest || response.Text("code") != string(fault.CodeValidationFailed) {
			t.Errorf("%s: got %d %s, want 400 %s", c.name, response.Status, response.Raw, fault.CodeValidationFailed)
			continue
		}
		for _, field := range c.fields {
			if !strings.Contains(message, field+":") {
				t.Errorf("%s: the message %q does not name %s", c.name, message, field)
			}
		}
		if len(c.fields) == 1 && strings.Contains(message, ";") {
			t.Errorf("%s: the message %q names more than one field, want only %s", c.name, message, c.fields[0])
		}
	}
	const unknownFields = `{"email":"x@example.com","username":"xx","password":"correct horse",
		"role":"admin","verified":true}`
	client.Do(http.MethodPost, "/api/auth/signup", unknownFields).
		Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
}

// Every failed login returns the same response and computes one hash.
func TestFailedLoginsAreIndistinguishable(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	client.signup("ada").Want(t, http.StatusCreated)
	var first string
	for _, c := range []struct{ email, password string }{
		{"ada@example.com", "wrong"},
		{"ada@example.com", ""},
		{"unknown@example.com", goodPassword},
		{"not an address", "x"},
		{"USER#x", "x"},
		{"", ""},
		{strings.Repeat("x", 1024), "x"},
		{"x@example.com", strings.Repeat("p", 1024)},
	} {
		before := f.hashes.Load()
		got := client.loginWith(c.email, c.password).
			Want(t, http.StatusUnauthorized, fault.CodeInvalidCredentials).Raw
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("login with %.50q and %.50q: got %s, want %s", c.email, c.password, got, first)
		}
		if hashes := f.hashes.Load() - before; hashes != 1 {
			t.Errorf("login with %.50q and %.50q computed %d hashes, want 1", c.email, c.password, hashes)
		}
	}
	for _, body := range []map[string]string{
		loginBody("a@b.example", strings.Repeat("p", 1025)),
		loginBody(strings.Repeat("x", 1025), "x"),
		{"email": "a@b.example"},
		{"password": "x"},
	} {
		client.Do(http.MethodPost, "/api/auth/login", body).
			Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
	}
}

func TestLoginRehashesWhenParametersChanged(t *testing.T) {
	f := newFixture(t)
	client := f.newClient()
	client.signup("ada").Want(t, http.StatusCreated)
	f.restart(func(d *Deps) { d.Hasher = f.newHasher(2) })
	// A login from an unknown network stores the mail about it, and leaves the new hash to the next login.
	f.newClient().from("198.51.100.9").login("ada", goodPassword).Want(t, http.StatusOK)
	f.checkMails("ada@example.com", mail.Confirm, mail.NewNetwork)
	// One of the logins stores the new hash first. The others succeed too.
	responses := slicetest.Concurrently(4, func(int) slicetest.Response {
		return f.newClient().login("ada", goodPassword)
	})
	for _, response := range responses {
		response.Want(t, http.StatusOK)
	}
	record := f.item(f.tables.Accounts, db.EmailKey("ada@example.com"))
	hash, _ := record["passwordHash"].(*types.AttributeValueMemberS)
	if hash == nil || !strings.Contains(hash.Value, "t=2") {
		t.Errorf("got the e-mail record %v, want a hash with t=2", record)
	}
	before := f.hashes.Load()
	client.login("ada", goodPassword).Want(t, http.StatusOK)
	if got := f.hashes.Load() - before; got != 1 {
		t.Errorf("a login after the rehash computed %d hashes, want 1", got)
	}
}
