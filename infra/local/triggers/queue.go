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
	pageOfQueue = 10               // the most messages that one request receives, or deletes
	longPoll    = 20 * time.Second // the longest that a request waits for one
	shortPoll   = time.Second      // the shortest: without any, the queue's own time would count
	maxPollers  = 5
	// lookAgain is how often a queue's visibility timeout is read: somebody may change it.
	lookAgain = time.Minute
	// lastAnswer is how long a request for messages goes on when no new batch may begin: what it has already taken out
	// of the queue would be hidden for nothing otherwise.
	lastAnswer = 100 * time.Millisecond
)

// queueMapping is a mapping of a queue. What it does with messages is what Lambda documents:
// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html.
//
// There is a slot for each batch that may be in flight, and nothing is received without one: under load messages wait in
// the queue, where they gather to full batches, and not in here, where their visibility timeout would run out.
type queueMapping struct {
	mapping
	queues   queueAPI
	link     *link // to the queue
	function *link
	slots    *slots
	pollers  atomic.Int32
	work     sync.WaitGroup // pollers that help, and batches in flight
}

func newQueueMapping(common mapping, c clients) *queueMapping {
	o, spec := common.options, common.spec
	return &queueMapping{
		mapping: common, queues: c.queues, slots: newSlots(spec.MaximumConcurrency, o.Now),
		link: newLink(o, common.logger.With("queue", spec.Queue), "the queue can't be read: trying again until it can", "the queue can be read again"),
		function: newLink(o, common.logger.With("queue", spec.Queue),
			"the function takes no batch: trying again as long as its messages are hidden", "the function takes batches again"),
	}
}

// close does nothing: what is not done is in the queue.
func (m *queueMapping) close() error { return nil }

// queue is what must be known of one to read it.
type queue struct {
	url, arn, region string
	visibility       time.Duration
	seen             time.Time
}

// run reads the queue, whichever has its name.
func (m *queueMapping) run() {
	defer m.work.Wait()
	for known := ""; ; {
		q, err := m.locate()
		if err != nil {
			return
		}
		if known != q.arn {
			known = q.arn
			m.logger.Info("reading the queue", "queue", q.arn)
		}
		m.pollers.Add(1)
		m.poll(q, longPoll)
		if m.stopped() {
			return
		}
	}
}

// locate finds the queue. It waits until there is one.
func (m *queueMapping) locate() (q *queue, err error) {
	err = m.link.persist(m.stopping, "queue", func(ctx context.Context) error {
		found, err := m.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &m.spec.Queue})
		if err != nil {
			return fmt.Errorf("find queue %s: %w", m.spec.Queue, err)
		}
		out, err := m.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl:       found.QueueUrl,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn, types.QueueAttributeNameVisibilityTimeout},
		})
		if err != nil {
			return fmt.Errorf("look at queue %s: %w", m.spec.Queue, err)
		}
		q, err = m.describe(aws.ToString(found.QueueUrl), out.Attributes)
		return err
	}, never)
	return q, err
}

func (m *queueMapping) describe(url string, attributes map[string]string) (*queue, error) {
	arn := attributes[string(types.QueueAttributeNameQueueArn)]
	parts := strings.Split(arn, ":") // arn:aws:sqs:region:account:name
	seconds, err := strconv.Atoi(attributes[string(types.QueueAttributeNameVisibilityTimeout)])
	if len(parts) != 6 || err != nil {
		return nil, fmt.Errorf("queue %s has attributes that can't be understood: %v", m.spec.Queue, attributes)
	}
	return &queue{
		url: url, arn: arn, region: parts[3], seen: m.options.Now(),
		// Messages of a queue that hides none are seen through all the same.
		visibility: max(time.Duration(seconds)*time.Second, time.Second),
	}, nil
}
