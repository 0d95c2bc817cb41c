package triggers

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/resources"
)

// fakePause is fake time, in which all retries that are due run.
const fakePause = 10 * time.Second

// newFailingRig is a mapping of a stream whose function always fails. Its record "b" is discarded after the second
// attempt.
func newFailingRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, with(func(s *resources.EventSourceMapping) { s.MaximumRecordAge = time.Minute }), func(r *rig) { r.backoff = 40 * time.Second })
	r.function.handle = func(context.Context, []string) (string, error) { return "", errFunction }
	return r
}

// TestOnFailureQueue compares the message with the one in AWS's documentation.
func TestOnFailureQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newFailingRig(t)
		queue := r.failures
		r.fake.put("a")
		r.Start()
		after(5 * time.Minute)
		queue.mu.Lock()
		defer queue.mu.Unlock()
		equal(t, "messages", queue.sent, []string{`{"requestContext":{"requestId":"request-2",` +
			`"functionArn":"arn:aws:lambda:us-east-1:000000000000:function:Fn","condition":"RecordAgeExceeded","approximateInvokeCount":2},` +
			`"responseContext":{"statusCode":200,"executedVersion":"$LATEST","functionError":"Unhandled"},` +
			`"version":"1.0","timestamp":"2000-01-01T00:02:00Z","DDBStreamBatchInfo":{"shardId":"shard-1","startSequenceNumber":"100",` +
			`"endSequenceNumber":"100","approximateArrivalOfFirstRecord":"2000-01-01T00:00:00Z","approximateArrivalOfLastRecord":"2000-01-01T00:00:00Z",` +
			`"batchSize":1,"streamArn":"` + fakeARN + `"}}`})
		equal(t, "position", r.savedPosition(t), "100")
		equal(t, "log", r.logs.count("ERROR records are discarded"), 1)
	})
}

// While the on-failure queue can't be reached, the position stays before the failed records, also across a restart.
func TestOnFailureQueueOutage(t *testing.T) {
	for name, fault := range map[string]func(op string) error{
		"the endpoint": func(string) error { return &smithy.GenericAPIError{Code: "ServiceUnavailable", Message: "away"} },
		"the queue":    func(string) error { return &types.QueueDoesNotExist{Message: aws.String("no such queue")} },
		"sending": func(op string) error {
			if op == "SendMessage" {
				return &smithy.GenericAPIError{Code: "ServiceUnavailable", Message: "away"}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newFailingRig(t)
				queue := r.failures
				queue.change(func() { queue.fault = fault })
				r.fake.put("a")
				r.Start()
				after(10 * time.Minute)
				equal(t, "log", r.logs.count("WARN the on-failure queue can't be reached"), 1)
				equal(t, "position", r.savedPosition(t), "")
				r.close(t)
				equal(t, "position", r.savedPosition(t), "")

				r.open(t)
				r.Start()
				after(10 * time.Minute)
				queue.change(func() { queue.fault = nil })
				after(10 * time.Minute)
				equal(t, "messages", len(locked(&queue.mu, &queue.sent)), 1)
				equal(t, "position", r.savedPosition(t), "100")
				equal(t, "log", r.logs.count("INFO the on-failure queue can be reached again"), 1)
			})
		})
	}
}

// slowQueue delays SendMessage.
type slowQueue struct {
	*fakeQueue
	took chan error
}

func (s slowQueue) SendMessage(ctx context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	time.Sleep(fakePause)
	s.took <- ctx.Err()
	return s.fakeQueue.SendMessage(ctx, in)
}

// Close waits for a message in flight, which is then not sent again.
func TestOnFailureMessageInFlight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newFailingRig(t)
		queue := r.failures
		slow := slowQueue{queue, make(chan error, 1)}
		r.mappings[0].(*streamMapping).failures.queues = slow
		r.fake.put("a")
		r.Start()
		after(121 * time.Second)
		r.close(t)
		equal(t, "cut", <-slow.took, error(nil))
		equal(t, "messages", len(locked(&queue.mu, &queue.sent)), 1)
		equal(t, "position", r.savedPosition(t), "100")
	})
}
