package sqs

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/awshttp"
	"devplatform/infra/local/awsjson"
)

// testClock is a clock that tests advance.
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

func openTest(t testing.TB, change func(*Options)) *Store {
	t.Helper()
	options := Options{Now: newTestClock().Now}
	if change != nil {
		change(&options)
	}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := s.Close()
		if options.Folder != nil {
			err = errors.Join(err, options.Folder.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return s
}

// openClock opens a store with a clock that the test advances.
func openClock(t testing.TB) (*Store, *testClock) {
	t.Helper()
	clock := newTestClock()
	return openTest(t, func(o *Options) { o.Now = clock.Now }), clock
}

// clientOf returns an SDK client of a store behind an HTTP server.
func clientOf(t testing.TB, s *Store) *sdk.Client {
	t.Helper()
	return sdkClient(serve(t, s))
}

func serve(t testing.TB, s *Store) (endpoint string) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Drain()
		server.Close()
	})
	return server.URL
}

func sdkClient(endpoint string) *sdk.Client {
	return sdk.New(sdk.Options{
		BaseEndpoint: &endpoint,
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:   awshttp.New(),
		Retryer:      aws.NopRetryer{},
	})
}

// response is a decoded response.
type response struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// failure returns "status type | code | message" of an error response, "" if the request succeeded.
func (r response) failure() string {
	kind, _ := r.body["__type"].(string)
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("%d %s | %s | %s", r.status, kind, r.header.Get("x-amzn-query-error"), r.body["message"])
}

const testAuthorization = "AWS4-HMAC-SHA256 Credential=test/20261120/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=00"

// queueURL returns the URL of a queue in requests that do not use the SDK.
func queueURL(name string) string { return "http://sqs.test/000000000000/" + name }

// call sends a request without the network. "URL(name)" in the body is replaced with the URL of a queue.
func call(t testing.TB, s *Store, operation, body string) response {
	t.Helper()
	for {
		before, rest, ok := strings.Cut(body, "URL(")
		if !ok {
			break
		}
		name, after, _ := strings.Cut(rest, ")")
		body = before + `"QueueUrl":"` + queueURL(name) + `"` + after
	}
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", awsjson.Version10)
	request.Header.Set("X-Amz-Target", targetPrefix+operation)
	request.Header.Set("Authorization", testAuthorization)
	request.Header.Set("X-Amz-Date", "20261120T120000Z")
	return send(t, s, request)
}

func send(t testing.TB, s *Store, request *http.Request) response {
	t.Helper()
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, request)
	result := response{status: recorder.Code, header: recorder.Header(), raw: recorder.Body.String()}
	if strings.HasPrefix(result.raw, "{") {
		if err := json.Unmarshal(recorder.Body.Bytes(), &result.body); err != nil {
			t.Fatalf("%s: %v", result.raw, err)
		}
	}
	return result
}

// must is call for requests that must succeed.
func must(t testing.TB, s *Store, operation, body string) response {
	t.Helper()
	result := call(t, s, operation, body)
	if result.status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", operation, body, result.status, result.raw)
	}
	return result
}

// create creates a queue with the SDK.
func create(t testing.TB, client *sdk.Client, name string, attributes map[string]string) (url string) {
	t.Helper()
	out, err := client.CreateQueue(t.Context(), &sdk.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return *out.QueueUrl
}

func sendText(t testing.TB, client *sdk.Client, url string, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if _, err := client.SendMessage(t.Context(), &sdk.SendMessageInput{QueueUrl: &url, MessageBody: &body}); err != nil {
			t.Fatal(err)
		}
	}
}

// receive receives up to ten messages with all attributes. change may change the request.
func receive(t testing.TB, client *sdk.Client, url string, change func(*sdk.ReceiveMessageInput)) []types.Message {
	t.Helper()
	in := &sdk.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
	if change != nil {
		change(in)
	}
	out, err := client.ReceiveMessage(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out.Messages
}

func bodies(messages []types.Message) string {
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = *m.Body
	}
	return strings.Join(texts, " ")
}

// counts returns "visible in-flight delayed".
func counts(t testing.TB, client *sdk.Client, url string) string {
	t.Helper()
	got := queueAttributes(t, client, url)
	return got["ApproximateNumberOfMessages"] + " " + got["ApproximateNumberOfMessagesNotVisible"] + " " + got["ApproximateNumberOfMessagesDelayed"]
}

func queueAttributes(t testing.TB, client *sdk.Client, url string) map[string]string {
	t.Helper()
	out, err := client.GetQueueAttributes(t.Context(), &sdk.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes
}

func deleteOne(t testing.TB, client *sdk.Client, url string, handle *string) {
	t.Helper()
	if _, err := client.DeleteMessage(t.Context(), &sdk.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: handle}); err != nil {
		t.Fatal(err)
	}
}

func hide(t testing.TB, client *sdk.Client, url string, handle *string, seconds int32) {
	t.Helper()
	_, err := client.ChangeMessageVisibility(t.Context(), &sdk.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: handle, VisibilityTimeout: seconds,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func arnOf(name string) string { return "arn:aws:sqs:us-east-1:000000000000:" + name }

func redriveTo(name string, receives int) string {
	return `{"deadLetterTargetArn":"` + arnOf(name) + `","maxReceiveCount":` + strconv.Itoa(receives) + `}`
}
