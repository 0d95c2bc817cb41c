package codehost_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/codehost"
)

func decode(t *testing.T, a response) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return v
}

func TestUserAPI(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	h.token("ada", "ada@example.com", true)
	token := h.token("Bob.B", "bob@example.com", false)
	user := map[string]any{"id": 2.0, "login": "Bob.B", "username": "Bob.B", "full_name": "", "email": "bob@example.com", "active": true}
	if diff := cmp.Diff(any(user), decode(t, h.get("/api/v1/user", "Bearer "+token))); diff != "" {
		t.Error(diff)
	}
	emails := []any{map[string]any{"email": "bob@example.com", "verified": false, "primary": true, "user_id": 2.0, "username": "Bob.B"}}
	if diff := cmp.Diff(any(emails), decode(t, h.get("/api/v1/user/emails", "token "+token))); diff != "" {
		t.Error(diff)
	}
}

func TestUserAPIRefuses(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	token := h.token("ada", "ada@example.com", true)
	onlyEmail := h.token("ada", "ada@example.com", true, set("scope", "user:email"))
	cases := map[string]struct {
		path, authorization, challenge string
		status                         int
	}{
		"nothing":             {"/api/v1/user", "", `Bearer realm="codehost"`, 401},
		"another scheme":      {"/api/v1/user", "Basic " + token, `Bearer realm="codehost"`, 401},
		"an unknown token":    {"/api/v1/user/emails", "Bearer x", `Bearer realm="codehost", error="invalid_token"`, 401},
		"an empty token":      {"/api/v1/user", "Bearer ", `Bearer realm="codehost"`, 401},
		"a token in the URL":  {"/api/v1/user?access_token=" + token, "", `Bearer realm="codehost"`, 401},
		"a scope too small":   {"/api/v1/user", "Bearer " + onlyEmail, `Bearer realm="codehost", error="insufficient_scope", scope="read:user"`, 403},
		"a scope that is one": {"/api/v1/user/emails", "Bearer " + onlyEmail, "", 200},
	}
	for name, c := range cases {
		got := h.get(c.path, c.authorization)
		challenge := got.header.Get("WWW-Authenticate")
		if name == "an empty token" { // a client trims the end of the header
			challenge = strings.TrimSuffix(challenge, `, error="invalid_token"`)
		}
		if got.status != c.status || challenge != c.challenge {
			t.Errorf("%s: %d %q", name, got.status, challenge)
		}
	}
}

func TestIdentitiesSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "codehost")
	first := start(t, dir)
	first.token("ada", "ada@example.com", true)
	token := first.token("bob", "bob@example.com", false)
	first.server.Close()

	h := start(t, dir)
	if got := h.get("/api/v1/user", "Bearer "+token); got.status != http.StatusUnauthorized {
		t.Errorf("a token of the previous server works: %d", got.status)
	}
	forms := h.forms(h.open(authorization()).body)
	if len(forms) != 2 {
		t.Fatalf("got %d forms, want one for known identities and one for new ones", len(forms))
	}
	code := h.redirected(h.submit(forms[0], "authorize", set("identity", "2"))).Get("code")
	_, body := h.redeem(redemption(code))
	again, _ := body["access_token"].(string)
	user, _ := decode(t, h.get("/api/v1/user", "Bearer "+again)).(map[string]any)
	if user["id"] != 2.0 || user["login"] != "bob" {
		t.Errorf("user %v", user)
	}
	h.token("carol", "carol@example.com", true)
	info, err := os.Stat(filepath.Join(dir, "identities.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("temporary files remain: %v", left)
	}
}

func TestKnownLoginKeepsItsIDAndGetsTheNewAddress(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	h.token("ada", "ada@example.com", false)
	token := h.token("ADA", "ada@new.example", true)
	user, _ := decode(t, h.get("/api/v1/user", "Bearer "+token)).(map[string]any)
	if user["id"] != 1.0 || user["login"] != "ada" || user["email"] != "ada@new.example" {
		t.Errorf("user %v", user)
	}
}

func TestUnknownIdentity(t *testing.T) {
	t.Parallel()
	h := start(t, "")
	h.token("ada", "ada@example.com", true)
	for _, id := range []string{"7", "x", "-1"} {
		forms := h.forms(h.open(authorization()).body)
		got := h.submit(forms[0], "authorize", func(q url.Values) { q.Set("identity", id) })
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `role="alert"`) {
			t.Errorf("identity %s: %d", id, got.status)
		}
	}
}

func TestInvalidIdentityFileIsRefusedAndNotChanged(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"empty":          "",
		"cut off":        `{"version":1,"identities":[{"id":1,"lo`,
		"something else": `{"users":[]}`,
		"other version":  `{"version":2,"identities":[]}`,
		"more behind":    `{"version":1,"identities":[]} {}`,
		"same id":        `{"version":1,"identities":[{"id":1,"login":"a","email":"a@x.y","verified":true},{"id":1,"login":"b","email":"b@x.y","verified":true}]}`,
		"same login":     `{"version":1,"identities":[{"id":1,"login":"a","email":"a@x.y","verified":true},{"id":2,"login":"A","email":"b@x.y","verified":true}]}`,
		"id of another":  `{"version":1,"identities":[{"id":2,"login":"a","email":"a@x.y","verified":true}]}`,
		"no e-mail":      `{"version":1,"identities":[{"id":1,"login":"a","email":"","verified":true}]}`,
	}
	for name, content := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "identities.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := codehost.New(codehost.Options{Dir: dir, ClientID: "a", ClientSecret: "b", RedirectPrefixes: []string{callback}})
			if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != content {
				t.Errorf("the file was changed: %q %v", after, err)
			}
		})
	}
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	good := codehost.Options{ClientID: "a", ClientSecret: "b", RedirectPrefixes: []string{callback}}
	if _, err := codehost.New(good); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(*codehost.Options){
		"no client":         func(o *codehost.Options) { o.ClientID = "" },
		"no secret":         func(o *codehost.Options) { o.ClientSecret = "" },
		"no redirect":       func(o *codehost.Options) { o.RedirectPrefixes = nil },
		"relative redirect": func(o *codehost.Options) { o.RedirectPrefixes = []string{"/callback"} },
		"a scheme":          func(o *codehost.Options) { o.RedirectPrefixes = []string{"myapp://callback"} },
		"a query":           func(o *codehost.Options) { o.RedirectPrefixes = []string{callback + "?a=b"} },
	}
	for name, change := range cases {
		o := good
		change(&o)
		if _, err := codehost.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
