package provision_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	bucketclient "github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/provision"
	"devplatform/infra/local/s3"
	"devplatform/infra/local/stack"
)

const buckets = `Resources:
  Files:
    Type: AWS::S3::Bucket
    Properties:
      CorsConfiguration: {CorsRules: [{AllowedOrigins: [https://a.example], AllowedMethods: [PUT, GET], AllowedHeaders: ['*'], MaxAge: 60}]}
`

// TestBuckets checks that buckets are created once, that they get the rules of the template, and that objects stay.
func TestBuckets(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		store, err := s3.Open(s3.Options{Now: time.Now, Region: region})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(store)
		t.Cleanup(func() {
			server.Close()
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		apply := func(template string) string {
			t.Helper()
			loaded, err := stack.Parse("template.yaml", []byte(template), stack.Options{Region: region})
			if err != nil {
				t.Fatal(err)
			}
			summary, err := provision.Apply(t.Context(), loaded, provision.Options{Endpoint: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			return summary
		}
		equal(t, apply(buckets), "buckets local-files")
		equal(t, apply(buckets), "everything is there")
		client := bucketclient.New(bucketclient.Options{
			Region: region, BaseEndpoint: &server.URL, UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		})
		bucket := aws.String("local-files")
		if _, err := client.PutObject(t.Context(), &bucketclient.PutObjectInput{Bucket: bucket, Key: aws.String("k"), Body: strings.NewReader("x")}); err != nil {
			t.Fatal(err)
		}
		equal(t, apply(strings.ReplaceAll(buckets, "a.example", "b.example")), "everything is there")
		cors, err := client.GetBucketCors(t.Context(), &bucketclient.GetBucketCorsInput{Bucket: bucket})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, cors.CORSRules[0].AllowedOrigins, []string{"https://b.example"})
		equal(t, apply("Resources:\n  Files: {Type: AWS::S3::Bucket}\n"), "everything is there")
		if _, err := client.GetBucketCors(t.Context(), &bucketclient.GetBucketCorsInput{Bucket: bucket}); err == nil {
			t.Error("the rules are still there")
		}
		if _, err := client.HeadObject(t.Context(), &bucketclient.HeadObjectInput{Bucket: bucket, Key: aws.String("k")}); err != nil {
			t.Error(err)
		}
	}
}
