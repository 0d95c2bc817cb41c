package provision_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	queueclient "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/datafolder/disktest"
	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/stack"
)

const template = `Transform: AWS::Serverless-2016-10-31
Resources:
  Accounts:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}, {AttributeName: sk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}, {AttributeName: sk, KeyType: RANGE}]
      TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}
  Counted:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions: [{AttributeName: id, AttributeType: N}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
  Keys:
    Type: AWS::SecretsManager::Secret
    Properties: {Description: Ring, GenerateSecretString: {SecretStringTemplate: '{"current":"k1"}', GenerateStringKey: k1, PasswordLength: 64, ExcludePunctuation: true}}
  Function:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: f, Handler: h, Runtime: provided.al2023, Environment: {Variables: {KEYS: !Ref Keys}}}
`

// index is the template with an index of the Accounts table.
var index = strings.Replace(template, `{AttributeName: sk, AttributeType: S}]`, `{AttributeName: sk, AttributeType: S}, {AttributeName: due, AttributeType: N}]
      GlobalSecondaryIndexes:
        - IndexName: due
          KeySchema: [{AttributeName: sk, KeyType: HASH}, {AttributeName: due, KeyType: RANGE}]
          Projection: {ProjectionType: KEYS_ONLY}`, 1)

// services are DynamoDB, SQS and Secrets Manager on one port. It counts the calls, and can change the responses.
type services struct {
	url     string
	tables  *sdk.Client
	secrets *secretsmanager.Client
	queues  *queueclient.Client

	mu    sync.Mutex
	calls map[string]int
	// change changes a response if it is not nil. It is called with mu held.
	change func(operation string, nth int, status *int, body []byte) []byte
}

func start(t *testing.T) *services {
	t.Helper()
	s, stop := startIn(t, "")
	t.Cleanup(stop)
	return s
}

// startIn stores the tables in dir, or in memory if it is "". The caller must call stop.
func startIn(t *testing.T, dir string) (_ *services, stop func()) {
	t.Helper()
	var folder *datafolder.Folder
	if dir != "" {
		folder = disktest.Open(t, filepath.Join(dir, "data"), nil)
	}
	tables, err := dynamodb.Open(dynamodb.Options{Folder: folder, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := secrets.Open(secrets.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	queues, err := sqs.Open(sqs.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	s := &services{calls: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		recorder := httptest.NewRecorder()
		handlers := map[string]http.Handler{"secretsmanager": kept, "AmazonSQS": queues, "DynamoDB_20120810": tables}
		handlers[service].ServeHTTP(recorder, r)
		s.respond(w, recorder, operation)
	}))
	s.url = server.URL
	keys := credentials.NewStaticCredentialsProvider("local", "local", "")
	s.tables = sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &s.url, Credentials: keys})
	s.secrets = secretsmanager.New(secretsmanager.Options{Region: "us-east-1", BaseEndpoint: &s.url, Credentials: keys})
	s.queues = queueclient.New(queueclient.Options{Region: "us-east-1", BaseEndpoint: &s.url, Credentials: keys})
	return s, func() {
		server.Close()
		err := errors.Join(tables.Close(), queues.Close())
		if folder != nil {
			err = errors.Join(err, folder.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func (s *services) respond(w http.ResponseWriter, recorder *httptest.ResponseRecorder, operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[operation]++
	body, status := recorder.Body.Bytes(), recorder.Code
	if s.change != nil {
		body = s.change(operation, s.calls[operation], &status, body)
		recorder.Header().Del("X-Amz-Crc32")
	}
	maps.Copy(w.Header(), recorder.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	_, _ = io.Copy(w, bytes.NewReader(body))
}

// during changes the responses while f runs.
func (s *services) during(change func(operation string, nth int, status *int, body []byte) []byte, f func()) {
	set := func(m func(string, int, *int, []byte) []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.change, s.calls = m, map[string]int{}
	}
	set(change)
	defer set(nil)
	f()
}

func (s *services) counted() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counted := s.calls
	s.calls = map[string]int{}
	return counted
}

func load(t *testing.T, s *services, template string) *resources.Stack {
	t.Helper()
	loaded, err := stack.Parse("template.yaml", []byte(template), stack.Options{QueueEndpoint: s.url})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func (s *services) apply(t *testing.T, template string) (string, *resources.Stack) {
	t.Helper()
	loaded := load(t, s, template)
	summary, err := provision.Apply(t.Context(), loaded, provision.Options{Endpoint: s.url})
	if err != nil {
		t.Fatal(err)
	}
	return summary, loaded
}

func (s *services) value(t *testing.T, id string) string {
	t.Helper()
	out, err := s.secrets.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		t.Fatal(err)
	}
	return *out.SecretString
}

func (s *services) describe(t *testing.T, name string) *types.TableDescription {
	t.Helper()
	out, err := s.tables.DescribeTable(t.Context(), &sdk.DescribeTableInput{TableName: &name})
	if err != nil {
		t.Fatal(err)
	}
	return out.Table
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
