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
)

// Attempts is how often a client of [Wire.Client] sends a request before it gives up.
const Attempts = retry.DefaultMaxAttempts

// Wire stands in front of a DynamoDB. Calls go through it unharmed, until a test has something happen to them.
type Wire struct {
	endpoint string
	mu       sync.Mutex
	on       string // the operation that a fault or an interruption is for
	fault    *Fault
	hits     int
	between  func()
}

// Fault is what happens to calls.
type Fault struct {
	// Name says it in the messages of tests.
	Name string
	// Calls is how many calls it happens to, the SDK's repetitions counted; 0: to every one.
	Calls int
	// Executed means that DynamoDB executes the request, and that only its response is replaced.
	Executed bool
	// Reply is what comes in place of DynamoDB's reply; [Cut] is none.
	Reply http.HandlerFunc
}

// Faults are the kinds of things that happen on a wire.
var (
	ServerError       = Fault{Name: "an error", Reply: Refusal(http.StatusInternalServerError, "InternalServerError", "")}
	Throttled         = Fault{Name: "throttled", Reply: Refusal(http.StatusBadRequest, "ThrottlingException", "")}
	DroppedConnection = Fault{Name: "a dropped connection", Reply: Cut}
	LostReply         = Fault{Name: "a lost reply", Calls: 1, Executed: true, Reply: Cut}
	LostReplies       = Fault{Name: "lost replies", Executed: true, Reply: Cut}
	MissingTable      = Fault{
		Name: "a missing table", Reply: Refusal(http.StatusBadRequest, "ResourceNotFoundException", ""),
	}
	// Conflict is for TransactWriteItems: another transaction was at one of the items.
	Conflict = Fault{Name: "met once", Calls: 1, Reply: Refusal(http.StatusBadRequest, "TransactionCanceledException",
		`,"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"}]`)}
)

// Times is the fault, for so many calls.
func (f Fault) Times(calls int) Fault {
	f.Calls = calls
	return f
}

// Refusal answers with an exception of DynamoDB. more is further members of its JSON, each behind a comma.
func Refusal(status int, exception, more string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/x-amz-json-1.0")
		out.WriteHeader(status)
		_, _ = fmt.Fprintf(out, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"injected"%s}`, exception, more)
	}
}

// Cut ends the connection without a reply.
func Cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// Operation is what a request to DynamoDB asks for, such as TransactWriteItems.
func Operation(r *http.Request) string {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return name
}

// Pass serves a call on its way to the real DynamoDB, which is next. It is for what a [Fault] cannot say.
type Pass func(next http.Handler, out http.ResponseWriter, r *http.Request)

// NewWire makes a wire to an endpoint that ends with the test. Every call that no fault ends goes through pass, unless it is nil.
func NewWire(t testing.TB, endpoint string, pass Pass) *Wire {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo) // that it was cut off is no news
	if pass == nil {
		pass = http.Handler.ServeHTTP
	}
	w := &Wire{}
	through := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { pass(proxy, out, r) })
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { w.serve(through, out, r) }))
	t.Cleanup(server.Close)
	w.endpoint = server.URL
	return w
}

// Client returns a client of what is behind the wire. It repeats what failed at once, [Attempts] times in all.
func (w *Wire) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	impatient := func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	return Client(w.endpoint, append([]func(*dynamodb.Options){impatient}, options...)...)
}

// Once has a client send every request once.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// Break has a fault happen to the next calls of an operation, in place of what was to happen before.
func (w *Wire) Break(operation string, f Fault) { w.set(operation, &f, nil) }

// Before runs something once, in front of the next call of an operation, in place of what was to happen before.
func (w *Wire) Before(operation string, do func()) { w.set(operation, nil, do) }

// Clear removes the fault, so that calls reach DynamoDB again.
func (w *Wire) Clear() { w.set("", nil, nil) }

func (w *Wire) set(operation string, f *Fault, between func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on, w.fault, w.between = operation, f, between; f != nil {
		w.hits = 0
	}
}

// Hits is how many calls the last fault has happened to.
func (w *Wire) Hits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits
}

// next is what is to happen to a call.
func (w *Wire) next(operation string) (f *Fault, between func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on != operation {
		return nil, nil
	}
	between, w.between = w.between, nil
	if w.fault == nil || (w.fault.Calls > 0 && w.hits == w.fault.Calls) {
		return nil, between
	}
	w.hits++
	return w.fault, between
}

func (w *Wire) serve(next http.Handler, out http.ResponseWriter, r *http.Request) {
	f, between := w.next(Operation(r))
	if between != nil {
		between()
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

// Dump reads a whole table, past every layer of its application. It may be called while the test cleans up.
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
