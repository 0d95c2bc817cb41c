package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

// TestMain makes this binary the function of the tests' templates: it sends its event to the test, and returns when the
// test responds. A status of 400 or above is an error of the function.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		os.Exit(m.Run())
	}
	lambda.Start(func(ctx context.Context, event json.RawMessage) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("TEST_URL"), bytes.NewReader(event))
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if response.StatusCode >= http.StatusBadRequest {
			return errors.New(response.Status)
		}
		return response.Body.Close()
	})
}

// local are the credentials of the embedded services.
var local = credentials.NewStaticCredentialsProvider("local", "local", "")

// projectOf returns a configuration with a template, in which %s is replaced by the URL of a server with that handler.
// It receives the events of the functions, which are this binary.
func projectOf(t *testing.T, template string, handler http.HandlerFunc) Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binaries := filepath.Join(dir, "bin")
	if err := errors.Join(os.Mkdir(binaries, 0o700), os.Symlink(self, filepath.Join(binaries, "reader"))); err != nil {
		t.Fatal(err)
	}
	config := Config{
		Template: filepath.Join(dir, "template.yaml"), Binaries: binaries, DataDir: filepath.Join(dir, "data"), Concurrency: 4,
	}
	if err := os.WriteFile(config.Template, fmt.Appendf(nil, template, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

const triggered = `Transform: AWS::Serverless-2016-10-31
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      StreamSpecification: {StreamViewType: KEYS_ONLY}
  Reader:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: reader
      Handler: bootstrap
      Runtime: provided.al2023
      Timeout: 30
      Environment: {Variables: {TEST_URL: '%s'}}
      Events:
        Api: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /, Method: get}}
        Table:
          Type: DynamoDB
          Properties:
            Stream: !GetAtt Table.StreamArn
            StartingPosition: TRIM_HORIZON
            FunctionResponseTypes: [ReportBatchItemFailures]
            BisectBatchOnFunctionError: true
            MaximumRecordAgeInSeconds: 3600
            DestinationConfig: {OnFailure: {Destination: !GetAtt Failed.Arn}}
            FilterCriteria: {Filters: [{Pattern: '{"dynamodb":{"Keys":{"pk":{"S":["first","second","a","b","c"]}}}}'}]}
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
  Failed: {Type: AWS::SQS::Queue}
`

// triggeredPlatform is a platform whose function reads a table's stream. The test receives the keys of each batch from
// batches. The function returns when the test receives from hold.
type triggeredPlatform struct {
	config  Config
	batches chan []string
	hold    chan struct{}
	log     *bytes.Buffer
	*Platform
}

func newTriggered(t *testing.T) *triggeredPlatform {
	t.Helper()
	p := &triggeredPlatform{batches: make(chan []string), hold: make(chan struct{}), log: &bytes.Buffer{}}
	ended := make(chan struct{})
	p.config = projectOf(t, triggered, func(_ http.ResponseWriter, r *http.Request) {
		keys, err := keysOf(r.Body)
		if err != nil {
			t.Error(err)
		}
		select {
		case p.batches <- keys:
		case <-ended:
		}
		select {
		case p.hold <- struct{}{}:
		case <-r.Context().Done(): // the function was ended
		case <-ended:
		}
	})
	t.Cleanup(func() { close(ended) })
	p.config.Logger = slog.New(slog.NewTextHandler(p.log, nil))
	return p
}

func keysOf(event io.Reader) ([]string, error) {
	var batch struct {
		Records []struct {
			EventSourceARN string `json:"eventSourceARN"`
			DynamoDB       struct {
				Keys map[string]struct{ S string }
			} `json:"dynamodb"`
		}
	}
	if err := json.NewDecoder(event).Decode(&batch); err != nil {
		return nil, err
	}
	var keys []string
	for _, record := range batch.Records {
		keys = append(keys, record.DynamoDB.Keys["pk"].S)
	}
	return keys, nil
}

func (p *triggeredPlatform) start(t *testing.T) {
	t.Helper()
	var err error
	if p.Platform, err = Open(t.Context(), p.config); err != nil {
		t.Fatal(err)
	}
}

func (p *triggeredPlatform) put(t *testing.T, key string) {
	t.Helper()
	endpoint := p.endpoint()
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: local,
	})
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("local-Table"),
		Item:      map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantBatch receives the next batch. Its invocation continues until the test receives from hold.
func (p *triggeredPlatform) wantBatch(t *testing.T, keys ...string) {
	t.Helper()
	select {
	case got := <-p.batches:
		if diff := cmp.Diff(keys, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	case <-time.After(patience):
		t.Fatalf("no batch\n%s", p.log)
	}
}

// A table's stream triggers a function. A batch in flight finishes while the platform closes.
func TestTriggers(t *testing.T) {
	t.Parallel()
	p := newTriggered(t)
	p.start(t)
	p.put(t, "unwanted")
	p.put(t, "first")
	p.wantBatch(t, "first")

	stopped := make(chan error)
	go func() { stopped <- p.Close() }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped in the middle of a batch: %v", err)
	case <-p.hold: // the batch ends while the platform stops
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.log.String(), "interrupted") {
		t.Error(p.log)
	}

	p.start(t)
	p.put(t, "second")
	p.wantBatch(t, "second") // and not the first again
	<-p.hold
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// The positions of another endpoint's streams are separate.
func TestTriggersOfAnotherEndpoint(t *testing.T) {
	t.Parallel()
	other, p := newTriggered(t), newTriggered(t)
	var err error
	if other.Platform, err = open(t.Context(), other.config); err != nil { // without its triggers
		t.Fatal(err)
	}
	for i, endpoint := range []string{"", other.endpoint(), ""} { // the records that were read before are not read again
		p.config.EndpointURL = endpoint
		p.start(t)
		key := []string{"a", "b", "c"}[i]
		p.put(t, key)
		p.wantBatch(t, key)
		<-p.hold
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// A batch whose function does not return in time is processed again after the next start.
func TestInterruptedBatch(t *testing.T) {
	t.Parallel()
	p := newTriggered(t)
	p.start(t)
	p.put(t, "first")
	p.wantBatch(t, "first")
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "1 calls in flight were interrupted") {
		t.Errorf("stop: %v", err)
	}
	if !strings.Contains(p.log.String(), "batches in flight were interrupted") {
		t.Error(p.log)
	}
	p.start(t)
	p.wantBatch(t, "first")
	<-p.hold
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
