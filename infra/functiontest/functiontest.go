// Package functiontest contains the parts that the tests of all functions share: the AWS services that a function
// calls, its environment variables, and a client that invokes it as API Gateway does. The behaviour of a function is
// tested in its own package.
package functiontest

import (
	"crypto/rand"
	"log/slog"
	"maps"
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
	"devplatform/shared/account/attempt"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// KeyRing is the text of the secret that KEYS_SECRET names.
const KeyRing = `{"current":"k1","k1":"a key for the tests, and for nothing else 0123456789"}`

// keysSecret is the name of the secret with the key ring.
const keysSecret = "keys"

// SkipIfEndpointIsSet skips a test that sets AWS_ENDPOINT_URL itself, if the variable is already set.
func SkipIfEndpointIsSet(t *testing.T) {
	t.Helper()
	if os.Getenv(dynamotest.EndpointVariable) != "" {
		t.Skip("this test sets AWS_ENDPOINT_URL itself, so it does not run against another endpoint")
	}
}

// SetEnv sets the environment variables of a function: those that every function has, and the function's own variables,
// which the map own contains. If both contain a name, the value in own is used. endpoint is the endpoint of the AWS
// services.
func SetEnv(t *testing.T, endpoint string, own map[string]string) {
	t.Helper()
	variables := map[string]string{
		"AWS_REGION":                       "us-east-1",
		"AWS_ACCESS_KEY_ID":                "key",
		"AWS_SECRET_ACCESS_KEY":            "secret",
		"AWS_SESSION_TOKEN":                "",
		"AWS_ENDPOINT_URL":                 endpoint,
		"AWS_ENDPOINT_URL_DYNAMODB":        "",
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": "",
		"AWS_ENDPOINT_URL_SQS":             "",
		"AWS_ENDPOINT_URL_S3":              "",
		"KEYS_SECRET":                      keysSecret,
	}
	maps.Copy(variables, own)
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

// Endpoint starts a server and returns its URL. The arguments are URLs: the server forwards DynamoDB requests to tables
// and, if queues is not empty, SQS requests to queues. It serves Secrets Manager itself, with the key ring as the only
// secret. A call to any other service fails the test.
func Endpoint(t *testing.T, tables, queues string) string {
	t.Helper()
	manager, err := secrets.Open(secrets.Options{Now: clock.System})
	if err != nil {
		t.Fatal(err)
	}
	services := map[string]http.Handler{"secretsmanager": manager, "DynamoDB_20120810": proxy(t, tables)}
	if queues != "" {
		services["AmazonSQS"] = proxy(t, queues)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		service := services[name]
		if service == nil {
			t.Errorf("the function called %q, which this test does not expect", r.Header.Get("X-Amz-Target"))
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

// proxy returns a handler that forwards requests to an endpoint.
func proxy(t *testing.T, endpoint string) http.Handler {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(target)
}

// CheckRequiredVariables checks that config.Load[T] succeeds with the current environment. It also checks that
// config.Load[T] fails if any one of the named variables is empty, with an error that names this variable.
func CheckRequiredVariables[T any](t *testing.T, names ...string) {
	t.Helper()
	if _, err := config.Load[T](); err != nil {
		t.Errorf("with all variables: got error %v, want none", err)
	}
	for _, name := range names {
		value := os.Getenv(name)
		t.Setenv(name, "")
		if _, err := config.Load[T](); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got error %v, want one that names the variable", name, err)
		}
		t.Setenv(name, value)
	}
}

// CheckSetting sets an environment variable, and checks that the function rejects it with an error that contains want.
// If want is "", the function must accept it. build is the function that builds the handler.
func CheckSetting[Settings, Handler any](
	t *testing.T, build func(Settings, clock.Clock, *slog.Logger) (Handler, error), name, value, want string,
) {
	t.Helper()
	t.Run(name+"="+value, func(t *testing.T) {
		t.Setenv(name, value)
		cfg, err := config.Load[Settings]()
		if err == nil {
			_, err = build(cfg, clock.System, slog.New(slog.DiscardHandler))
		}
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("got error %v, want one that contains %q", err, want)
		}
	})
}

// Must returns the handler that a function's builder returned. It panics if the builder failed.
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
	keys := config.NewSecrets(cfg.AWS, config.Metrics{}, clock.System, slog.New(slog.DiscardHandler)).Keys(keysSecret)
	return account.New(account.Deps{
		DB:     db.New(cfg.AWS, clock.System),
		Tables: cfg.Tables,
		Keys:   keys,
		IDs:    id.NewGenerator(clock.System, rand.Reader),
		Clock:  clock.System,
		Logger: slog.New(slog.DiscardHandler),
		Limits: attempt.Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 100, OAuthIP: 60},
		Edge:   cfg.Edge,
	}).Router()
}
