package main

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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/stack"
)

// TestMain makes this binary the function that the tests below trigger: it tells the test of its event, and is done when
// the test answers. A status of 400 or above is its failure.
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

// projectOf answers the settings for a template, in whose place of %s goes the URL of a server that answers the function's
// events, which this binary is.
func projectOf(t *testing.T, template string, answer http.HandlerFunc) Settings {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "reader")); err != nil {
		t.Fatal(err)
	}
	settings := Settings{
		DataDir: filepath.Join(dir, "data"), Region: "us-east-1", AccessKeyID: "local", SecretKey: "local", Concurrency: 4,
		OAuthProvider: "none", Template: filepath.Join(dir, "template.yaml"), Binaries: dir,
	}
	if err := os.WriteFile(settings.Template, fmt.Appendf(nil, template, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return settings
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
        Api: {Type: Api, Properties: {Path: /, Method: get}}
        Table:
          Type: DynamoDB
          Properties:
            Stream: !GetAtt Table.StreamArn
            StartingPosition: TRIM_HORIZON
            FilterCriteria: {Filters: [{Pattern: '{"dynamodb":{"Keys":{"pk":{"S":[{"anything-but":{"prefix":"unwanted"}}]}}}}'}]}
  Idle:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: reader
      Handler: bootstrap
      Runtime: provided.al2023
      Events:
        Table: {Type: DynamoDB, Properties: {Stream: !GetAtt Table.StreamArn, StartingPosition: TRIM_HORIZON, Enabled: false}}
`

// triggeredPlatform is a platform whose function reads a table's stream. Batches come to the test as the keys in them;
// the function's invocation ends when the test takes from hold.
type triggeredPlatform struct {
	settings Settings
	batches  chan []string
	hold     chan struct{}
	log      *bytes.Buffer
	*platform
}

func newTriggered(t *testing.T) *triggeredPlatform {
	t.Helper()
	p := &triggeredPlatform{batches: make(chan []string), hold: make(chan struct{}), log: &bytes.Buffer{}}
	ended := make(chan struct{})
	p.settings = projectOf(t, triggered, func(_ http.ResponseWriter, r *http.Request) {
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
	if p.platform, err = open(t.Context(), p.settings, slog.New(slog.NewTextHandler(p.log, nil))); err != nil {
		t.Fatal(err)
	}
	p.startTriggers()
}

func (p *triggeredPlatform) put(t *testing.T, key string) {
	t.Helper()
	endpoint := p.endpoint()
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("local-Table"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantBatch takes the next batch, whose invocation goes on until hold is taken from.
func (p *triggeredPlatform) wantBatch(t *testing.T, keys ...string) {
	t.Helper()
	select {
	case got := <-p.batches:
		if diff := cmp.Diff(keys, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	case <-time.After(time.Minute):
		t.Fatalf("no batch\n%s", p.log)
	}
}

// TestTriggers has a function triggered by its table, over a stop in the middle of a batch.
func TestTriggers(t *testing.T) {
	t.Parallel()
	p := newTriggered(t)
	p.start(t)
	p.put(t, "unwanted")
	p.put(t, "first")
	p.wantBatch(t, "first")

	stopped := make(chan error)
	go func() { stopped <- p.stop() }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped in the middle of a batch: %v", err)
	case <-p.hold: // the batch ends while the platform stops
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.log.String(), "cut") {
		t.Error(p.log)
	}

	p.start(t)
	p.put(t, "second")
	p.wantBatch(t, "second") // and not the first again
	<-p.hold
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if want := "event source mappings: 1 enabled, 1 disabled"; !strings.Contains(p.log.String(), want) {
		t.Errorf("%s\nwant %s", p.log, want)
	}
}

// TestTriggersOfAnotherEndpoint reads the streams of an endpoint in between, here another platform's.
func TestTriggersOfAnotherEndpoint(t *testing.T) {
	t.Parallel()
	other, p := newTriggered(t), newTriggered(t)
	var err error
	if other.platform, err = open(t.Context(), other.settings, slog.New(slog.DiscardHandler)); err != nil { // without its triggers
		t.Fatal(err)
	}
	for i, endpoint := range []string{"", other.endpoint(), ""} { // what was read before is not read again
		p.settings.EndpointURL = endpoint
		p.start(t)
		key := fmt.Sprint("item ", i)
		p.put(t, key)
		p.wantBatch(t, key)
		<-p.hold
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
	if err := other.stop(); err != nil {
		t.Error(err)
	}
}

// TestBatchIsCut stops a platform whose function doesn't end: its batch comes again.
func TestBatchIsCut(t *testing.T) {
	t.Parallel()
	p := newTriggered(t)
	p.start(t)
	p.put(t, "first")
	p.wantBatch(t, "first")
	if err := p.stop(); err == nil || !strings.Contains(err.Error(), "1 requests in flight were cut") {
		t.Errorf("stop: %v", err)
	}
	if !strings.Contains(p.log.String(), "batches in flight were cut") {
		t.Error(p.log)
	}
	p.start(t)
	p.wantBatch(t, "first")
	<-p.hold
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// TestBrokenPositions finds a damaged position before anything runs.
func TestBrokenPositions(t *testing.T) {
	t.Parallel()
	p := newTriggered(t)
	p.start(t)
	p.put(t, "first")
	p.wantBatch(t, "first")
	<-p.hold
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(p.settings.DataDir, "triggers", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("positions: %v, %v", files, err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = open(t.Context(), p.settings, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("%v, want %s named", err, files[0])
	}
}

func TestBannerShowsStreams(t *testing.T) {
	t.Parallel()
	p := newTriggered(t)
	p.start(t)
	var out bytes.Buffer
	if err := p.banner(&out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"GET     /            Reader\n", "stream  local-Table  Reader\n", "stream  local-Table  Idle (disabled)\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%s\nwant %s", &out, line)
		}
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

func TestQueuesGiveNoMoreThanThereAreInstances(t *testing.T) {
	t.Parallel()
	s := &stack.Stack{
		Functions: []stack.Function{{Name: "free"}, {Name: "reserved", ReservedConcurrency: 3}, {Name: "narrow", ReservedConcurrency: 1}},
		EventSourceMappings: []stack.EventSourceMapping{
			{Function: "free", Queue: "q"}, {Function: "free", Queue: "q", MaximumConcurrency: 50}, {Function: "free", Queue: "q", MaximumConcurrency: 4},
			{Function: "reserved", Queue: "q", MaximumConcurrency: 50}, {Function: "narrow", Queue: "q"}, {Function: "free", Table: "t"},
		},
	}
	var got []int
	for _, m := range withinInstances(s, 10) {
		got = append(got, m.MaximumConcurrency)
	}
	if want := []int{10, 10, 4, 3, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if first := s.EventSourceMappings[0].MaximumConcurrency; first != 0 {
		t.Errorf("the stack itself has %d now", first)
	}
}
