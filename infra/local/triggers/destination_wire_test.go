package triggers_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/local/triggers"
)

// services serves DynamoDB and SQS at one address, as the platform does.
func services(t *testing.T, tables, queues string) (endpoint string) {
	t.Helper()
	proxy := func(to string) http.Handler {
		target, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		return httputil.NewSingleHostReverseProxy(target)
	}
	toTables, toQueues := proxy(tables), proxy(queues)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.") {
			toQueues.ServeHTTP(w, r)
			return
		}
		toTables.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestOnFailureQueueOnEngine(t *testing.T) {
	t.Parallel()
	tables, queues := dynamotest.StartServer(t), sqstest.StartServer(t)
	client, sqsClient := dynamotest.Client(tables), sqstest.Client(queues)
	arn := dynamotest.CreateStreamTable(t, client, types.StreamViewTypeKeysOnly, t.Name(), "id")
	put(t, client, "a", "b", "c")
	queue := sqstest.CreateQueue(t, sqsClient, "failures", nil)
	invoked := make(chan struct{}, 100)
	m, err := triggers.Open(triggers.Options{
		Mappings: []resources.EventSourceMapping{{
			Name: "FnEvents", Function: "Fn", Table: t.Name(), BatchSize: 100, ParallelizationFactor: 1,
			MaximumRecordAge: time.Nanosecond, OnFailureQueue: "failures",
		}},
		Invoke: func(context.Context, runtime.Invocation) (*runtime.Response, error) {
			invoked <- struct{}{}
			return &runtime.Response{
				RequestID: "request", Body: io.NopCloser(strings.NewReader("")), FunctionError: &runtime.FunctionError{Type: "errorString", Message: "boom"},
			}, nil
		},
		Endpoint: services(t, tables, queues), Dir: t.TempDir(), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Start()
	defer stop(t, m)
	out, err := sqsClient.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, WaitTimeSeconds: 20})
	if err != nil || len(out.Messages) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	var message struct {
		RequestContext     struct{ Condition, RequestID string }
		DDBStreamBatchInfo struct {
			StreamARN string
			BatchSize int
		}
	}
	if err := json.Unmarshal([]byte(aws.ToString(out.Messages[0].Body)), &message); err != nil {
		t.Fatal(err)
	}
	if message.RequestContext.Condition != "RecordAgeExceeded" ||
		message.DDBStreamBatchInfo.StreamARN != arn || message.DDBStreamBatchInfo.BatchSize != 3 || len(invoked) != 0 {
		t.Errorf("%+v after %d invocations", message, len(invoked))
	}
}
