package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/functiontest"
	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// setEnv sets the environment that template.yaml gives the function, with a new DynamoDB, Secrets Manager and SQS
// behind one endpoint.
func setEnv(t *testing.T) (queues *sqs.Client, queue string) {
	t.Helper()
	functiontest.SkipWithEndpoint(t)
	sdk := dynamotest.Start(t)
	for _, table := range []string{"accounts", "projects", "webhooks"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	queues = sqstest.Start(t)
	queue = sqstest.CreateQueue(t, queues, "deliveries", nil)
	functiontest.SetEnv(t, functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), aws.ToString(queues.Options().BaseEndpoint)), map[string]string{
		"ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "WEBHOOKS_TABLE": "webhooks",
		"DELIVERIES_QUEUE": queue, "WEBHOOK_ALLOW_PRIVATE": "true",
		"APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
	})
	return queues, queue
}

// The function, built from its environment, serves the sessions of an account.
func TestFunctionFromItsEnvironment(t *testing.T) {
	queues, queue := setEnv(t)
	logger := slog.New(slog.DiscardHandler)
	auth := functiontest.Accounts(t)
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	webhooks := functiontest.Must(newHandler(cfg, clock.System, logger))
	endpoint := hooktest.New(t)
	ada := functiontest.NewClient(t)
	if a := ada.Do(webhooks, http.MethodGet, "/api/webhooks", ""); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a session: %d %s", a.StatusCode, a.Body)
	}
	ada.Do(auth, http.MethodPost, "/api/auth/signup", `{"email":"ada@example.com","username":"ada","password":"correct horse battery"}`)
	ada.Do(auth, http.MethodPost, "/api/auth/login", `{"email":"ada@example.com","password":"correct horse battery"}`)
	created := ada.Do(webhooks, http.MethodPost, "/api/webhooks", `{"url":"`+endpoint.URL("/ok")+`","events":["*"]}`)
	if created.StatusCode != http.StatusCreated || functiontest.Field(t, created.Body, "secret") == "" {
		t.Fatalf("%d %s", created.StatusCode, created.Body)
	}
	hook := "/api/webhooks/" + functiontest.Field(t, created.Body, "id")
	tested := ada.Do(webhooks, http.MethodPost, hook+"/test", "")
	delivery := hook + "/deliveries/" + functiontest.Field(t, tested.Body, "deliveryId")
	for _, step := range []struct {
		method, path, body string
		status             int
		holds              string
	}{
		{"GET", "/api/webhooks", "", 200, `"url":"` + endpoint.URL("/ok")},
		{"PUT", hook, `{"description":"For tests."}`, 200, `"description":"For tests."`},
		{"GET", hook + "/deliveries?status=succeeded", "", 200, `"statusCode":200`},
		{"GET", delivery, "", 200, `"type":"webhook.test"`},
		{"POST", delivery + "/redeliver", "", 202, `"status":"pending"`},
		{"POST", hook + "/recover", `{"since":"2026-01-31T08:00:00Z"}`, 202, `"count":0`},
		{"DELETE", hook, "", 200, `"success":true`},
		{"GET", hook + "/deliveries", "", 404, `"WEBHOOK_NOT_FOUND"`},
		{"GET", "/api/elsewhere", "", 404, `"ROUTE_NOT_FOUND"`},
	} {
		a := ada.Do(webhooks, step.method, step.path, step.body)
		if a.StatusCode != step.status || !strings.Contains(a.Body, step.holds) {
			t.Errorf("%s %s: %d %s, want %d %s", step.method, step.path, a.StatusCode, a.Body, step.status, step.holds)
		}
	}
	out, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue})
	if err != nil || len(out.Messages) != 1 || !strings.HasSuffix(delivery, functiontest.Field(t, aws.ToString(out.Messages[0].Body), "deliveryId")) {
		t.Errorf("the queue has %+v, %v", out, err)
	}
	requests := endpoint.Requests()
	if len(requests) != 1 || requests[0].Verify(functiontest.Field(t, created.Body, "secret")) != nil {
		t.Errorf("the endpoint got %+v", requests)
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "ACCOUNTS_TABLE", "PROJECTS_TABLE", "WEBHOOKS_TABLE", "DELIVERIES_QUEUE", "KEYS_SECRET")
}
