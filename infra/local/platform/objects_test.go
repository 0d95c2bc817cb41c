package platform

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// withBucket is a template with a bucket that pages of one origin can use.
const withBucket = `
  Files:
    Type: AWS::S3::Bucket
    Properties:
      CorsConfiguration:
        CorsRules: [{AllowedOrigins: ['https://app.example'], AllowedMethods: [PUT], AllowedHeaders: ['*']}]
`

// TestObjects uses the bucket of a template on the AWS port with the SDK as it is configured in functions, with a
// presigned URL and with the AWS CLI, and finds the object after a restart.
func TestObjects(t *testing.T) {
	t.Parallel()
	config := projectOf(t, triggered+withBucket, func(http.ResponseWriter, *http.Request) {})
	start := func() (*Platform, *s3.Client) {
		p, err := open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return p, s3.New(s3.Options{
			Region: "us-east-1", BaseEndpoint: aws.String(p.endpoint()), Credentials: local,
		})
	}
	p, client := start()
	in := &s3.PutObjectInput{
		Bucket: aws.String("local-files"), Key: aws.String("2015-03-31/functions"), Body: strings.NewReader("content"),
	}
	if _, err := client.PutObject(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in = &s3.PutObjectInput{Bucket: aws.String("local-files"), Key: aws.String("uploaded")}
	url, err := s3.NewPresignClient(client).PresignPutObject(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]int{
		"https://evil.example": http.StatusForbidden, "https://app.example": http.StatusOK,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url.URL, strings.NewReader(origin))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("from %s: got %d, want %d", origin, response.StatusCode, want)
		}
	}
	if _, err := exec.LookPath("aws"); err == nil || os.Getenv("CI") == "true" {
		command := exec.CommandContext(t.Context(), "aws", "s3", "cp", "s3://local-files/2015-03-31/functions", "-")
		command.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+p.endpoint(), "AWS_DEFAULT_REGION=us-east-1",
			"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_CONFIG_FILE=/dev/null")
		if output, err := command.CombinedOutput(); err != nil || string(output) != "content" {
			t.Errorf("aws s3 cp: %v\n%s", err, output)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p, client = start()
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	for key, want := range map[string]string{"2015-03-31/functions": "content", "uploaded": "https://app.example"} {
		got, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("local-files"), Key: &key})
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(got.Body)
		if err != nil || string(content) != want {
			t.Errorf("%s is %q, %v", key, content, err)
		}
	}
}
