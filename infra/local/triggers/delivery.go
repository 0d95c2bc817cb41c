package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/runtime"
)

// payloadRoom is the room for messages and their commas in an invocation.
const payloadRoom = runtime.MaxPayload - len(payloadHead) - len(payloadTail)

// deliver delivers a batch, in several invocations if it is too large for one. Messages that are not done become
// visible when their visibility timeout ends.
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
//   - If the function can't be invoked (for example, it is throttled), the batch is retried while the messages are
//     invisible. After that, they are dropped here: they are still in the queue.
//   - Successful messages are deleted. Failed messages become visible when their visibility timeout ends, which the
//     function may have changed.
//   - The whole batch has failed if the function failed, or returned an item that is not in the batch.
//   - Unless the function returns the failed messages, a failure reduces the number of concurrent batches.
func (m *queueMapping) attempt(q *queue, batch []message) {
	user := batch[0].handle
	defer m.function.forget(user, false)
	for failures := 1; ; failures++ {
		if batch = m.stillHidden(batch); len(batch) == 0 {
			return
		}
		if m.stopped() {
			m.release(q, batch)
			return
		}
		result, err := m.runBatch(batch)
		switch {
		case err == nil:
			m.function.forget(user, true)
			m.settle(q, batch, result)
			return
		case m.working.Err() != nil:
			return // the result is unknown
		case errors.Is(err, runtime.ErrPayloadTooLarge):
			m.logger.Error("a message is too large for an invocation: it stays in the queue",
				"queue", q.arn, "message", batch[0].id, "reason", err)
			return
		}
		m.function.failed(user, err)
		m.slots.shrink()
		pause(m.stopping, m.options.Backoff(failures))
	}
}

// stillHidden returns the messages that no other reader can have received.
func (m *queueMapping) stillHidden(batch []message) []message {
	now := m.options.Now()
	return slices.DeleteFunc(slices.Clone(batch), func(one message) bool { return !now.Before(one.hidden) })
}

// batchResult is the result of an invocation.
type batchResult struct {
	requestID string
	failed    map[int]bool // indexes of the failed messages
	err       error        // all messages have failed
}

// runBatch invokes the function with a batch. An error means that the function did not run.
func (m *queueMapping) runBatch(batch []message) (result batchResult, err error) {
	response, err := m.invoke(len(batch), func(i int) []byte { return batch[i].payload })
	if err != nil {
		return result, err
	}
	defer func() { _ = response.Body.Close() }()
	result.requestID = response.RequestID
	switch {
	case response.FunctionError != nil:
		result.err = response.FunctionError
	case m.spec.ReportBatchItemFailures:
		index := make(map[string]int, len(batch))
		for i, one := range batch {
			index[one.id] = i
		}
		result.failed, result.err = readPartial(response.Payload, index, "message id")
	}
	return result, nil
}

// settle deletes the messages that are done, and logs a failed batch. The function itself logs failed messages.
func (m *queueMapping) settle(q *queue, batch []message, result batchResult) {
	if result.err != nil {
		m.logger.Warn("the batch failed: its messages become visible when their visibility timeout ends",
			"queue", q.arn, "messages", len(batch), "first", batch[0].id, "requestId", result.requestID, "reason", result.err)
		if !m.spec.ReportBatchItemFailures {
			m.slots.shrink()
		}
		return
	}
	var done []message
	for i, one := range batch {
		if !result.failed[i] {
			done = append(done, one)
		}
	}
	m.delete(q, done)
}

// delete deletes messages from the queue.
func (m *queueMapping) delete(q *queue, done []message) {
	for page := range slices.Chunk(done, maxReceive) {
		m.deletePage(q, page)
	}
}

// errNotDeleted means that SQS did not delete all messages of a request.
var errNotDeleted = errors.New("messages were not deleted")

// deletePage deletes messages, and retries until their visibility timeout ends. Then they are delivered again.
func (m *queueMapping) deletePage(q *queue, page []message) {
	ctx, cancel := context.WithTimeout(m.working, max(page[0].hidden.Sub(m.options.Now()), time.Second))
	defer cancel()
	left := page
	_ = m.link.persist(ctx, "delete "+page[0].handle, func(ctx context.Context) (err error) {
		left, err = m.deleteOnce(ctx, q, left)
		return err
	}, noQueue)
	if len(left) > 0 {
		m.logger.Warn("messages that are done were not deleted: they are delivered again",
			"queue", q.arn, "messages", len(left), "first", left[0].id)
	}
}

// deleteOnce returns the messages that must be retried, with an error if there are any.
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
			m.logger.Warn("a message that is done can't be deleted",
				"queue", q.arn, "message", page[i].id, "code", aws.ToString(f.Code))
		default:
			left = append(left, page[i])
		}
	}
	if len(left) > 0 {
		return left, fmt.Errorf("%w: %s", errNotDeleted, aws.ToString(out.Failed[0].Code))
	}
	return nil, nil
}

// release makes messages visible again that no function has received.
func (m *queueMapping) release(q *queue, batch []message) {
	for page := range slices.Chunk(batch, maxReceive) {
		in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q.url}
		for i, one := range page {
			id := strconv.Itoa(i)
			in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{Id: &id, ReceiptHandle: &one.handle})
		}
		if _, err := m.queues.ChangeMessageVisibilityBatch(m.working, in); err != nil {
			m.logger.Warn("messages can't be made visible before their visibility timeout ends",
				"queue", q.arn, "messages", len(batch), "error", err)
			return
		}
	}
}
