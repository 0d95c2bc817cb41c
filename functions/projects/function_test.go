package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// setEnv sets the environment variables that template.yaml defines for the function. DynamoDB and Secrets Manager are
// new and have the same endpoint.
func setEnv(t *testing.T) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk := dynamotest.Start(t)
	for _, table := range []string{"accounts", "projects", "contents", "events"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	functiontest.SetEnv(t, functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), ""), map[string]string{
		"ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "CONTENTS_TABLE": "contents", "EVENTS_TABLE": "events",
		"APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
	})
}

// The handler that newHandler builds from the environment accepts the sessions that the auth function created.
func TestFunctionFromItsEnvironment(t *testing.T) {
	setEnv(t)
	logger := slog.New(slog.DiscardHandler)
	auth := functiontest.Accounts(t)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	projects := functiontest.Must(newHandler(cfg, clock.System, logger))
	ada := functiontest.NewClient(t)
	if a := ada.Do(projects, http.MethodGet, "/api/projects", ""); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("request without a session: got %d %s, want 401", a.StatusCode, a.Body)
	}
	for _, name := range []string{"ada", "grace"} {
		body := `{"email":"` + name + `@example.com","username":"` + name + `","password":"correct horse battery"}`
		ada.Do(auth, http.MethodPost, "/api/auth/signup", body)
	}
	ada.Do(auth, http.MethodPost, "/api/auth/login", `{"email":"ada@example.com","password":"correct horse battery"}`)
	created := ada.Do(projects, http.MethodPost, "/api/projects", `{"name":"Todo list"}`)
	team := ada.Do(projects, http.MethodPost, "/api/workspaces", `{"name":"Team"}`)
	if created.StatusCode != http.StatusCreated || team.StatusCode != http.StatusCreated {
		t.Fatalf("creating a project: got %d %s, creating a workspace: got %d %s, want 201",
			created.StatusCode, created.Body, team.StatusCode, team.Body)
	}
	project := "/api/projects/" + functiontest.Field(t, created.Body, "id")
	members := "/api/workspaces/" + functiontest.Field(t, team.Body, "id") + "/members"
	for _, step := range []struct {
		method, path, body string
		wantStatus         int
		wantBody           string // a part of the body
	}{
		{"POST", members, `{"username":"Grace","role":"viewer"}`, 201, `"username":"grace"`},
		{"GET", "/api/workspaces", "", 200, `"name":"Team"`},
		{"POST", project + "/files", `{"path":"/a.ts","content":"export {}\n"}`, 201, `"path":"/a.ts"`},
		{"GET", project + "/files?path=/a.ts", "", 200, `"content":"export {}\n"`},
		{"GET", project, "", 200, `"files":[{"path":"/a.ts"`},
		{"GET", project + "/events?limit=1", "", 200, `"type":"file.created"`},
		{"GET", "/api/projects", "", 200, `"slug":"todo-list"`},
		{"DELETE", project, "", 200, `"success":true`},
		{"GET", project + "/files?path=/a.ts", "", 404, `"PROJECT_NOT_FOUND"`},
		{"GET", "/api/unknown", "", 404, `"ROUTE_NOT_FOUND"`},
	} {
		r := ada.Do(projects, step.method, step.path, step.body)
		if r.StatusCode != step.wantStatus || !strings.Contains(r.Body, step.wantBody) {
			t.Errorf("%s %s: got %d %s, want %d %s",
				step.method, step.path, r.StatusCode, r.Body, step.wantStatus, step.wantBody)
		}
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t,
		"ACCOUNTS_TABLE", "PROJECTS_TABLE", "CONTENTS_TABLE", "EVENTS_TABLE", "KEYS_SECRET")
}
