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

// Attempts is the number of attempts of a client of [Wire.Client] for each request.
const Attempts = retry.DefaultMaxAttempts

// Wire is a proxy in front of an SQS endpoint. It is a [dynamotest.Wire] with the clients, faults and operations of
// SQS, such as SendMessageBatch.
type Wire struct {
	*dynamotest.Wire
	endpoint string
}

// Fault describes how calls fail.
type Fault = dynamotest.Fault

// Faults that tests inject.
var (
	ServerError = Fault{
		Name:  "an error",
		Reply: Refusal(http.StatusInternalServerError, "InternalFailure", "InternalFailure;Receiver"),
	}
	Throttled = Fault{
		Name:  "throttled",
		Reply: Refusal(http.StatusForbidden, "RequestThrottled", "RequestThrottled;Sender"),
	}
	MissingQueue = Fault{
		Name:  "a missing queue",
		Reply: Refusal(http.StatusBadRequest, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue;Sender"),
	}
	DroppedConnection = dynamotest.DroppedConnection
	LostReply         = dynamotest.LostReply
	LostReplies       = dynamotest.LostReplies
)

// Refusal returns a handler that responds with an exception of SQS. query is the value of the header
// x-amzn-query-error: the exception's older name, and Sender or Receiver.
func Refusal(status int, exception, query string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/x-amz-json-1.0")
		out.Header().Set("x-amzn-query-error", query)
		out.WriteHeader(status)
		_, _ = fmt.Fprintf(out, `{"__type":"com.amazonaws.sqs#%s","message":"injected"}`, exception)
	}
}

// NewWire starts a Wire in front of an endpoint, until the test ends. Calls without a fault are handled by pass, or
// forwarded if pass is nil.
func NewWire(t testing.TB, endpoint string, pass dynamotest.Pass) *Wire {
	t.Helper()
	w := &Wire{Wire: dynamotest.NewWire(t, endpoint, pass)}
	w.Wire.Client(func(o *dynamodb.Options) { w.endpoint = aws.ToString(o.BaseEndpoint) }) // where it listens
	return w
}

// Endpoint returns the URL of the Wire. Queue URLs in responses have the same host.
func (w *Wire) Endpoint() string { return w.endpoint }

// Client returns an SQS client that uses the Wire. It makes up to [Attempts] attempts without waiting between them.
func (w *Wire) Client(options ...func(*sqs.Options)) *sqs.Client {
	withoutBackoff := func(o *sqs.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	return Client(w.endpoint, append([]func(*sqs.Options){withoutBackoff}, options...)...)
}

// Once makes a client send each request only once.
func Once(o *sqs.Options) { o.Retryer = aws.NopRetryer{} }
