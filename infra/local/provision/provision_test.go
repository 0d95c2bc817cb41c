package provision_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/google/go-cmp/cmp"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	queueclient "github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/provision"
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
    Properties: {Description: Ring, GenerateSecretString: {SecretStringTemplate: '{"current":"k1"}', GenerateStringKey: k1, PasswordLength: 64}}
  Fixed:
    Type: AWS::SecretsManager::Secret
    Properties: {SecretString: given}
  Later:
    Type: AWS::SecretsManager::Secret
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
	tables, err := dynamodb.Open(dynamodb.Options{Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := secrets.Open(secrets.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	queues, err := sqs.Open(sqs.Options{Now: time.Now, Account: queueAccount})
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
		if err := errors.Join(tables.Close(), queues.Close()); err != nil {
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

func load(t *testing.T, template string) *stack.Stack {
	t.Helper()
	loaded, err := stack.Parse("template.yaml", []byte(template), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func (s *services) apply(t *testing.T, template string) (string, *stack.Stack) {
	t.Helper()
	loaded := load(t, template)
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

func TestCreatesMissingResources(t *testing.T) {
	t.Parallel()
	s := start(t)
	made, loaded := s.apply(t, template)
	equal(t, made, "secrets local-Fixed, local-Keys, local-Later; tables local-Accounts, local-Counted; time to live of local-Accounts")

	accounts := s.describe(t, "local-Accounts")
	equal(t, accounts.BillingModeSummary.BillingMode, types.BillingModePayPerRequest)
	equal(t, *accounts.KeySchema[1].AttributeName, "sk")
	counted := s.describe(t, "local-Counted")
	equal(t, counted.AttributeDefinitions[0].AttributeType, types.ScalarAttributeTypeN)
	ttl, err := s.tables.DescribeTimeToLive(t.Context(), &sdk.DescribeTimeToLiveInput{TableName: aws.String("local-Accounts")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, *ttl.TimeToLiveDescription.AttributeName, "expiresAt")

	// A function finds its secret by the value of !Ref.
	var ring map[string]string
	if err := json.Unmarshal([]byte(s.value(t, loaded.Functions[0].Env["KEYS"])), &ring); err != nil {
		t.Fatal(err)
	}
	equal(t, ring["current"], "k1")
	equal(t, len(ring["k1"]), 64)
	equal(t, s.value(t, "local-Fixed"), "given")
}

func TestChangesNothingIfAllExists(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, template)
	before := s.value(t, "local-Keys")
	s.counted()
	made, _ := s.apply(t, template)
	equal(t, made, "everything is there")
	equal(t, s.counted(), map[string]int{"DescribeTable": 2, "DescribeTimeToLive": 2, "DescribeSecret": 3})
	equal(t, s.value(t, "local-Keys"), before)
}

func TestAddsIndexesAndTimeToLive(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, template)
	made, _ := s.apply(t, index)
	equal(t, made, "indexes local-Accounts/due")
	made, _ = s.apply(t, index)
	equal(t, made, "everything is there")
	equal(t, *s.describe(t, "local-Accounts").GlobalSecondaryIndexes[0].IndexName, "due")
	made, _ = s.apply(t, template) // an index that is no longer in the template stays
	equal(t, made, "everything is there")

	fresh := start(t)
	made, _ = fresh.apply(t, index)
	if !strings.Contains(made, "tables local-Accounts") || strings.Contains(made, "index") {
		t.Error(made)
	}
	equal(t, *fresh.describe(t, "local-Accounts").GlobalSecondaryIndexes[0].IndexName, "due")

	for ttl, want := range map[string]string{"{AttributeName: other, Enabled: true}": "other", "{AttributeName: x, Enabled: false}": ""} {
		fresh.apply(t, strings.Replace(template, "{AttributeName: expiresAt, Enabled: true}", ttl, 1))
		out, err := fresh.tables.DescribeTimeToLive(t.Context(), &sdk.DescribeTimeToLiveInput{TableName: aws.String("local-Accounts")})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, aws.ToString(out.TimeToLiveDescription.AttributeName), want)
	}
}

func TestRefusesAnotherKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, index)
	for name, test := range map[string]struct{ old, replacement, want string }{
		"sort key gone": {
			", {AttributeName: sk, KeyType: RANGE}]\n      TimeToLive", "]\n      TimeToLive",
			"provision: table local-Accounts: exists with the key HASH pk (S), RANGE sk (S), the template has HASH pk (S): a key can't be changed; remove the old one, or give the new one another name",
		},
		"type": {
			"{AttributeName: pk, AttributeType: S}", "{AttributeName: pk, AttributeType: B}",
			"provision: table local-Accounts: exists with the key HASH pk (S), RANGE sk (S), the template has HASH pk (B), RANGE sk (S): a key can't be changed; remove the old one, or give the new one another name",
		},
		"index key": {
			"[{AttributeName: sk, KeyType: HASH}, {AttributeName: due", "[{AttributeName: pk, KeyType: HASH}, {AttributeName: due",
			"provision: table local-Accounts: index due: exists with the key HASH sk (S), RANGE due (N), the template has HASH pk (S), RANGE due (N): a key can't be changed; remove the old one, or give the new one another name",
		},
		"projection": {
			"KEYS_ONLY", "ALL",
			"provision: table local-Accounts: index due: exists with the projection KEYS_ONLY [], the template has ALL []: a projection can't be changed; give the new index another name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(index, test.old, test.replacement, 1)
			if changed == index {
				t.Fatal("nothing replaced")
			}
			_, err := provision.Apply(t.Context(), load(t, changed), provision.Options{Endpoint: s.url})
			if err == nil || err.Error() != test.want {
				t.Errorf("%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestContinuesAfterAnInterruption(t *testing.T) {
	t.Parallel()
	s := start(t)
	// The table is created, then setting its time to live fails.
	refuse := func(operation string, _ int, status *int, body []byte) []byte {
		if operation != "DescribeTimeToLive" {
			return body
		}
		*status = http.StatusBadRequest
		return []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException","message":"no"}`)
	}
	s.during(refuse, func() {
		if _, err := provision.Apply(t.Context(), load(t, template), provision.Options{Endpoint: s.url}); err == nil || !strings.Contains(err.Error(), "time to live") {
			t.Errorf("%v", err)
		}
	})
	s.apply(t, template)
	made, _ := s.apply(t, template)
	equal(t, made, "everything is there")
	ttl, err := s.tables.DescribeTimeToLive(t.Context(), &sdk.DescribeTimeToLiveInput{TableName: aws.String("local-Accounts")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, ttl.TimeToLiveDescription.TimeToLiveStatus, types.TimeToLiveStatusEnabled)
}

func TestWaitsUntilActive(t *testing.T) {
	t.Parallel()
	s := start(t)
	var asked []string
	slow := func(operation string, nth int, _ *int, body []byte) []byte {
		asked = append(asked, operation)
		if operation == "CreateTable" || operation == "DescribeTable" && nth <= 5 {
			return bytes.ReplaceAll(body, []byte(`"TableStatus":"ACTIVE"`), []byte(`"TableStatus":"CREATING"`))
		}
		return body
	}
	s.during(slow, func() { s.apply(t, template) })
	described := 0
	for _, operation := range asked[:slices.Index(asked, "DescribeTimeToLive")] {
		if operation == "DescribeTable" {
			described++
		}
	}
	if described < 6 { // in the first five responses, the table is missing or CREATING
		t.Errorf("continued too early: %v", asked)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := start(t)
	never := func(_ string, _ int, _ *int, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(`"TableStatus":"ACTIVE"`), []byte(`"TableStatus":"CREATING"`))
	}
	s.during(never, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := provision.Apply(ctx, load(t, template), provision.Options{Endpoint: s.url})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
	s.apply(t, template)
}

func TestUsesTheARNsOfAnotherEndpoint(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, template)
	predicted := load(t, template).Functions[0].Env["KEYS"]
	foreign := predicted[:len(predicted)-6] + "AbCdEf"
	rename := func(_ string, _ int, _ *int, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(predicted), []byte(foreign))
	}
	s.during(rename, func() {
		_, loaded := s.apply(t, template)
		equal(t, loaded.Functions[0].Env["KEYS"], foreign)
		equal(t, loaded.Secrets[0].ARN, foreign)
	})
}

func TestSecretMarkedForDeletion(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, template)
	marked := func(_ string, _ int, _ *int, body []byte) []byte {
		if !bytes.Contains(body, []byte(`"local-Keys"`)) {
			return body
		}
		return bytes.Replace(body, []byte(`"CreatedDate"`), []byte(`"DeletedDate":1,"CreatedDate"`), 1)
	}
	s.during(marked, func() {
		_, err := provision.Apply(t.Context(), load(t, template), provision.Options{Endpoint: s.url})
		want := "provision: secret local-Keys: is scheduled for deletion: restore it, or delete it without recovery"
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}
