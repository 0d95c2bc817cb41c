package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
)

// TestNoSecretIsLogged sends secrets of every kind in valid and invalid requests. As in every test of this package,
// package platformtest then checks that the log does not contain them. This test also checks that the log contains the
// requests, and that secrets of every kind were sent.
func TestNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	r := hooktest.New(t)
	p := platformtest.Start(t)
	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	c.Do("POST", "/api/auth/login", `{"email":"ada@example.com","password":"quite the wrong password"}`).WantError(t, 401, "AUTH_INVALID_CREDENTIALS")
	c.Do("POST", "/api/auth/login", `{"email":1,"password":"a password in an invalid request"}`).WantError(t, 400, "VALIDATION_FAILED")
	c.Do("GET", "/api/auth/me", "", "Cookie: __Host-session=a.forged.session").WantError(t, 401, "AUTH_INVALID_TOKEN")
	project := c.NewProject("Secrets", nil)
	c.Save(project, "/secret.txt", "the secret of the file").Want(t, http.StatusCreated)
	c.Save(project, "/../secret.txt", "the secret of a file with an invalid path").WantError(t, 400, "VALIDATION_FAILED")
	variables := "/api/projects/" + project + "/variables"
	c.Do("PUT", variables, `{"variables":[{"name":"VITE_A","value":"the value of a variable","target":"all"}]}`).Want(t, http.StatusOK)
	c.Do("PUT", variables, `{"variables":[{"name":"A","value":"the value of an invalid variable","target":"all"}]}`).WantError(t, 400, "VALIDATION_FAILED")
	c.Do("POST", "/api/projects/"+project+"/comments", `{"body":"a secret comment"}`).Want(t, http.StatusCreated)
	answer := c.Do("POST", "/api/ai/chat", platformtest.Object{"projectId": c.NewProject("Game", nil), "message": "create a game called \"Secret message\"", "apply": true}.String()).Want(t, http.StatusOK)
	if answer["applied"] != true {
		t.Errorf("got answer %v, want an applied one", answer)
	}
	c.Stream("/api/ai/chat/stream", platformtest.Object{"projectId": project, "message": "a table called \"Secret table\" with name and email"}.String()).Until("[DONE]")
	c.Do("POST", "/api/ai/generate", `{"prompt":"a button called SecretPrompt"}`).Want(t, http.StatusOK)
	hook := c.Subscribe(r.URL("/ok"), platformtest.Object{"secret": "the secret of a webhook"})
	var webhook struct{ Secret string }
	if err := json.Unmarshal(c.Do("PUT", "/api/webhooks/"+hook, `{"secret":null}`).Body, &webhook); err != nil || webhook.Secret == "" {
		t.Fatalf("the response has no new secret: %v", err)
	}
	platformtest.Secret("a webhook's new secret", webhook.Secret)
	c.Save(project, "/secret.txt", "the new secret of the file").Want(t, http.StatusOK)
	received(t, r, "/ok", 1)
	c.Do("PUT", "/api/auth/password", `{"currentPassword":"correct horse battery","newPassword":"battery horse correct"}`).Want(t, http.StatusOK)
	begin := c.Do("GET", "/api/auth/codehost", "")
	c.Do("GET", consent(t, c, begin.Header.Get("Location"), "octo-ada"), "").Want(t, http.StatusFound)

	for _, id := range []string{project, hook, c.Do("GET", "/api/nowhere", "").Header.Get("X-Request-Id")} {
		platformtest.Eventually(t, id+" is in the log", func() bool { return strings.Contains(p.Log.String(), id) })
	}
	for _, kind := range []string{"password", "newPassword", "secret", "content", "message", "prompt", "body", "value", "cookie session", "sign-in code", "sign-in state"} {
		if !slices.Contains(platformtest.Secrets(), kind) {
			t.Errorf("got secrets of the kinds %v, want %s among them", platformtest.Secrets(), kind)
		}
	}
}
