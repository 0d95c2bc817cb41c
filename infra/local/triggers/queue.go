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
	maxPollers = 5
	// refreshQueue is the interval at which a queue's visibility timeout is read, because it may change.
	refreshQueue = time.Minute
	// lastResponse is how long a request for messages continues when no new batch may begin: messages that the service has
	// already put into its response would stay invisible otherwise.
	lastResponse = 100 * time.Millisecond
)

// queueMapping is a mapping of a queue: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html.
//
// There is a slot for each batch that may be in flight. Messages are received only with a slot: under load, they wait
// in the queue, where they form full batches, and not in this process, where their visibility timeout would end.
type queueMapping struct {
	mapping
	queues   queueAPI
	link     *link // to the queue
	function *link
	slots    *slots
	pollers  atomic.Int32
	work     sync.WaitGroup // additional pollers, and batches in flight
}

func newQueueMapping(common mapping, c clients) *queueMapping {
	o, spec := common.options, common.spec
	waits := func() bool { return o.Waits(spec.Function) }
	logger := common.logger.With("queue", spec.Queue)
	return &queueMapping{
		mapping: common, queues: c.queues, slots: newSlots(spec.MaximumConcurrency, waits, o.Now),
		link: newLink(o, logger,
			"the queue can't be read: retrying until it can", "the queue can be read again"),
		function: newLink(o, logger,
			"the function can't be invoked: retrying while its messages are invisible", "the function can be invoked again"),
	}
}

// close does nothing: messages that are not done are in the queue.
func (m *queueMapping) close() error { return nil }

// queue describes a queue.
type queue struct {
	url, arn, region string
	visibility       time.Duration
	seen             time.Time
}

// run reads the queue that has the name. Another queue may get the name later.
func (m *queueMapping) run() {
	defer m.work.Wait()
	for known := ""; ; {
		q, err := m.locate()
		if err != nil {
			return
		}
		if known != q.arn {
			known = q.arn
			m.logger.Debug("reading the queue", "queue", q.arn)
		}
		m.pollers.Add(1)
		m.poll(q, longPoll)
		if m.stopped() {
			return
		}
	}
}

// locate returns the queue. It waits until there is one.
func (m *queueMapping) locate() (q *queue, err error) {
	err = m.link.persist(m.stopping, "queue", func(ctx context.Context) error {
		found, err := m.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &m.spec.Queue})
		if err != nil {
			return fmt.Errorf("find queue %s: %w", m.spec.Queue, err)
		}
		out, err := m.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: found.QueueUrl,
			AttributeNames: []types.QueueAttributeName{
				types.QueueAttributeNameQueueArn, types.QueueAttributeNameVisibilityTimeout,
			},
		})
		if err != nil {
			return fmt.Errorf("describe queue %s: %w", m.spec.Queue, err)
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
		return nil, fmt.Errorf("queue %s has invalid attributes: %v", m.spec.Queue, attributes)
	}
	return &queue{
		url: url, arn: arn, region: parts[3], seen: m.options.Now(),
		// With a timeout of 0, messages could not be delivered.
		visibility: max(time.Duration(seconds)*time.Second, time.Second),
	}, nil
}
