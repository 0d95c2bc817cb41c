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
	"devplatform/infra/local/s3"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/platformtest"
)

// cloud is the AWS of one platform: DynamoDB, its streams, SQS and Secrets Manager behind one address. The test sees the tables past
// whatever it has happen there.
type cloud struct {
	t       testing.TB
	address string
	tables  *sdk.Client // past all trouble
	service http.Handler

	mu      sync.Mutex
	server  *http.Server // nil while connections are refused
	trouble trouble
	hits    int
}

// Services, as the X-Amz-Target of their calls names them.
const (
	tables  = "DynamoDB_20120810"
	streams = "DynamoDBStreams_20120810"
	queues  = "AmazonSQS"
	vault   = "secretsmanager"
)

// call is what a request to AWS asks for.
type call struct {
	service, operation string
	tables             []string // as far as it names them
	actions            int      // of a transaction
	fansOut            bool     // it sends messages of the fan-out
}

// writes reports whether a call is to change a table.
func (c call) writes() bool {
	switch c.operation {
	case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
		return c.service == tables
	}
	return false
}

// trouble is what happens to the calls that it is for. The zero value is none.
type trouble struct {
	name string
	on   func(call) bool // nil: every call to DynamoDB
	// happen answers in place of the service, which is next.
	happen func(next http.Handler, out http.ResponseWriter, r *http.Request, c call)
	// applies says that a call which it happens to may have done its work.
	applies bool
}

func newCloud(t testing.TB) *cloud {
	t.Helper()
	db, err := dynamodb.Open(dynamodb.Options{Now: time.Now})
	must(t, err)
	queue, err := sqs.Open(sqs.Options{Now: time.Now})
	must(t, err)
	secret, err := secrets.Open(secrets.Options{Now: time.Now})
	must(t, err)
	objects, err := s3.Open(s3.Options{Now: time.Now})
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

// start runs a platform on the cloud.
func (c *cloud) start(env ...string) *platformtest.Platform {
	c.t.Helper()
	return platformtest.Start(c.t, append([]string{"AWS_ENDPOINT_URL=http://" + c.address, "AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local", "LAMBDA_CONCURRENCY=24", "LIMIT_AI_MINUTE=10000", "LIMIT_AI_IN_PROGRESS=100",
		"LIMIT_LOGIN_PAIR=10000", "LIMIT_LOGIN_EMAIL=10000"}, env...)...)
}

// listen takes connections at the address, which is a free one the first time.
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

// refuse cuts every connection and takes none from there on.
func (c *cloud) refuse() {
	c.mu.Lock()
	server := c.server
	c.server = nil
	c.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
}

// suffer has trouble happen until [cloud.mend].
func (c *cloud) suffer(tr trouble) {
	c.t.Helper()
	c.mu.Lock()
	c.trouble, c.hits = tr, 0
	c.mu.Unlock()
	if tr.happen == nil && tr.name != "" {
		c.refuse()
	}
}

// mend ends all trouble, and answers how many calls it has happened to.
func (c *cloud) mend() int {
	c.t.Helper()
	c.mu.Lock()
	hits, refused := c.hits, c.server == nil
	c.trouble = trouble{}
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
	asked := readCall(r, body)
	c.mu.Lock()
	tr := c.trouble
	meets := tr.happen != nil && (tr.on == nil && asked.service == tables || tr.on != nil && tr.on(asked))
	if meets {
		c.hits++
	}
	c.mu.Unlock()
	if !meets {
		c.service.ServeHTTP(out, r)
		return
	}
	tr.happen(c.service, out, r, asked)
}

func readCall(r *http.Request, body []byte) call {
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	asked := call{service: service, operation: operation}
	var in struct {
		TableName     string
		QueueURL      string `json:"QueueUrl"`
		RequestItems  map[string]json.RawMessage
		TransactItems []map[string]struct{ TableName string }
	}
	_ = json.Unmarshal(body, &in) // what is not read is no call of a table
	// The fan-out sends messages of deliveries to the fast lane, and messages with events to the queue of creations.
	asked.fansOut = strings.HasPrefix(operation, "SendMessage") &&
		(strings.HasSuffix(in.QueueURL, "-DeliveriesQueue") || bytes.Contains(body, []byte(`\"events\"`)))
	if in.TableName != "" {
		asked.tables = append(asked.tables, in.TableName)
	}
	for table := range in.RequestItems {
		asked.tables = append(asked.tables, table)
	}
	for _, item := range in.TransactItems {
		for _, action := range item {
			asked.tables = append(asked.tables, action.TableName)
		}
	}
	asked.actions = len(in.TransactItems)
	return asked
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
