// Package functiontest contains helpers for the tests of functions: the AWS services that the environment variables of a
// function refer to, a client that sends events as API Gateway does, and a check of required variables. It must not
// contain tests of a single function.
package functiontest

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/secrets"
	"devplatform/shared/account"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// KeyRing is the value of the secret whose name is in KEYS_SECRET.
const KeyRing = `{"current":"k1","k1":"a key for the tests, and for nothing else 0123456789"}`

// keysSecret is the name of the secret that contains KeyRing.
const keysSecret = "keys"

// SkipWithEndpoint skips a test that sets AWS_ENDPOINT_URL, if the variable is already set.
func SkipWithEndpoint(t *testing.T) {
	t.Helper()
	if os.Getenv(dynamotest.EndpointVariable) != "" {
		t.Skip("AWS_ENDPOINT_URL is set, but this test needs its own value")
	}
}

// SetEnv sets the environment variables that every function has, with the endpoint for AWS and the name of the secret
// that contains the key ring. It also sets the variables in own, which are those of a single function.
func SetEnv(t *testing.T, endpoint string, own map[string]string) {
	t.Helper()
	shared := map[string]string{
		"AWS_REGION":                       "us-east-1",
		"AWS_ACCESS_KEY_ID":                "key",
		"AWS_SECRET_ACCESS_KEY":            "secret",
		"AWS_SESSION_TOKEN":                "",
		"AWS_ENDPOINT_URL":                 endpoint,
		"AWS_ENDPOINT_URL_DYNAMODB":        "",
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": "",
		"AWS_ENDPOINT_URL_SQS":             "",
		"KEYS_SECRET":                      keysSecret,
	}
	for _, variables := range []map[string]string{shared, own} {
		for name, value := range variables {
			t.Setenv(name, value)
		}
	}
}

// Endpoint starts an endpoint for several AWS services and returns its URL. It forwards requests for DynamoDB to
// dynamoDB and requests for SQS to sqs; an empty sqs means that the function has no queue. It serves requests for
// Secrets Manager itself, with a secret that contains KeyRing.
func Endpoint(t *testing.T, dynamoDB, sqs string) string {
	t.Helper()
	manager, err := secrets.Open(secrets.Options{Now: clock.System})
	if err != nil {
		t.Fatal(err)
	}
	services := map[string]http.Handler{"secretsmanager": manager, "DynamoDB_20120810": newProxy(t, dynamoDB)}
	if sqs != "" {
		services["AmazonSQS"] = newProxy(t, sqs)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		service := services[name]
		if service == nil {
			t.Errorf("the function called %q, a service that the test does not provide", r.Header.Get("X-Amz-Target"))
			http.Error(w, "no such service", http.StatusBadGateway)
			return
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	client := secretsmanager.New(secretsmanager.Options{
		Region:       "us-east-1",
		BaseEndpoint: &server.URL,
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	in := secretsmanager.CreateSecretInput{Name: aws.String(keysSecret), SecretString: aws.String(KeyRing)}
	if _, err := client.CreateSecret(t.Context(), &in); err != nil {
		t.Fatal(err)
	}
	return server.URL
}

// newProxy returns a handler that forwards requests to an endpoint.
func newProxy(t *testing.T, endpoint string) http.Handler {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(target)
}

// CheckRequiredVariables checks that settings of type T cannot be loaded if one of the variables is empty, and that the
// error names the variable. The environment must be complete.
func CheckRequiredVariables[T any](t *testing.T, names ...string) {
	t.Helper()
	if _, err := config.Load[T](); err != nil {
		t.Errorf("with all variables: %v", err)
	}
	for _, name := range names {
		value := os.Getenv(name)
		t.Setenv(name, "")
		if _, err := config.Load[T](); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got the error %v, want one that names the variable", name, err)
		}
		t.Setenv(name, value)
	}
}

// Must returns handler. It panics if err is not nil.
func Must[Handler any](handler Handler, err error) Handler {
	if err != nil {
		panic(err)
	}
	return handler
}

// Accounts returns the handler of /api/auth with the tables, keys and edge settings of the environment.
func Accounts(t *testing.T) http.Handler {
	t.Helper()
	cfg, err := config.Load[struct {
		AWS    config.AWS
		Tables config.Tables
		Edge   config.Edge
	}]()
	if err != nil {
		t.Fatal(err)
	}
	keys := config.NewKeys(config.NewSecrets(cfg.AWS).Fetch(keysSecret), clock.System)
	return account.New(account.Deps{
		DB:     db.New(cfg.AWS, clock.System),
		Tables: cfg.Tables,
		Keys:   keys,
		IDs:    id.NewGenerator(clock.System, rand.Reader),
		Clock:  clock.System,
		Logger: slog.New(slog.DiscardHandler),
		Limits: account.Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 100, OAuthIP: 60},
	}).Router(cfg.Edge)
}
