// Package functiontest contains the parts that tests of functions share: the AWS services that a function calls, the
// indexes of their tables, and its environment variables. The settings of all functions are tested in infra/e2e.
package functiontest

import (
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
	"devplatform/shared/clock"
)

// keyRing is the text of the secret that KEYS_SECRET names.
const keyRing = `{"current":"k1","k1":"a key for the tests, and for nothing else 0123456789"}`

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

// Endpoint starts a server and returns its URL. The server forwards DynamoDB requests to the URL tables. It serves
// Secrets Manager itself, with the key ring as the only secret. A call to any other service fails the test.
func Endpoint(t *testing.T, tables string) string {
	t.Helper()
	manager, err := secrets.Open(secrets.Options{Now: clock.System})
	if err != nil {
		t.Fatal(err)
	}
	services := map[string]http.Handler{"secretsmanager": manager, "DynamoDB_20120810": proxy(t, tables)}
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
	in := secretsmanager.CreateSecretInput{Name: aws.String(keysSecret), SecretString: aws.String(keyRing)}
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

// Must returns the handler that a function's builder returned. It panics if the builder failed.
func Must[Handler any](handler Handler, err error) Handler {
	if err != nil {
		panic(err)
	}
	return handler
}
