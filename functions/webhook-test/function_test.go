package main

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra/functiontest"
	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/workspace"
)

// setEnv sets the environment variables of template.yaml, with a new DynamoDB and Secrets Manager.
func setEnv(t *testing.T) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk := dynamotest.Start(t)
	for _, table := range []string{"accounts", "projects", "webhooks"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	endpoint := aws.ToString(sdk.Options().BaseEndpoint)
	functiontest.SetEnv(t, functiontest.Endpoint(t, endpoint, endpoint), map[string]string{
		"ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "WEBHOOKS_TABLE": "webhooks",
		"WEBHOOK_ALLOW_PRIVATE": "true", "APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
		"LIMIT_WEBHOOK_TESTS_USER": "1", "LIMIT_WEBHOOK_TESTS_WORKSPACE": "3", "LIMIT_WEBHOOK_CALLS_USER": "2",
	})
}

// putWebhook stores a webhook of a new workspace whose owner is the user, and returns the webhook's ID.
func putWebhook(t *testing.T, cfg settings, userID, url string) string {
	t.Helper()
	client := db.New(cfg.AWS, clock.System)
	webhooks, projects := client.Table(cfg.Webhooks.Webhooks), client.Table(cfg.Tables.Projects)
	ids, at := id.NewGenerator(clock.System, rand.Reader), clock.Stamp(time.Now())
	workspaceID, webhookID := ids.New(id.Workspace), ids.New(id.Webhook)
	keys := config.NewSecrets(cfg.AWS, config.Metrics{}, clock.System, slog.New(slog.DiscardHandler)).Keys(cfg.Keys)
	secret := functiontest.Must(delivery.Secrets{Keys: keys}.Seal(t.Context(), webhookID, "secret"))
	put := func(table db.Table, key db.Key, record any) db.Write {
		return table.Put(key, functiontest.Must(db.Encode(record)))
	}
	err := client.Tx(
		put(projects, db.MemberKey(workspaceID, userID), workspace.Membership{
			WorkspaceID: workspaceID, UserID: userID, Role: workspace.Owner, AddedAt: at,
		}),
		put(webhooks, db.WebhookWorkspaceKey(webhookID), map[string]string{"workspaceId": workspaceID}),
		put(webhooks, db.WebhookKey(workspaceID, webhookID), delivery.Webhook{
			ID: webhookID, WorkspaceID: workspaceID, URL: url, Events: []string{"*"}, Secret: secret,
			CreatedAt: at, UpdatedAt: at,
		}),
	).Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return webhookID
}

// The handler that is configured by environment variables tests webhooks, accepts the sessions of accounts, and serves
// nothing else.
func TestEndpoint(t *testing.T) {
	setEnv(t)
	auth := functiontest.Accounts(t)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler)))
	endpoint := hooktest.New(t)
	ada := functiontest.NewClient(t)
	signedUp := ada.Do(auth, http.MethodPost, "/api/auth/signup",
		`{"email":"ada@example.com","username":"ada","password":"correct horse battery"}`)
	path := "/api/webhooks/" + putWebhook(t, cfg, functiontest.Field(t, signedUp.Body, "userId"), endpoint.URL("/ok"))
	for _, step := range []struct {
		method, path string
		status       int
		want         string // a part of the response body
	}{
		{"POST", path + "/test", 401, `"AUTH_INVALID_TOKEN"`},
		{"POST", "/api/auth/login", 200, `"success":true`},
		{"POST", path + "/test", 200, `"statusCode":200`},
		{"GET", path + "/test", 405, `"METHOD_NOT_ALLOWED"`},
		{"GET", "/api/webhooks", 404, `"ROUTE_NOT_FOUND"`},
		{"DELETE", path, 404, `"ROUTE_NOT_FOUND"`},
		{"POST", path + "/test", 200, `"statusCode":200`},
		{"POST", path + "/test", 429, `"RATE_LIMITED"`}, // the limit is two a minute
	} {
		function, body := handler, ""
		if strings.HasPrefix(step.path, "/api/auth") {
			function, body = auth, `{"email":"ada@example.com","password":"correct horse battery"}`
		}
		response := ada.Do(function, step.method, step.path, body)
		if response.StatusCode != step.status || !strings.Contains(response.Body, step.want) {
			t.Errorf("%s %s: got %d %s, want %d and a body with %s",
				step.method, step.path, response.StatusCode, response.Body, step.status, step.want)
		}
	}
	requests := endpoint.Requests()
	if len(requests) != 2 {
		t.Fatalf("got %d requests, want 2", len(requests))
	}
	if err := requests[0].Verify("secret"); err != nil {
		t.Error(err)
	}
}

func TestInvalidLimits(t *testing.T) {
	setEnv(t)
	t.Setenv("LIMIT_WEBHOOK_TESTS_USER", "0")
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	_, err = newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "LIMIT_WEBHOOK_TESTS_USER") {
		t.Errorf("got the error %v, want one that names the variable", err)
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t,
		"ACCOUNTS_TABLE", "PROJECTS_TABLE", "WEBHOOKS_TABLE", "KEYS_SECRET")
}
