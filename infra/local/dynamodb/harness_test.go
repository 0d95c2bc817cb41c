package dynamodb

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/awsjson"
)

// testClock is a clock that tests set.
type testClock struct {
	mutex sync.Mutex
	now   time.Time
}

func newTestClock() *testClock {
	return &testClock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
}

func (c *testClock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

func (c *testClock) advance(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(d)
}

// openTest opens a database without the background sweeper.
func openTest(t testing.TB, change func(*Options)) *DB {
	t.Helper()
	return openSweeping(t, 0, change)
}

// openSweeping opens a database with a background sweeper, unless its interval is 0.
func openSweeping(t testing.TB, sweep time.Duration, change func(*Options)) *DB {
	t.Helper()
	options := Options{Now: newTestClock().Now}
	if change != nil {
		change(&options)
	}
	db, err := open(options, sweep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := db.Close()
		if options.Folder != nil {
			err = errors.Join(err, options.Folder.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return db
}

// clientOf returns an SDK client of a database.
func clientOf(t testing.TB, db *DB) *sdk.Client {
	t.Helper()
	server := httptest.NewServer(db)
	t.Cleanup(server.Close)
	return sdk.New(sdk.Options{
		BaseEndpoint: aws.String(server.URL),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

// answer is a decoded response.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// errorType returns the type of an error response, or "" for success.
func (a answer) errorType() string {
	kind, _ := a.body["__type"].(string)
	return kind[strings.Index(kind, "#")+1:]
}

// errorOf returns "Type: message" of an error response, or "" for success.
func (a answer) errorOf() string {
	if a.errorType() == "" {
		return ""
	}
	return fmt.Sprintf("%s: %v", a.errorType(), a.body["message"])
}

const testAuthorization = "AWS4-HMAC-SHA256 Credential=test/20261120/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00"

// call sends one request without the network.
func call(t testing.TB, db *DB, operation, body string) answer {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", awsjson.Version10)
	request.Header.Set("X-Amz-Target", targetPrefix+operation)
	request.Header.Set("X-Amz-Date", "20261120T120000Z")
	request.Header.Set("Authorization", testAuthorization)
	return send(t, db, request)
}

func send(t testing.TB, db *DB, request *http.Request) answer {
	t.Helper()
	recorder := httptest.NewRecorder()
	db.ServeHTTP(recorder, request)
	result := answer{status: recorder.Code, header: recorder.Header(), raw: recorder.Body.String()}
	if strings.HasPrefix(result.raw, "{") {
		if err := json.Unmarshal(recorder.Body.Bytes(), &result.body); err != nil {
			t.Fatalf("%s: %v", result.raw, err)
		}
	}
	return result
}

// must is like call, and fails the test if the request fails.
func must(t testing.TB, db *DB, operation, body string) answer {
	t.Helper()
	result := call(t, db, operation, body)
	if result.status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", operation, body, result.status, result.raw)
	}
	return result
}

const (
	hashTable = `{"TableName":"hash","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`
	rangeTable = `{"TableName":"range","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`
	numberTable = `{"TableName":"number","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"B"},{"AttributeName":"sk","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`
	indexedTable = `{"TableName":"indexed","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
			{"AttributeName":"g","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[
			{"IndexName":"all","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
			{"IndexName":"keys","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}},
			{"IndexName":"some","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a"]}}]}`
)

// withTables opens a database with all the tables above.
func withTables(t testing.TB) *DB {
	t.Helper()
	db := openTest(t, nil)
	for _, table := range []string{hashTable, rangeTable, numberTable, indexedTable} {
		must(t, db, "CreateTable", table)
	}
	return db
}

func str(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func num(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

type sdkItem = map[string]types.AttributeValue

// attributes lists the values of an attribute in a page's Items.
func attributes(a answer, name, kind string) string {
	var found []string
	items, _ := a.body["Items"].([]any)
	for _, item := range items {
		value, _ := item.(map[string]any)[name].(map[string]any)
		found = append(found, fmt.Sprint(value[kind]))
	}
	return strings.Join(found, " ")
}
