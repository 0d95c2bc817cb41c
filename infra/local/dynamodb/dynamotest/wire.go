package dynamotest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/inprocess"
)

// Attempts is the maximum number of times that a client of [Wire.Client] sends each request.
const Attempts = retry.DefaultMaxAttempts

// Wire is a proxy in front of a DynamoDB endpoint. It forwards all calls until a test injects a fault.
type Wire struct {
	endpoint string
	mu       sync.Mutex
	on       string // the operation to which fault or before applies
	fault    *Fault
	hits     int
	before   func() // runs before the next call
}

// Fault describes how calls fail.
type Fault struct {
	// Name describes the fault in test messages.
	Name string
	// Calls is the number of calls that fail, including the SDK's retries. 0 means all calls.
	Calls int
	// Executed means that DynamoDB executes the request, and that only its response is replaced.
	Executed bool
	// Reply replaces DynamoDB's response. With [Cut], there is no response.
	Reply http.HandlerFunc
}

// Faults that tests inject.
var (
	ServerError       = Fault{Name: "an error", Reply: Refusal(http.StatusInternalServerError, "InternalServerError", "")}
	Throttled         = Fault{Name: "throttled", Reply: Refusal(http.StatusBadRequest, "ThrottlingException", "")}
	DroppedConnection = Fault{Name: "a dropped connection", Reply: Cut}
	LostReply         = Fault{Name: "a lost reply", Calls: 1, Executed: true, Reply: Cut}
	LostReplies       = Fault{Name: "lost replies", Executed: true, Reply: Cut}
	MissingTable      = Fault{
		Name: "a missing table", Reply: Refusal(http.StatusBadRequest, "ResourceNotFoundException", ""),
	}
	// Conflict is for TransactWriteItems: another transaction changes one of the items at the same time.
	Conflict = Fault{Name: "one conflict", Calls: 1, Reply: Refusal(http.StatusBadRequest, "TransactionCanceledException",
		`,"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"}]`)}
)

// Times returns the fault for the given number of calls.
func (f Fault) Times(calls int) Fault {
	f.Calls = calls
	return f
}

// Refusal returns a handler that responds with an exception of DynamoDB. more contains additional JSON fields, each
// with a leading comma.
func Refusal(status int, exception, more string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/x-amz-json-1.0")
		out.WriteHeader(status)
		_, _ = fmt.Fprintf(out, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"injected"%s}`, exception, more)
	}
}

// Cut closes the connection without a response.
func Cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// Operation returns the operation of a request to DynamoDB, such as TransactWriteItems.
func Operation(r *http.Request) string {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return name
}

// Pass handles a call. next forwards it to DynamoDB. It is for behavior that a [Fault] cannot express.
type Pass func(next http.Handler, out http.ResponseWriter, r *http.Request)

// NewWire starts a Wire in front of an endpoint, until the test ends. Calls without a fault are handled by pass, or
// forwarded if pass is nil.
func NewWire(t testing.TB, endpoint string, pass Pass) *Wire {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = inprocess.Transport
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo) // dropped connections are expected
	if pass == nil {
		pass = http.Handler.ServeHTTP
	}
	w := &Wire{}
	through := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { pass(proxy, out, r) })
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.serve(through, out, r)
	}))
	t.Cleanup(server.Close)
	w.endpoint = server.URL
	return w
}

// Endpoint returns the URL of the Wire.
func (w *Wire) Endpoint() string { return w.endpoint }

// Client returns a DynamoDB client that uses the Wire, with a [Retryer].
func (w *Wire) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	withoutBackoff := func(o *dynamodb.Options) { o.Retryer = Retryer() }
	return Client(w.endpoint, append([]func(*dynamodb.Options){withoutBackoff}, options...)...)
}

// Retryer returns a retryer that makes up to [Attempts] attempts without waiting between them.
func Retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

// Once makes a client send each request only once.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// Break injects a fault into the next calls of an operation. It replaces an earlier fault or function.
func (w *Wire) Break(operation string, f Fault) { w.set(operation, &f, nil) }

// Before runs do once, before the next call of an operation. It replaces an earlier fault or function.
func (w *Wire) Before(operation string, do func()) { w.set(operation, nil, do) }

// Clear removes the fault, so that calls reach DynamoDB again.
func (w *Wire) Clear() { w.set("", nil, nil) }

func (w *Wire) set(operation string, f *Fault, before func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on, w.fault, w.before = operation, f, before
	if f != nil {
		w.hits = 0
	}
}

// Hits returns the number of calls that failed because of the last fault.
func (w *Wire) Hits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits
}

// next returns the fault of the next call and the function to run before it, or nil.
func (w *Wire) next(operation string) (f *Fault, before func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on != operation {
		return nil, nil
	}
	before, w.before = w.before, nil
	if w.fault == nil || (w.fault.Calls > 0 && w.hits == w.fault.Calls) {
		return nil, before
	}
	w.hits++
	return w.fault, before
}

func (w *Wire) serve(next http.Handler, out http.ResponseWriter, r *http.Request) {
	f, before := w.next(Operation(r))
	if before != nil {
		before()
	}
	if f == nil {
		next.ServeHTTP(out, r)
		return
	}
	if f.Executed {
		next.ServeHTTP(httptest.NewRecorder(), r)
	}
	f.Reply(out, r)
}

// Dump reads all items of a table. It can also be called during the cleanup of a test.
func Dump(t testing.TB, client *dynamodb.Client, table string) []map[string]types.AttributeValue {
	t.Helper()
	var items []map[string]types.AttributeValue
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page.Items...)
	}
	return items
}
