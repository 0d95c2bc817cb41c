package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/openapi/contract"
	"devplatform/shared/account"
	"devplatform/shared/api"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

const ring = `{"current":"k1","k1":"a key for the tests, and for nothing else 0123456789"}`

// setEnv is the environment that template.yaml gives the function, and the auth function beside it, on a fresh DynamoDB, Secrets
// Manager and SQS behind one endpoint.
func setEnv(t *testing.T) (queues *sqs.Client, queue string) {
	t.Helper()
	if os.Getenv(dynamotest.EndpointVariable) != "" {
		t.Skip("AWS_ENDPOINT_URL is this test's own to set")
	}
	sdk := dynamotest.Start(t)
	for _, table := range []string{"accounts", "projects", "webhooks"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	manager, err := secrets.Open(secrets.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	queues = sqstest.Start(t)
	queue = sqstest.CreateQueue(t, queues, "deliveries", nil)
	tables, messages := proxyTo(t, aws.ToString(sdk.Options().BaseEndpoint)), proxyTo(t, aws.ToString(queues.Options().BaseEndpoint))
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch service, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); service {
		case "secretsmanager":
			manager.ServeHTTP(w, r)
		case "AmazonSQS":
			messages.ServeHTTP(w, r)
		default:
			tables.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(endpoint.Close)
	client := secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	_, err = client.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("keys"), SecretString: aws.String(ring)})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_ENDPOINT_URL": endpoint.URL, "AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "",
		"AWS_ENDPOINT_URL_SQS": "", "ACCOUNTS_TABLE": "accounts", "PROJECTS_TABLE": "projects", "WEBHOOKS_TABLE": "webhooks",
		"DELIVERIES_QUEUE": queue, "WEBHOOK_ALLOW_PRIVATE": "true",
		"KEYS_SECRET": "keys", "PROVIDERS_SECRET": "providers", "OAUTH_PROVIDER": "none",
		"APP_URL": "", "ALLOWED_ORIGINS": "", "COOKIE_PLAIN_HTTP": "",
	} {
		t.Setenv(name, value)
	}
	return queues, queue
}

// proxyTo passes requests on to an endpoint.
func proxyTo(t *testing.T, endpoint string) http.Handler {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(target)
}

// client sends API Gateway's events to functions, with the cookie that it was given.
type client struct {
	t      *testing.T
	cookie string
}

func (c *client) do(function http.Handler, method, path, body string) events.APIGatewayProxyResponse {
	c.t.Helper()
	bare, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		c.t.Fatal(err)
	}
	event := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: bare, Body: body, MultiValueQueryStringParameters: values,
		MultiValueHeaders: map[string][]string{"Content-Type": {"application/json"}, "Cookie": {c.cookie}},
	}
	event.RequestContext.RequestID, event.RequestContext.Identity.SourceIP = "r-1", "203.0.113.5"
	event.RequestContext.DomainName = "api.example.com"
	payload, err := json.Marshal(event)
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := api.Lambda(function).Invoke(c.t.Context(), payload)
	if err != nil {
		c.t.Fatal(err)
	}
	var answer events.APIGatewayProxyResponse
	if err := json.Unmarshal(out, &answer); err != nil {
		c.t.Fatal(err)
	}
	header := http.Header{}
	for name, values := range answer.MultiValueHeaders {
		header[name] = values
	}
	contract.Check(c.t, method, path, answer.StatusCode, header, []byte(answer.Body))
	if cookies := header["Set-Cookie"]; len(cookies) > 0 {
		c.cookie, _, _ = strings.Cut(cookies[0], ";")
	}
	return answer
}

// field is a member of a JSON object's text.
func field(t *testing.T, body, name string) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	text, _ := object[name].(string)
	return text
}

// An account that the auth function has made works on webhooks with the function as its environment makes it.
func TestFunctionFromItsEnvironment(t *testing.T) {
	queues, queue := setEnv(t)
	logger := slog.New(slog.DiscardHandler)
	accounts, err := config.Load[account.Config]()
	if err != nil {
		t.Fatal(err)
	}
	auth, err := account.Function(accounts, clock.System, logger)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	webhooks := newHandler(cfg, clock.System, logger)
	endpoint := hooktest.New(t)
	ada := &client{t: t}
	if a := ada.do(webhooks, http.MethodGet, "/api/webhooks", ""); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("nobody: %d %s", a.StatusCode, a.Body)
	}
	ada.do(auth, http.MethodPost, "/api/auth/signup", `{"email":"ada@example.com","username":"ada","password":"correct horse battery"}`)
	ada.do(auth, http.MethodPost, "/api/auth/login", `{"email":"ada@example.com","password":"correct horse battery"}`)
	created := ada.do(webhooks, http.MethodPost, "/api/webhooks", `{"url":"`+endpoint.URL("/ok")+`","events":["*"]}`)
	if created.StatusCode != http.StatusCreated || field(t, created.Body, "secret") == "" {
		t.Fatalf("%d %s", created.StatusCode, created.Body)
	}
	hook := "/api/webhooks/" + field(t, created.Body, "id")
	tested := ada.do(webhooks, http.MethodPost, hook+"/test", "")
	delivery := hook + "/deliveries/" + field(t, tested.Body, "deliveryId")
	for _, step := range []struct {
		method, path, body string
		status             int
		holds              string
	}{
		{"GET", "/api/webhooks", "", 200, `"url":"` + endpoint.URL("/ok")},
		{"PUT", hook, `{"description":"Tells nobody."}`, 200, `"description":"Tells nobody."`},
		{"GET", hook + "/deliveries?status=succeeded", "", 200, `"statusCode":200`},
		{"GET", delivery, "", 200, `"type":"webhook.test"`},
		{"POST", delivery + "/redeliver", "", 202, `"status":"pending"`},
		{"POST", hook + "/recover", `{"since":"2026-01-31T08:00:00Z"}`, 202, `"count":0`},
		{"DELETE", hook, "", 200, `"success":true`},
		{"GET", hook + "/deliveries", "", 404, `"WEBHOOK_NOT_FOUND"`},
		{"GET", "/api/elsewhere", "", 404, `"ROUTE_NOT_FOUND"`},
	} {
		a := ada.do(webhooks, step.method, step.path, step.body)
		if a.StatusCode != step.status || !strings.Contains(a.Body, step.holds) {
			t.Errorf("%s %s: %d %s, want %d %s", step.method, step.path, a.StatusCode, a.Body, step.status, step.holds)
		}
	}
	out, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue})
	if err != nil || len(out.Messages) != 1 || !strings.HasSuffix(delivery, field(t, aws.ToString(out.Messages[0].Body), "deliveryId")) {
		t.Errorf("the queue has %+v, %v", out, err)
	}
	requests := endpoint.Requests()
	if len(requests) != 1 || requests[0].Verify(field(t, created.Body, "secret")) != nil {
		t.Errorf("the endpoint got %+v", requests)
	}
}

func TestEveryVariableIsNeeded(t *testing.T) {
	setEnv(t)
	for _, name := range []string{"ACCOUNTS_TABLE", "PROJECTS_TABLE", "WEBHOOKS_TABLE", "DELIVERIES_QUEUE", "KEYS_SECRET"} {
		value := os.Getenv(name)
		t.Setenv(name, "")
		if _, err := config.Load[settings](); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		t.Setenv(name, value)
	}
}
