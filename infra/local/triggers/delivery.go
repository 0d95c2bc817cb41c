package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/runtime"
)

const (
	// payloadRoom is what messages and their commas can take of an invocation.
	payloadRoom = runtime.MaxPayload - len(payloadHead) - len(payloadTail)
	// deletions is how many requests of one batch are on their way at once.
	deletions = 8
)

// deliver sees a batch through, in as many invocations as its size asks for. What is not done then comes back when its
// visibility timeout ends.
func (m *queueMapping) deliver(q *queue, batch []message) {
	for len(batch) > 0 {
		n, size := 0, 0
		for n < len(batch) && (n == 0 || size+len(batch[n].payload) <= payloadRoom) {
			size += len(batch[n].payload) + 1
			n++
		}
		m.attempt(q, batch[:n])
		batch = batch[n:]
	}
}

// attempt is the failure policy, as documented in
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html:
//
//   - A function that takes no batch (it is throttled, or away) is tried again for as long as the messages are hidden.
//     Then they are dropped, which is no loss: the queue has them, and counts one more receive.
//   - What the function has done is deleted. What failed is left as it is: it becomes visible when its visibility
//     timeout ends, which is the queue's, or what the function has made of it.
//   - The batch failed as a whole where the function did, or named something that was not in it.
//   - Where functions don't name what failed, a failure means fewer batches at once.
func (m *queueMapping) attempt(q *queue, batch []message) {
	user := batch[0].handle
	defer m.function.recovered(user, false)
	for failures := 1; ; failures++ {
		if batch = m.stillHidden(batch); len(batch) == 0 {
			return
		}
		if m.stopped() {
			m.letGo(q, batch)
			return
		}
		response, err := m.invoke(batch)
		switch {
		case err == nil:
			m.function.recovered(user, true)
			m.settle(q, batch, response)
			return
		case m.working.Err() != nil:
			return // nobody knows what becomes of it
		case errors.Is(err, runtime.ErrPayloadTooLarge):
			m.logger.Error("a message is too large for an invocation: it stays in the queue", "queue", q.arn, "message", batch[0].id, "reason", err)
			return
		}
		m.function.failed(user, err)
		m.slots.shrink()
		pause(m.stopping, m.options.Backoff(failures))
	}
}

// stillHidden leaves out what others may have received by now.
func (m *queueMapping) stillHidden(batch []message) []message {
	now := m.options.Now()
	return slices.DeleteFunc(slices.Clone(batch), func(one message) bool { return !now.Before(one.hidden) })
}

// answer is what a function made of a batch.
type answer struct {
	requestID string
	failed    map[int]bool // the messages that it named, by their index
	err       error        // all of them failed
}

// invoke runs the function with a batch. The error is that it did not run.
func (m *queueMapping) invoke(batch []message) (a answer, err error) {
	payload := []byte(payloadHead)
	for i, one := range batch {
		if i > 0 {
			payload = append(payload, ',')
		}
		payload = append(payload, one.payload...)
	}
	payload = append(payload, payloadTail...)
	response, err := m.options.Invoke(m.working, runtime.Invocation{Function: m.spec.Function, Payload: payload})
	if err != nil {
		return a, err
	}
	defer func() { _ = response.Body.Close() }()
	a.requestID = response.RequestID
	switch {
	case response.FunctionError != nil:
		a.err = response.FunctionError
	case m.spec.ReportBatchItemFailures:
		index := make(map[string]int, len(batch))
		for i, one := range batch {
			index[one.id] = i
		}
		a.failed, a.err = readPartial(response.Payload, index, "message id")
	}
	return a, nil
}

// settle deletes what is done, and tells what is not. That a function names messages is its own business, and its log's.
func (m *queueMapping) settle(q *queue, batch []message, a answer) {
	if a.err != nil {
		m.logger.Warn("the batch failed: its messages come back when their visibility timeout ends",
			"queue", q.arn, "messages", len(batch), "first", batch[0].id, "requestId", a.requestID, "reason", a.err)
		if !m.spec.ReportBatchItemFailures {
			m.slots.shrink()
		}
		return
	}
	var done []message
	for i, one := range batch {
		if !a.failed[i] {
			done = append(done, one)
		}
	}
	m.delete(q, done)
}

// delete takes messages out of the queue.
func (m *queueMapping) delete(q *queue, done []message) {
	var requests sync.WaitGroup
	room := make(chan struct{}, deletions)
	for page := range slices.Chunk(done, pageOfQueue) {
		room <- struct{}{}
		requests.Go(func() {
			m.deletePage(q, page)
			<-room
		})
	}
	requests.Wait()
}

// errNotDeleted is that SQS answered, but did not delete all that it was asked to.
var errNotDeleted = errors.New("messages were not deleted")

// deletePage repeats what fails until the messages are anybody's again: they come once more then.
func (m *queueMapping) deletePage(q *queue, page []message) {
	ctx, cancel := context.WithTimeout(m.working, max(page[0].hidden.Sub(m.options.Now()), time.Second))
	defer cancel()
	left := page
	_ = m.link.persist(ctx, "delete "+page[0].handle, func(ctx context.Context) (err error) {
		left, err = m.deleteOnce(ctx, q, left)
		return err
	}, noQueue)
	if len(left) > 0 {
		m.logger.Warn("messages that are done were not deleted: they come again", "queue", q.arn, "messages", len(left), "first", left[0].id)
	}
}

// deleteOnce returns the messages for which it makes sense to ask again, with an error if there are any.
func (m *queueMapping) deleteOnce(ctx context.Context, q *queue, page []message) (left []message, err error) {
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &q.url}
	for i, one := range page {
		id := strconv.Itoa(i)
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: &id, ReceiptHandle: &one.handle})
	}
	out, err := m.queues.DeleteMessageBatch(ctx, in)
	switch {
	case noQueue(err):
		return nil, fmt.Errorf("delete: %w", err)
	case err != nil:
		return page, fmt.Errorf("delete: %w", err)
	}
	for _, f := range out.Failed {
		i, err := strconv.Atoi(aws.ToString(f.Id))
		switch {
		case err != nil || i < 0 || i >= len(page):
		case f.SenderFault:
			m.logger.Warn("a message that is done can't be deleted", "queue", q.arn, "message", page[i].id, "code", aws.ToString(f.Code))
		default:
			left = append(left, page[i])
		}
	}
	if len(left) > 0 {
		return left, fmt.Errorf("%w: %s", errNotDeleted, aws.ToString(out.Failed[0].Code))
	}
	return nil, nil
}

// letGo gives messages back that no function has seen, for whoever reads the queue next. What fails comes back by itself.
func (m *queueMapping) letGo(q *queue, batch []message) {
	for page := range slices.Chunk(batch, pageOfQueue) {
		in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q.url}
		for i, one := range page {
			id := strconv.Itoa(i)
			in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{Id: &id, ReceiptHandle: &one.handle})
		}
		if _, err := m.queues.ChangeMessageVisibilityBatch(m.working, in); err != nil {
			m.logger.Warn("messages can't be given back: they come when their visibility timeout ends", "queue", q.arn, "messages", len(batch), "error", err)
			return
		}
	}
}
