package sqstest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/dynamodb/dynamotest"
)

// Attempts is the maximum number of times that a client of [Wire.Client] sends each request.
const Attempts = dynamotest.Attempts

// Wire is a proxy in front of an SQS endpoint. It is a [dynamotest.Wire] with the clients, faults and operations of
// SQS, such as SendMessageBatch.
type Wire struct{ *dynamotest.Wire }

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
// forwarded if pass is nil. Queue URLs in responses have the host of the Wire.
func NewWire(t testing.TB, endpoint string, pass dynamotest.Pass) *Wire {
	t.Helper()
	return &Wire{dynamotest.NewWire(t, endpoint, pass)}
}

// Client returns an SQS client that uses the Wire, with a [dynamotest.Retryer].
func (w *Wire) Client(options ...func(*sqs.Options)) *sqs.Client {
	withoutBackoff := func(o *sqs.Options) { o.Retryer = dynamotest.Retryer() }
	return Client(w.Endpoint(), append([]func(*sqs.Options){withoutBackoff}, options...)...)
}

// Once makes a client send each request only once.
func Once(o *sqs.Options) { o.Retryer = aws.NopRetryer{} }
