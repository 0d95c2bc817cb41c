package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/account/oauth"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/lambdafn/apigateway"
)

const goodPassword = "correct horse battery"

// setEnv sets the environment variables of the function, as template.yaml does. AWS_ENDPOINT_URL is the endpoint of a
// new DynamoDB and a new Secrets Manager.
func setEnv(t *testing.T) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk := dynamotest.Start(t)
	dynamotest.CreateTable(t, sdk, "accounts", "pk", "sk")
	dynamotest.CreateTable(t, sdk, "projects", "pk", "sk")
	dynamotest.CreateTable(t, sdk, "mail", "pk", "sk")
	endpoint := functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint))
	functiontest.SetEnv(t, endpoint, map[string]string{
		"ACCOUNTS_TABLE":    "accounts",
		"PROJECTS_TABLE":    "projects",
		"MAIL_TABLE":        "mail",
		"FILES_BUCKET":      "files",
		"JOBS_QUEUE":        endpoint + "/000000000000/jobs",
		"MAIL_FROM":         "",
		"CODEHOST_SECRET":   "codehost",
		"APP_URL":           "",
		"ALLOWED_ORIGINS":   "",
		"COOKIE_PLAIN_HTTP": "",
		"OAUTH_PROVIDER":    "none",
		"OAUTH_CLIENT_ID":   "",
		"OAUTH_BASE_URL":    "",
		"LIMIT_LOGIN_PAIR":  "",
		"LIMIT_LOGIN_EMAIL": "",
		"LIMIT_LOGIN_IP":    "",
		"LIMIT_SIGNUP_IP":   "7",
		"LIMIT_OAUTH_IP":    "",

		"LIMIT_CODE_IP":      "",
		"LIMIT_MAIL_MINUTE":  "",
		"LIMIT_MAIL_HOUR":    "",
		"LIMIT_MAIL_DAY":     "",
		"LIMIT_MAIL_ADDRESS": "",
		"LIMIT_MAIL_IP":      "",

		"CLIENT_ADDRESS_HEADER": "",
	})
}

// TestClientAddressBehindCDN checks that limits apply to the address of the client, and not to the address of the CDN.
func TestClientAddressBehindCDN(t *testing.T) {
	setEnv(t)
	t.Setenv("CLIENT_ADDRESS_HEADER", "CF-Connecting-IP")
	t.Setenv("LIMIT_SIGNUP_IP", "1")
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	manager := secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: &cfg.AWS.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	secret := secretsmanager.CreateSecretInput{
		Name: aws.String("codehost"), SecretString: aws.String(`{"proxySecret":"known to the CDN"}`),
	}
	if _, err := manager.CreateSecret(t.Context(), &secret); err != nil {
		t.Fatal(err)
	}
	handler := apigateway.New(functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler))))
	for i, tc := range []struct {
		client, secret string
		status         int
	}{
		{"203.0.113.7", "known to the CDN", http.StatusCreated},
		{"203.0.113.8", "known to the CDN", http.StatusCreated},
		{"203.0.113.7", "known to the CDN", http.StatusTooManyRequests},
		{"203.0.113.9", "guess", http.StatusCreated}, // counts for the address of the connection
		{"203.0.113.10", "guess", http.StatusTooManyRequests},
	} {
		event := events.APIGatewayProxyRequest{
			HTTPMethod: http.MethodPost, Path: "/api/auth/signup",
			Body: fmt.Sprintf(`{"email":"u%d@example.com","username":"user%d","password":%q}`, i, i, goodPassword),
			MultiValueHeaders: map[string][]string{
				"Content-Type": {"application/json"}, "CF-Connecting-IP": {tc.client}, "X-Proxy-Secret": {tc.secret},
			},
		}
		event.RequestContext.RequestID, event.RequestContext.Identity.SourceIP = fmt.Sprint("r-", i), "192.0.2.1"
		payload, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		out, err := handler.Invoke(t.Context(), payload)
		if err != nil {
			t.Fatal(err)
		}
		var response events.APIGatewayProxyResponse
		if err := json.Unmarshal(out, &response); err != nil || response.StatusCode != tc.status {
			t.Errorf("sign-up %d from %s with the secret %q: got %d %s, want %d",
				i, tc.client, tc.secret, response.StatusCode, response.Body, tc.status)
		}
	}
}

func TestClientSecretComesFromItsSecret(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/api/v1/user":
			fmt.Fprint(w, `{"id":1}`)
		case r.URL.Path == "/api/v1/user/emails":
			fmt.Fprint(w, `[]`)
		case r.FormValue("client_secret") == "secret":
			fmt.Fprint(w, `{"access_token":"token","token_type":"bearer"}`)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(host.Close)
	var secret string // set after newProvider returns, because newProvider must not read it
	clientSecret := config.NewCredentials(func(context.Context) (string, error) {
		return `{"oauthClientSecret":"` + secret + `"}`, nil
	}, clock.System).Field("oauthClientSecret")
	provider, err := newProvider(oauth.Config{Provider: "gitea", BaseURL: host.URL, ClientID: "client"}, clientSecret)
	if err != nil {
		t.Fatal(err)
	}
	secret = "secret"
	identity, err := provider.Identify(t.Context(), "code", oauth.NewVerifier(), "http://127.0.0.1/callback")
	if err != nil || identity.Subject != "1" {
		t.Errorf("got the identity %+v and the error %v, want the subject 1", identity, err)
	}
}
