package triggers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	maxReceive = 10               // the maximum number of messages of one request
	longPoll   = 20 * time.Second // the longest wait of a request
	shortPoll  = time.Second      // the shortest wait: 0 would mean the queue's default
	maxPollers = 5                // of one queue
	// lastResponse is how long a request for messages continues when no new batch may begin: messages that the service has
	// already put into its response would stay invisible otherwise.
	lastResponse = 100 * time.Millisecond
	// waitPause is the time between two checks whether a call still waits for an instance.
	waitPause = 3 * time.Millisecond
)

// queueAPI is the part of the SDK's client that this package uses.
type queueAPI interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	GetQueueAttributes(
		context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options),
	) (*sqs.GetQueueAttributesOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(
		context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options),
	) (*sqs.DeleteMessageBatchOutput, error)
	ChangeMessageVisibilityBatch(
		context.Context, *sqs.ChangeMessageVisibilityBatchInput, ...func(*sqs.Options),
	) (*sqs.ChangeMessageVisibilityBatchOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// queueMapping is a mapping of a queue: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html.
//
// There is a slot for each batch that may be in flight. Messages are received only with a slot: under load, they wait
// in the queue, where they form full batches, and not in this process, where their visibility timeout would end.
type queueMapping struct {
	mapping
	queues  queueAPI
	link    link          // to the queue
	slots   chan struct{} // holds an element for each batch in flight
	pollers atomic.Int32
	work    sync.WaitGroup // additional pollers, and batches in flight
}

func newQueueMapping(m mapping, queues queueAPI) *queueMapping {
	return &queueMapping{
		mapping: m, queues: queues, slots: make(chan struct{}, m.spec.MaximumConcurrency),
		link: link{m.logger.With("queue", m.spec.Queue), m.options.Backoff,
			"the queue can't be read: retrying until it can", "the queue can be read again"},
	}
}

// queue describes a queue.
type queue struct {
	url, arn, region string
	visibility       time.Duration
}

// run reads the queue until no new batch may begin.
func (m *queueMapping) run() {
	defer m.work.Wait()
	if q, err := m.locate(); err == nil {
		m.pollers.Add(1)
		m.poll(q, longPoll)
	}
}

// locate returns the queue. It waits until there is one.
func (m *queueMapping) locate() (q *queue, err error) {
	err = m.link.persist(m.stopping, func(ctx context.Context) error {
		found, err := m.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &m.spec.Queue})
		if err != nil {
			return fmt.Errorf("find queue %s: %w", m.spec.Queue, err)
		}
		const arn, visibility = types.QueueAttributeNameQueueArn, types.QueueAttributeNameVisibilityTimeout
		out, err := m.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: found.QueueUrl, AttributeNames: []types.QueueAttributeName{arn, visibility},
		})
		if err != nil {
			return fmt.Errorf("describe queue %s: %w", m.spec.Queue, err)
		}
		parts := strings.Split(out.Attributes[string(arn)], ":") // arn:aws:sqs:region:account:name
		seconds, err := strconv.Atoi(out.Attributes[string(visibility)])
		if len(parts) != 6 || err != nil {
			return fmt.Errorf("queue %s has invalid attributes: %v", m.spec.Queue, out.Attributes)
		}
		q = &queue{
			url: aws.ToString(found.QueueUrl), arn: out.Attributes[string(arn)], region: parts[3],
			// With a timeout of 0, messages could not be delivered.
			visibility: max(time.Duration(seconds)*time.Second, time.Second),
		}
		return nil
	}, nil)
	return q, err
}

// acquire waits for a slot, and while a call of the function waits for an instance. It returns false if no new batch
// may begin.
func (m *queueMapping) acquire() bool {
	select {
	case m.slots <- struct{}{}:
	case <-m.stopping.Done():
		return false
	}
	for m.options.Waits(m.spec.Function) {
		if !pause(m.stopping, waitPause) {
			<-m.slots
			return false
		}
	}
	return true
}

// poll receives and delivers batches until no new batch may begin. The first poller uses long polls. Additional
// pollers use short polls, and also return when the queue has no more messages than one poller can receive.
func (m *queueMapping) poll(q *queue, wait time.Duration) {
	defer m.pollers.Add(-1)
	for m.acquire() {
		batch := m.receive(q, wait)
		switch {
		case m.isStopped():
			m.release(q, batch)
			<-m.slots
			return
		case len(batch) > 0:
			m.work.Go(func() {
				defer func() { <-m.slots }()
				m.deliver(q, batch)
			})
		default:
			<-m.slots
		}
		if len(batch) == m.spec.BatchSize { // there may be more
			m.help(q)
		} else if wait != longPoll {
			return
		}
	}
}

// help starts an additional poller, unless there are maxPollers.
func (m *queueMapping) help(q *queue) {
	if m.pollers.Add(1) > maxPollers {
		m.pollers.Add(-1)
		return
	}
	m.work.Go(func() { m.poll(q, shortPoll) })
}

// receive receives a batch. It retries until it can, or until no new batch may begin.
func (m *queueMapping) receive(q *queue, wait time.Duration) (batch []message) {
	ctx, cancel := context.WithCancel(m.working)
	defer cancel()
	defer context.AfterFunc(m.stopping, func() { time.AfterFunc(lastResponse, cancel) })()
	out := &sqs.ReceiveMessageOutput{} // used even if persist returns an error because the platform stops
	_ = m.link.persist(m.stopping, func(context.Context) error {
		response, err := m.queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl:                    &q.url,
			MaxNumberOfMessages:         int32(min(m.spec.BatchSize, maxReceive)),
			WaitTimeSeconds:             int32(wait / time.Second),
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		out = response
		return nil
	}, nil)
	hidden := m.options.Now().Add(q.visibility)
	for _, received := range out.Messages {
		batch = append(batch, message{
			id: aws.ToString(received.MessageId), handle: aws.ToString(received.ReceiptHandle), hidden: hidden,
			payload: encode(newMessageEvent(received, q)),
		})
	}
	return batch
}

// messageEvent is the event of a message.
type messageEvent struct {
	ID             string            `json:"messageId"`
	ReceiptHandle  string            `json:"receiptHandle"`
	Body           string            `json:"body"`
	Attributes     map[string]string `json:"attributes"`
	Custom         struct{}          `json:"messageAttributes"` // the local SQS has none
	MD5OfBody      string            `json:"md5OfBody"`
	EventSource    string            `json:"eventSource"`
	EventSourceARN string            `json:"eventSourceARN"`
	Region         string            `json:"awsRegion"`
}

// message is a received message that is not done.
type message struct {
	id, handle string
	payload    []byte    // the event, encoded
	hidden     time.Time // until then, no other reader receives it
}

func newMessageEvent(m types.Message, q *queue) messageEvent {
	return messageEvent{
		ID: aws.ToString(m.MessageId), ReceiptHandle: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body),
		Attributes: m.Attributes, MD5OfBody: aws.ToString(m.MD5OfBody),
		EventSource: "aws:sqs", EventSourceARN: q.arn, Region: q.region,
	}
}
