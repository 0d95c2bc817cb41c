// Package s3test starts an embedded S3 in memory for a test. Clients use the real SDK and wire protocol. The keys and
// objects of one application do not belong here.
package s3test

import (
	"cmp"
	"crypto/rand"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/awshttp"
	engine "devplatform/infra/local/s3"
)

// EndpointVariable is the environment variable with the URL of another S3 to use instead of the embedded one, such as
// moto or AWS.
const EndpointVariable = "AWS_ENDPOINT_URL_S3"

// StartServer starts an empty S3, until the test ends, and returns the URL of its endpoint. If AWS_ENDPOINT_URL_S3 is
// set, it returns that URL.
func StartServer(t testing.TB) (endpoint string) {
	t.Helper()
	if endpoint := os.Getenv(EndpointVariable); endpoint != "" {
		return endpoint
	}
	store, err := engine.Open(engine.Options{Now: time.Now}) //nolint:forbidigo // signatures have the time of the SDK
	if err != nil {
		t.Fatalf("starting S3: %v", err)
	}
	server := httptest.NewServer(store)
	t.Cleanup(func() {
		server.Close()
		if err := store.Close(); err != nil {
			t.Errorf("stopping S3: %v", err)
		}
	})
	return server.URL
}

// httpClient is the HTTP client of all clients. The SDK's own loses responses to large bodies on loopback.
var httpClient = awshttp.New()

// Client returns a client of an endpoint. It has the credentials of the embedded S3, or the credentials of the
// environment if AWS_ENDPOINT_URL_S3 is set.
func Client(endpoint string, options ...func(*s3.Options)) *s3.Client {
	region, keys := "us-east-1", credentials.NewStaticCredentialsProvider(engine.AccessKeyID, engine.SecretKey, "")
	if os.Getenv(EndpointVariable) != "" {
		region = cmp.Or(os.Getenv("AWS_REGION"), region)
		keys = credentials.NewStaticCredentialsProvider(
			os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	}
	return s3.New(s3.Options{
		BaseEndpoint: &endpoint, UsePathStyle: true, Region: region, Credentials: keys, HTTPClient: httpClient,
	}, options...)
}

// Of returns a function that returns client. It is for objectstore.Wrap.
func Of(client *s3.Client) func() *s3.Client { return func() *s3.Client { return client } }

// CreateBucket creates a bucket and returns its name, which begins with name.
func CreateBucket(t testing.TB, client *s3.Client, name string) string {
	t.Helper()
	name += "-" + strings.ToLower(rand.Text())
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	return name
}
