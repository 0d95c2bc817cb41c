package main

import (
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// setEnv sets the environment variables that template.yaml defines for the function. DynamoDB, SQS and Secrets Manager
// are new and have the same endpoint. S3 is new, too.
func setEnv(t *testing.T) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk := dynamotest.Start(t)
	for _, table := range []string{"accounts", "projects", "contents", "events", "sites", "webhooks"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	objects, queues := s3test.StartServer(t), sqstest.StartServer(t)
	functiontest.SetEnv(t, functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), queues), map[string]string{
		"JOBS_QUEUE":         sqstest.CreateQueue(t, sqstest.Client(queues), "jobs", nil),
		"LIMIT_EXPORTS_HOUR": "",
		"WEBHOOKS_TABLE":     "webhooks",
		"SITES_TABLE":        "sites", "SITES_ORIGIN": "https://example.app",
		"LIMIT_DEPLOYMENTS_MINUTE": "", "LIMIT_DEPLOYMENTS_DAY": "", "LIMIT_SITE_STORAGE_GIB": "",
		"AWS_ENDPOINT_URL_S3": objects, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"FILES_BUCKET":   s3test.CreateBucket(t, s3test.Client(objects), "files"),
		"ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "CONTENTS_TABLE": "contents", "EVENTS_TABLE": "events",
		"APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
		"LIMIT_OLD_VERSIONS_MIB": "400", "LIMIT_WRITTEN_MIB_DAY": "2048",
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
	data := make([]byte, 9000) // stored in S3
	_, _ = rand.Read(data)
	large := base64.StdEncoding.EncodeToString(data)
	for _, step := range []struct {
		method, path, body string
		wantStatus         int
		wantBody           string // a part of the body
	}{
		{"POST", members, `{"username":"Grace","role":"viewer"}`, 201, `"username":"grace"`},
		{"GET", "/api/workspaces", "", 200, `"name":"Team"`},
		{"POST", project + "/files", `{"path":"/a.ts","content":"export {}\n"}`, 201, `"path":"/a.ts"`},
		{"GET", project + "/files?path=/a.ts", "", 200, `"content":"export {}\n"`},
		{
			"POST", project + "/files", `{"path":"/large.bin","content":"` + large + `","encoding":"base64"}`, 201,
			`"size":9000`,
		},
		{"GET", project + "/files?path=/large.bin", "", 200, `"content":"` + large + `"`},
		{"GET", project, "", 200, `"files":[{"path":"/a.ts"`},
		{"PUT", project + "/variables", `{"variables":[{"name":"VITE_A","value":"a","target":"all"}]}`, 200, `"VITE_A"`},
		{"GET", project + "/variables", "", 200, `"value":"a"`},
		{"GET", project + "/events?limit=1", "", 200, `"changes":["variables"]`},
		{"GET", "/api/projects", "", 200, `"slug":"todo-list"`},
		{"POST", project + "/exports", "", 202, `"status":"running"`},
		{"GET", project + "/exports/exp_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "", 404, `"EXPORT_NOT_FOUND"`},
		{"GET", project + "/site", "", 404, `"SITE_NOT_FOUND"`},
		{"POST", project + "/deployments", `{}`, 202, `"status":"queued"`},
		{"GET", project + "/deployments", "", 200, `"number":1`},
		{"GET", project + "/site", "", 200, `"url":"https://todo-list.example.app"`},
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
	functiontest.CheckRequiredVariables[settings](t, "ACCOUNTS_TABLE", "PROJECTS_TABLE", "CONTENTS_TABLE", "EVENTS_TABLE",
		"SITES_TABLE", "WEBHOOKS_TABLE", "FILES_BUCKET", "JOBS_QUEUE", "KEYS_SECRET")
}

// A setting that would reject every request is reported when the function starts. The error names the variable or its
// value.
func TestInvalidSettings(t *testing.T) {
	setEnv(t)
	for _, tc := range []struct{ name, value, want string }{
		{"LIMIT_EXPORTS_HOUR", "0", "LIMIT_EXPORTS_HOUR=0"},
		{"LIMIT_WRITTEN_MIB_DAY", "-1", "LIMIT_WRITTEN_MIB_DAY=-1"},
		{"LIMIT_DEPLOYMENTS_MINUTE", "0", "LIMIT_DEPLOYMENTS_MINUTE=0"},
		{"LIMIT_DEPLOYMENTS_DAY", "0", "LIMIT_DEPLOYMENTS_DAY=0"},
		{"LIMIT_SITE_STORAGE_GIB", "0", "LIMIT_SITE_STORAGE_GIB=0"},
		{"SITES_ORIGIN", "example.app", `"example.app" is not an origin`},
		{"SITES_ORIGIN", "https://example.app/", `"https://example.app/" is not an origin`},
		{"SITES_ORIGIN", "", ""}, // sites are not configured
	} {
		functiontest.CheckSetting(t, newHandler, tc.name, tc.value, tc.want)
	}
}
