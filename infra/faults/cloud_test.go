package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/platform"
	"devplatform/infra/local/s3"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/platformtest"
)

// cloud is the AWS services of one platform behind one address: DynamoDB, its streams, SQS, Secrets Manager and S3. A
// test can inject a fault into their calls.
type cloud struct {
	t       testing.TB
	address string
	tables  *sdk.Client // its calls have no faults
	service http.Handler

	mu     sync.Mutex
	server *http.Server // nil while connections are refused
	fault  fault
	hits   int // the number of calls with the fault
}

// The services, as the header X-Amz-Target names them.
const (
	tables  = "DynamoDB_20120810"
	streams = "DynamoDBStreams_20120810"
	queues  = "AmazonSQS"
	vault   = "secretsmanager"
)

// call describes a request to AWS.
type call struct {
	service, operation string
	tables             []string // the tables that the request names
	actions            int      // the number of actions of a transaction
	fansOut            bool     // the request sends messages of the fan-out
}

// writes reports whether a call writes to a table.
func (c call) writes() bool {
	switch c.operation {
	case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
		return c.service == tables
	}
	return false
}

// fault is a fault of the calls for which affects returns true. The zero value injects no fault.
type fault struct {
	name    string
	affects func(call) bool // nil: every call of DynamoDB
	// handle handles a call. The service gets the call only if handle calls next. nil: connections are refused.
	handle faultHandler
	// executes reports whether an affected call may be executed.
	executes bool
}

func newCloud(t testing.TB) *cloud {
	t.Helper()
	db, err := dynamodb.Open(dynamodb.Options{Now: time.Now, Account: platform.Account})
	must(t, err)
	queue, err := sqs.Open(sqs.Options{Now: time.Now, Account: platform.Account})
	must(t, err)
	secret, err := secrets.Open(secrets.Options{Now: time.Now, Account: platform.Account})
	must(t, err)
	objects, err := s3.Open(s3.Options{Now: time.Now, Account: platform.Account})
	must(t, err)
	direct := httptest.NewServer(db)
	c := &cloud{t: t, tables: dynamotest.Client(direct.URL)}
	c.service = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch service, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); service {
		case queues:
			queue.ServeHTTP(out, r)
		case vault:
			secret.ServeHTTP(out, r)
		case tables, streams:
			db.ServeHTTP(out, r)
		default:
			objects.ServeHTTP(out, r)
		}
	})
	c.address = "127.0.0.1:0"
	c.listen()
	t.Cleanup(func() {
		queue.Drain()
		c.refuse()
		direct.Close()
		_, _, _ = queue.Close(), db.Close(), objects.Close()
	})
	return c
}

// start starts a platform that uses the cloud.
func (c *cloud) start(env ...string) *platformtest.Platform {
	c.t.Helper()
	return platformtest.Start(c.t, append([]string{"AWS_ENDPOINT_URL=http://" + c.address, "AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local", "LAMBDA_CONCURRENCY=24", "LIMIT_AI_MINUTE=10000", "LIMIT_AI_IN_PROGRESS=100",
		"LIMIT_LOGIN_PAIR=10000", "LIMIT_LOGIN_EMAIL=10000"}, env...)...)
}

// listen accepts connections at the address. The first call chooses a free one.
func (c *cloud) listen() {
	c.t.Helper()
	listener, err := net.Listen("tcp", c.address)
	must(c.t, err)
	c.address = listener.Addr().String()
	server := &http.Server{Handler: c}
	c.mu.Lock()
	c.server = server
	c.mu.Unlock()
	go func() { _ = server.Serve(listener) }()
}

// refuse closes all connections and refuses new ones.
func (c *cloud) refuse() {
	c.mu.Lock()
	server := c.server
	c.server = nil
	c.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
}

// inject injects a fault until [cloud.repair].
func (c *cloud) inject(f fault) {
	c.t.Helper()
	c.mu.Lock()
	c.fault, c.hits = f, 0
	c.mu.Unlock()
	if f.handle == nil && f.name != "" {
		c.refuse()
	}
}

// repair ends the fault, and returns the number of calls with the fault.
func (c *cloud) repair() int {
	c.t.Helper()
	c.mu.Lock()
	hits, refused := c.hits, c.server == nil
	c.fault = fault{}
	c.mu.Unlock()
	if refused {
		c.listen()
	}
	return hits
}

func (c *cloud) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	described := readCall(r, body)
	c.mu.Lock()
	f := c.fault
	affected := f.handle != nil && f.isFor(described)
	if affected {
		c.hits++
	}
	c.mu.Unlock()
	if !affected {
		c.service.ServeHTTP(out, r)
		return
	}
	f.handle(c.service, out, r, described)
}

// isFor reports whether the fault affects a call.
func (f fault) isFor(c call) bool {
	if f.affects == nil {
		return c.service == tables
	}
	return f.affects(c)
}

// readCall returns the description of a request.
func readCall(r *http.Request, body []byte) call {
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	described := call{service: service, operation: operation}
	var in struct {
		TableName     string
		QueueURL      string `json:"QueueUrl"`
		RequestItems  map[string]json.RawMessage
		TransactItems []map[string]struct{ TableName string }
	}
	_ = json.Unmarshal(body, &in) // fails only for calls that name no table
	// The fan-out sends messages of deliveries to the fast lane, and messages with events to the queue of creations.
	described.fansOut = strings.HasPrefix(operation, "SendMessage") &&
		(strings.HasSuffix(in.QueueURL, "-DeliveriesQueue") || bytes.Contains(body, []byte(`\"events\"`)))
	if in.TableName != "" {
		described.tables = append(described.tables, in.TableName)
	}
	for table := range in.RequestItems {
		described.tables = append(described.tables, table)
	}
	for _, item := range in.TransactItems {
		for _, action := range item {
			described.tables = append(described.tables, action.TableName)
		}
	}
	described.actions = len(in.TransactItems)
	return described
}

// must stops the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
