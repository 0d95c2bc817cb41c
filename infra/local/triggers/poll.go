package triggers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// poll receives and delivers batches. The first poller uses long polls, and returns after refreshQueue. Additional
// pollers use short polls, and return when the queue has no more messages than one poller can receive.
func (m *queueMapping) poll(q *queue, wait time.Duration) {
	p := &gathering{queueMapping: m, queue: q}
	defer p.dropped.Wait()
	defer m.pollers.Add(-1)
	for m.options.Now().Sub(q.seen) < refreshQueue && m.slots.acquire(m.stopping) {
		batch, err := p.gather(wait)
		switch {
		case m.stopped():
			m.release(q, batch)
			m.slots.release()
			return
		case len(batch) > 0:
			m.work.Go(func() {
				defer m.slots.release()
				m.deliver(q, batch)
			})
		default:
			m.slots.release()
		}
		switch {
		case err != nil:
			m.logger.Warn("the queue is gone", "queue", q.arn, "error", err)
			pause(m.stopping, m.options.Backoff(1))
			return
		case p.more:
			m.help(q)
		case wait != longPoll:
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

// gathering gathers the batches of a poller.
type gathering struct {
	*queueMapping
	queue   *queue
	more    bool           // the last request has received as many messages as it requested
	dropped sync.WaitGroup // deletions of messages that no filter matches

	batch []message
	index map[string]int // of the batch, by message id
	size  int            // of its payloads, commas included
}

// gather receives a batch: the messages of one request that waits for this time, and of those in the batching window,
// until the batch is full. An error means that the queue no longer exists.
func (p *gathering) gather(wait time.Duration) ([]message, error) {
	p.batch, p.index, p.size = nil, map[string]int{}, 0
	// The window must end well before the visibility timeout of the messages.
	window := min(p.spec.BatchingWindow, (p.queue.visibility / 3).Truncate(time.Second))
	for end := (time.Time{}); ; {
		received, err := p.receive(min(maxReceive, p.spec.BatchSize-len(p.batch)), wait)
		p.take(received)
		if err != nil || len(p.batch) == 0 {
			return p.batch, err
		}
		now := p.options.Now()
		if end.IsZero() {
			end = now.Add(window)
		}
		left := end.Sub(now)
		if len(p.batch) >= p.spec.BatchSize || p.size >= payloadRoom || left <= 0 || p.stopped() {
			return p.batch, nil
		}
		wait = min((left + time.Second - 1).Truncate(time.Second), longPoll) // requests have whole seconds
	}
}

// receive receives at most limit messages. An error means that the queue no longer exists.
func (p *gathering) receive(limit int, wait time.Duration) ([]types.Message, error) {
	p.dropped.Wait()
	ctx, cancel := context.WithCancel(p.working)
	defer cancel()
	defer context.AfterFunc(p.stopping, func() { time.AfterFunc(lastResponse, cancel) })()
	out := &sqs.ReceiveMessageOutput{} // used even if persist returns an error because the platform stops
	var asked time.Time
	err := p.link.persist(p.stopping, fmt.Sprintf("poller %p", p), func(context.Context) error {
		asked = p.options.Now()
		response, err := p.queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl:                    &p.queue.url,
			MaxNumberOfMessages:         int32(limit),
			WaitTimeSeconds:             int32(wait / time.Second),
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
			MessageAttributeNames:       []string{"All"},
		})
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		out = response
		return nil
	}, noQueue)
	if noQueue(err) {
		return nil, err
	}
	p.more = len(out.Messages) == limit
	if len(out.Messages) == 0 && p.options.Now().Sub(asked) < wait/2 { // the service does not support long polls
		pause(p.stopping, p.options.PollInterval)
	}
	return out.Messages, nil
}

func noQueue(err error) bool {
	var gone *types.QueueDoesNotExist
	return errors.As(err, &gone)
}

// take adds the messages that a filter matches to the batch, and deletes the others. A message that was received again
// had become visible in between: it replaces the one received before.
func (p *gathering) take(received []types.Message) {
	hidden := p.options.Now().Add(p.queue.visibility)
	var unwanted []message
	for _, r := range received {
		m := message{id: aws.ToString(r.MessageId), handle: aws.ToString(r.ReceiptHandle), hidden: hidden}
		m.payload = encode(newMessageEvent(r, p.queue))
		if len(p.filters) > 0 && !p.wants(filterable(m.payload, aws.ToString(r.Body))) {
			unwanted = append(unwanted, m)
			continue
		}
		if i, again := p.index[m.id]; again {
			p.size -= len(p.batch[i].payload) + 1
			p.batch[i] = m
		} else {
			p.index[m.id] = len(p.batch)
			p.batch = append(p.batch, m)
		}
		p.size += len(m.payload) + 1
	}
	if len(unwanted) > 0 {
		p.dropped.Go(func() { p.delete(p.queue, unwanted) })
	}
}
