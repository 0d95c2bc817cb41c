package sqstest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/dynamodb/dynamotest"
)

// Attempts is how often a client of [Wire.Client] sends a request before it gives up.
const Attempts = retry.DefaultMaxAttempts

// Wire stands in front of an SQS. Calls go through it unharmed, until a test has
// something happen to them: see [dynamotest.Wire], which this is, with SQS's
// clients and faults. Its operations are SQS's, such as SendMessageBatch.
type Wire struct {
	*dynamotest.Wire
	endpoint string
}

// Fault is what happens to calls.
type Fault = dynamotest.Fault

// Faults are the kinds of things that happen on a wire.
var (
	ServerError  = Fault{Name: "an error", Reply: Refusal(http.StatusInternalServerError, "InternalFailure", "InternalFailure;Receiver")}
	Throttled    = Fault{Name: "throttled", Reply: Refusal(http.StatusForbidden, "RequestThrottled", "RequestThrottled;Sender")}
	MissingQueue = Fault{
		Name: "a missing queue", Reply: Refusal(http.StatusBadRequest, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue;Sender"),
	}
	DroppedConnection = dynamotest.DroppedConnection
	LostReply         = dynamotest.LostReply
	LostReplies       = dynamotest.LostReplies
)

// Refusal answers with an exception of SQS. query is the header that tells its older name and whose fault it is.
func Refusal(status int, exception, query string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/x-amz-json-1.0")
		out.Header().Set("x-amzn-query-error", query)
		out.WriteHeader(status)
		_, _ = fmt.Fprintf(out, `{"__type":"com.amazonaws.sqs#%s","message":"injected"}`, exception)
	}
}

// NewWire makes a wire to an endpoint that ends with the test. Every call that no fault ends goes through pass, unless it is nil.
func NewWire(t testing.TB, endpoint string, pass dynamotest.Pass) *Wire {
	t.Helper()
	w := &Wire{Wire: dynamotest.NewWire(t, endpoint, pass)}
	w.Wire.Client(func(o *dynamodb.Options) { w.endpoint = aws.ToString(o.BaseEndpoint) }) // where it listens
	return w
}

// Endpoint is the URL at which the wire listens. Queue URLs that SQS answers through it have its host.
func (w *Wire) Endpoint() string { return w.endpoint }

// Client returns a client of what is behind the wire. It repeats what failed at once, [Attempts] times in all.
func (w *Wire) Client(options ...func(*sqs.Options)) *sqs.Client {
	impatient := func(o *sqs.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	return Client(w.endpoint, append([]func(*sqs.Options){impatient}, options...)...)
}

// Once has a client send every request once.
func Once(o *sqs.Options) { o.Retryer = aws.NopRetryer{} }
